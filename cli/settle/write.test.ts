/** Tests the function that changes an exported state. `tests/engine/settle.test.ts` gives the results to the real engine. */
import { expect, test } from "@jest/globals";
import { propertyMap } from "../../provider/pulumi/propertyValue";
import { ledgerRecord } from "../../provider/testing/ledgerRecord";
import { parseState, whyHomeless, type PendingCreate, type StackState } from "../state";
import { doubtsOf } from "../view";
import { putsOf, settleState, unfinishedOutputs, type StatePut } from "./write";
import {
  held,
  onlyPending,
  pending,
  provider,
  resource,
  root,
  secret,
  stateOf,
  urnOf,
} from "./testing/states";

const now = new Date("2026-05-01T00:00:00Z");
const outputs = propertyMap({ status: "PROVISIONING" });

interface Raw {
  deployment: { resources: Record<string, unknown>[]; pending_operations?: unknown };
}

const putting = (pending: PendingCreate, replaces?: string): StatePut => ({
  pending,
  id: "i-new",
  outputs,
  replaces,
});

/** Puts the instance of the only pending create into the state, and returns the resources besides stack and provider. */
function settled(state: StackState, replaces?: string) {
  const text = settleState(state, [putting(onlyPending(state), replaces)], now);
  const { deployment } = JSON.parse(text) as Raw;
  expect(deployment.pending_operations).toBeUndefined();
  return deployment.resources.slice(2);
}

test("an instance comes in right behind what it needs, unfinished, and with its inputs as they are", () => {
  const after = held("after", "i-2");
  const component = { urn: urnOf("group", "my:mod:Group"), type: "my:mod:Group", parent: root };
  const create = pending("web", {
    parent: component.urn,
    propertyDependencies: { vpcId: [urnOf("db")] },
  });
  const state = stateOf([held("db", "i-1"), component, after], [create]);

  const result = settled(state);

  expect(result.map(({ urn }) => urn)).toEqual([
    urnOf("db"),
    component.urn,
    urnOf("web"),
    after.urn,
  ]);
  const at = now.toISOString();
  const made = { id: "i-new", outputs, created: at, modified: at, refreshBeforeUpdate: true };
  expect(result[2]).toEqual({ ...create.resource, ...made, initErrors: [expect.any(String)] });
});

test("several creates come in with one change, and what is dropped is pending no more", () => {
  const state = stateOf(
    [held("db", "i-1")],
    ["a", "b", "c"].map((name) => pending(name)),
  );
  const puts = state.pending
    .map((one, n) => ({ ...putting(one), id: `i-new-${n}` }))
    .filter((_, n) => n !== 1);

  const { deployment } = JSON.parse(settleState(state, puts, now)) as Raw;

  expect(deployment.pending_operations).toBeUndefined();
  const ids = deployment.resources.slice(2).map(({ id }) => id);
  expect(ids.sort()).toEqual(["i-1", "i-new-0", "i-new-2"]);
});

test("a dropped create leaves the rest as it was", () => {
  const db = held("db", "i-1");
  const state = stateOf([db], [pending("web")]);
  const { deployment } = JSON.parse(settleState(state, [], now)) as Raw;
  expect(deployment.resources.slice(2)).toEqual([db]);
});

test("the new instance takes the place of one that was deleted before its replacement", () => {
  const old = held("web", "i-old", { pendingReplacement: true });
  const result = settled(
    stateOf([old, held("db", "i-1", { dependencies: [urnOf("web")] })], [pending("web")]),
  );
  expect(result.map(({ id }) => id)).toEqual(["i-new", "i-1"]);
});

test.each(["web", "old"])("the next up deletes the instance of %s that is replaced", (name) => {
  const renamed = pending("web", { aliases: [urnOf("old")] });
  const result = settled(stateOf([held(name, "i-old")], [renamed]), "i-old");
  expect(result).toMatchObject([{ id: "i-new" }, { id: "i-old", delete: true }]);
  expect(result[0]).not.toHaveProperty("delete");
});

test.each([
  ["its parent", { parent: urnOf("gone", "my:mod:Group") }],
  ["a dependency", { dependencies: [urnOf("gone")] }],
  ["a dependency of a property", { propertyDependencies: { vpcId: [urnOf("gone")] } }],
  ["its provider", { provider: `${provider}::another-id` }],
])("a create that has lost %s is refused", (_, fields) => {
  const state = stateOf([], [pending("web", fields)]);
  expect(whyHomeless(onlyPending(state), state)).toMatch(/the state no longer has urn:/);
});

