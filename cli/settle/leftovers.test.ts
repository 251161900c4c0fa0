/** Tests which listed instances are known as those of resources of the stack, by tag and base name, and which are named. */
import { expect, test } from "@jest/globals";
import { generatedName } from "../../provider/instance/naming";
import type { ServiceListing } from "../listings";
import { isInstance } from "../state";
import type { Does, Row } from "./decide";
import { isCreatedNext, leftoversIn, letRunBy, namedOf } from "./leftovers";
import { held, scope, stateOf, urnOf } from "./testing/states";

const nameOf = (logical: string, itsScope = scope, type?: string) =>
  generatedName(urnOf(logical, type), itsScope, new Uint8Array(32));
const found = (name: string, resources: object[] = []) =>
  leftoversIn([{ id: "i-1", name }], stateOf(resources)).map(({ urn }) => urn);

test("an instance of a resource in the state, or of one that has left it, is known by its name", () => {
  expect(found(nameOf("Web_1"), [held("Web_1", "i-0")])).toEqual([urnOf("Web_1")]);
  expect(found(nameOf("web"))).toEqual([urnOf("web")]);
  expect(found(`${nameOf("web")}.example.com`)).toEqual([urnOf("web")]);
  const type = "my:mod:Group$compute:index:Instance";
  const sibling = held("db", "i-0", { urn: urnOf("db", type) });
  expect(found(nameOf("web", scope, type), [sibling])).toEqual([urnOf("web", type)]);
});

test("another stack's, and a name that only looks like a generated one, are not", () => {
  expect(found(nameOf("web", "another-scope"))).toEqual([]);
  expect(found("web-aaaabbbb")).toEqual([]);
  expect(found("web")).toEqual([]);
});

const web = urnOf("web");
const live = { tokenKind: "live", deletePolicy: "fail", leftovers: undefined };
type Named = "" | "by nothing" | "by its own state" | "by another state";

/** Says by what the listed instance i-1 of `web` is explained, if it is named. */
function named(resources: object[], settings: object = live, others: object[] = []): Named {
  const state = stateOf(resources);
  const states = [state, stateOf(others, [], "organization/proj/other")];
  const all = states.flatMap((one) => one.resources.filter(isInstance));
  const origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
  const service = { settings, origin } as unknown as ServiceListing;
  const tagged = leftoversIn([{ id: "i-1", name: nameOf("web") }], state);
  const [one] = namedOf(
    tagged,
    state,
    Map.groupBy(all, ({ id }) => id),
    service,
  );
  if (!one?.explainer) return one ? "by nothing" : "";
  return one.explainer.stack === state.stack ? "by its own state" : "by another state";
}

const other = [held("moved", "i-1")];
const knows = { outputs: { __known: ["i-1"] } };

test.each<[string, object[], object[], Named]>([
  ["of a resource that has left the state", [], [], "by nothing"],
  ["of one that the state has", [held("web", "i-0")], [], "by nothing"],
  ["of one that is tainted", [held("web", "i-0", { taint: true })], [], "by nothing"],
  ["that another state has", [], other, "by another state"],
  ["that its own state has", [held("web", "i-1")], other, ""],
  ["that its own state has under another name", [held("db", "i-1")], [], ""],
  ["that is tainted", [held("web", "i-1", { taint: true })], [], "by its own state"],
  [
    "that waits for its replacement",
    [held("web", "i-1", { pendingReplacement: true })],
    [],
    "by its own state",
  ],
  [
    "that was tainted, and is replaced",
    [held("web", "i-1", { delete: true, taint: true })],
    [],
    "",
  ],
  ["that its resource knows", [held("web", "i-0", knows)], [], ""],
  ["that its resource knows, and another state has", [held("web", "i-0", knows)], other, ""],
  ["that another resource knows", [held("db", "i-0", knows)], [], "by nothing"],
  [
    "that its tainted resource knows",
    [held("web", "i-0", { ...knows, taint: true })],
    [],
    "by its own state",
  ],
])("an instance %s (%j) is named, and explained: %s", (_, resources, others, expected) => {
  expect(named(resources, live, others)).toBe(expected);
});

test.each<[string, object, Named, Named]>([
  ["a live token and the policy fail", live, "by nothing", "by its own state"],
  // A provider that the program makes may have the policy `fail`.
  ["the policy destroy", { ...live, deletePolicy: "destroy" }, "by nothing", ""],
  ["leftovers warn", { ...live, leftovers: "warn" }, "", ""],
  ["a test token", { ...live, tokenKind: "test" }, "", ""],
  [
    "a test token and leftovers fail",
    { ...live, tokenKind: "test", leftovers: "fail" },
    "by nothing",
    "by its own state",
  ],
])(
  "with %s, what nothing explains is named: %j; what only explains a stop: %j",
  (_, settings, unexplained, explaining) => {
    expect(named([], settings)).toBe(unexplained);
    expect(named([held("web", "i-1", { taint: true })], settings)).toBe(explaining);
  },
);

const forgotten = { kind: "gone", because: "forgotten", items: [{ id: "i-2" }] } as const;
const put = { kind: "put" } as Does;
const rowOf = (does: Does, urn = web): Row => {
  const doubt = { urn, stack: undefined, name: undefined, isGenerated: true, pending: undefined };
  return { creates: [], doubt: { ...doubt, record: undefined, places: [] }, does };
};

test.each<[string, object[], Row[], boolean]>([
  ["that the state lacks", [], [], false],
  ["that the state lacks, with a create in doubt", [], [rowOf({ kind: "absent" })], true],
  ["whose instance comes into the state", [], [rowOf(put)], false],
  ["with a create in doubt of another resource", [], [rowOf(forgotten, urnOf("db"))], false],
  ["that the state has", [held("web", "i-0")], [rowOf(forgotten)], false],
  ["that is tainted", [held("web", "i-0", { taint: true })], [], true],
  ["that is tainted, with a put", [held("web", "i-0", { taint: true })], [rowOf(put)], false],
  ["that was deleted first", [held("web", "i-0", { pendingReplacement: true })], [], true],
  ["of which the old one goes", [held("web", "i-0", { delete: true, taint: true })], [], false],
])("the state shows that the next up creates a resource %s: %j", (_, resources, rows, expected) => {
  expect(isCreatedNext(web, stateOf(resources), rows)).toBe(expected);
});

test("what a person gives up is let run beside what the state has, of creates in doubt and of what none explains", () => {
  const state = stateOf([held("web", "i-0")]);
  const leftover = { item: { id: "i-1" }, urn: web, scope, explainer: undefined };
  const rows = [rowOf(forgotten), rowOf(forgotten, urnOf("db"))];
  const letRun = (forget: string[], of = state) => letRunBy(forget, of, rows, [leftover]);
  expect(letRun([web, urnOf("db")])).toEqual([
    { urn: web, id: "i-2" },
    { urn: web, id: "i-1" },
  ]);
  expect(letRun([urnOf("db")])).toEqual([]);
  // There is no place to note it.
  expect(letRun([web], stateOf([]))).toEqual([]);
  // Nobody has given up what only a sandbox does not bill.
  expect(letRunBy([], state, [rowOf({ ...forgotten, because: "sandbox" })], [])).toEqual([]);
});