test("a create is refused if what depends on it stands before what it needs", () => {
  const dependent = held("app", "i-1", { dependencies: [urnOf("web")] });
  const create = pending("web", { dependencies: [urnOf("db")] });
  const state = stateOf([dependent, held("db", "i-2")], [create]);
  expect(whyHomeless(onlyPending(state), state)).toContain(dependent.urn);
});

test("only creates count as pending, of whatever provider", () => {
  const updating = { resource: held("db", "i-1"), type: "updating" };
  const other = { resource: resource("x", { type: "other:index:Thing" }), type: "creating" };
  const state = stateOf([], [updating, other, pending("web")]);
  expect(state.pending.map(({ index, type }) => [index, type])).toEqual([
    [1, "other:index:Thing"],
    [2, "compute:index:Instance"],
  ]);
});

test("a stack that was never updated has nothing pending", () => {
  const text = JSON.stringify({ version: 3, deployment: null });
  const nothing = { resources: [], pending: [] };
  expect(parseState("dev", text)).toEqual({ stack: "dev", text, ...nothing });
});

test("what a person lets run is noted in what the state has, and all else stays as it was", () => {
  const db = held("db", "i-1");
  const outputs = { status: "ACTIVE", userData: secret, createdAt: null, __known: ["i-2"] };
  const old = held("web", "i-3", { delete: true, outputs: {} });
  const web = held("web", "i-4", { outputs });
  const letRun = ["i-2", "i-5"].map((id) => ({ urn: urnOf("web"), id }));
  const text = settleState(stateOf([old, db, web]), [], now, letRun);
  const { deployment } = JSON.parse(text) as Raw;
  expect(deployment.resources.slice(2)).toEqual([
    old,
    db,
    { ...web, outputs: { ...outputs, __known: ["i-2", "i-5"] } },
  ]);
});

const origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };

test.each([
  ["generated", undefined, ["i-0", "i-known", "i-tag", "i-given-up"]],
  // Other stacks may have instances of this name.
  ["explicit", "db", ["i-0", "i-known", "i-given-up"]],
] as const)(
  "an instance of a %s name that comes into the state knows what the state had and knew, and what is given up",
  (kind, name, known) => {
    const entry = held("web", "i-0", { outputs: { __known: ["i-known"] } });
    const state = stateOf([entry], [pending("web", {}, name)]);
    const create = onlyPending(state);
    const record = {
      ...ledgerRecord("web", { ...origin, kind, name: create.name, before: ["i-tag", "i-new"] }),
      at: now.toISOString(),
      liveness: "dead" as const,
      isHere: true,
      settle: () => true,
    };
    const [doubt] = doubtsOf([state], [{ ...record, scope: create.scope }]);
    if (!doubt?.record) throw new Error("the create has no record");
    const items = ["i-new", "i-given-up"].map((id) => ({ id }));
    const [item = { id: "" }] = items;
    const does = { kind: "put", item, items, pending: create, occupant: "i-0" } as const;
    const [put] = putsOf([{ creates: [doubt], doubt, does }], { state, origin }, now);
    expect(put?.outputs["__known"]).toEqual(known);
  },
);

test("the outputs are those of an unfinished create, and a secret stays one", () => {
  const one = onlyPending(stateOf([], [pending("web", {}, secret)]));
  const item = { id: "i-new", name: "by-the-listing", status: "PROVISIONING", networks: [] };
  const at = now.toISOString();
  const made = unfinishedOutputs(one, item, { origin, at, session: "s1" });
  expect(made).toMatchObject({
    name: secret,
    userData: secret,
    flavorId: "small",
    sshKeys: null,
    status: "PROVISIONING",
    __unfinished: true,
    __accepted: at,
    __run: "s1",
    __origin: origin,
  });
});

test("an output that the program makes secret is given to the engine to encrypt, unless it is encrypted already", () => {
  const fields = { additionalSecretOutputs: ["id", "status", "networks", "userData", "unknown"] };
  const one = onlyPending(stateOf([], [pending("web", fields)]));
  const item = { id: "i-new", name: "web", status: "PROVISIONING", networks: [] };
  const made = { origin, at: now.toISOString(), session: "s1" };
  const [[key = ""] = []] = Object.entries(secret);
  const plain = (plaintext: string) => ({ [key]: Object.values(secret)[0], plaintext });
  const result = unfinishedOutputs(one, item, made);
  expect(result).toMatchObject({
    status: plain('"PROVISIONING"'),
    networks: plain("[]"),
    userData: secret,
  });
  expect(result).not.toHaveProperty("unknown");
});
