/** Tests the words for each row of `settle`, and the commands for what a person decides. */
import { expect, test } from "@jest/globals";
import { settleCommand } from "../../provider/advice";
import type { StateResource } from "../state";
import type { Does } from "./decide";
import { choiceOf, describeRow, describeNamed, linesOf, waysOf, type Context } from "./words";
import { held, onlyPending, pending, scope, stack, stateOf, urnOf } from "./testing/states";

const web = urnOf("web");
const item = { id: "i-1", name: "db", status: "ACTIVE" };
const other = { ...item, id: "i-2" };
/** The resource of the state that has the instance. */
const heldBy = (name: string, inStack = stack) => {
  const [holder] = stateOf([held(name, "i-1")], [], inStack).resources.slice(-1);
  if (!holder) throw new Error("the state has no such resource");
  return holder;
};
const inState = onlyPending(stateOf([], [pending("web", {}, "db")]));
const occupant = "i-0";
const put = { kind: "put", item, items: [item], pending: inState, occupant: undefined } as const;
const ask = {
  kind: "ask",
  whom: "a person",
  items: [item],
  why: "the name proves nothing",
  occupant: undefined,
  by: "take",
} as const;
const left = { ...ask, whom: "the next up", why: "a run has ended early", occupant } as const;

const context: Context = {
  state: stateOf([held("db", "i-9")]),
  urns: new Set([web, urnOf("db")]),
  stackOption: stack,
  options: ["--stack", stack],
  deletePolicy: "destroy",
  letRun: [],
};
const rowOf = (does: Does, name: string | undefined = "db") => {
  const isGenerated = false;
  const doubt = { stack, urn: web, name, isGenerated, pending: inState, record: undefined };
  return { creates: [], doubt: { ...doubt, places: [] }, does };
};
const shown = (does: Does, more: Partial<Context> = {}) =>
  describeRow(rowOf(does), { ...context, ...more });
const settling = (...words: string[]) => settleCommand("--yes", "--stack", stack, ...words);
const forget = settling("--forget", "web");
const take = (id: string) => settling("--take", `web=${id}`);
const bring = (id: string) => `pulumi import compute:index:Instance web ${id} --stack ${stack}`;

test.each<[Does, string, string]>([
  [
    { kind: "held", holder: heldBy("db") },
    `${stack} has the instance, as ${urnOf("db")}`,
    "end the doubt: it stays there",
  ],
  [{ kind: "absent" }, "nothing left behind, as two complete listings show", "forget the create"],
  [
    { kind: "gone", because: "forgotten", items: [item, other] },
    'instance i-1, "db", ACTIVE; instance i-2, "db", ACTIVE',
    "forget the create; what it may have left goes on running",
  ],
  [
    { kind: "gone", because: "sandbox", items: [], why: "several may be the resource's" },
    "several may be the resource's",
    "forget the create; what it may have left is in a sandbox, not billed",
  ],
  [put, 'instance i-1, "db", ACTIVE', "put i-1 into the state: `pulumi up` goes on with it"],
])("nobody is asked about %j", (row, found, does) => {
  expect(shown(row)).toMatchObject({ urn: web, name: "db", found, does, ways: [] });
});

test.each<[string, Does, string, [command: string, then: string][]]>([
  [
    "takes an instance of a create that the state has",
    ask,
    'instance i-1, "db", ACTIVE; the name proves nothing',
    [
      [take("i-1"), "`pulumi up` goes on with it"],
      [forget, "i-1 runs on in no state, billed if live"],
    ],
  ],
  [
    "keeps the one that the state has, or takes the other",
    { ...ask, occupant },
    'instance i-1, "db", ACTIVE; the state has i-0 there; the name proves nothing',
    [
      [forget, "i-0 stays; i-1 runs on in no state, billed if live"],
      [take("i-1"), "`pulumi up` goes on with it, then deletes i-0"],
    ],
  ],
  [
    "says which of several it is",
    { ...ask, items: [item, other] },
    'instance i-1, "db", ACTIVE; instance i-2, "db", ACTIVE; the name proves nothing',
    [
      [take("i-1"), "`pulumi up` goes on with it"],
      [take("i-2"), "`pulumi up` goes on with it"],
      [forget, "i-1 and i-2 run on in no state, billed if live"],
    ],
  ],
  [
    "imports an instance for which the state has no place",
    { ...ask, by: "import" },
    'instance i-1, "db", ACTIVE; the name proves nothing',
    [
      [bring("i-1"), "it comes into the state"],
      [forget, "i-1 runs on in no state, billed if live"],
    ],
  ],
  [
    "forgets a create of which nothing is listed",
    { ...ask, items: [], why: "the listing is not complete" },
    "the listing is not complete",
    [[forget, "nothing more is asked about it"]],
  ],
  [
    "ends what is left to `up`",
    left,
    'instance i-1, "db", ACTIVE; the state has i-0 there; a run has ended early',
    [
      [
        forget,
        "i-0 stays; i-1 runs on in no state, billed if live; another is made if the program still asks for it",
      ],
      [take("i-1"), "`pulumi up` goes on with it, then deletes i-0"],
    ],
  ],
])("a person %s", (_, does, found, ways) => {
  const described = ways.map(([command, then]) => ({ command, then }));
  expect(shown(does)).toMatchObject({ found, ways: described });
});

test.each([
  ["destroy", "`pulumi up` goes on with it, then deletes i-0"],
  [
    "fail",
    "`COMPUTE_DELETE_POLICY=retain pulumi up` goes on with it, and drops i-0 from the state, which goes on running",
  ],
] as const)("with the policy %s, each row says what the next run does", (deletePolicy, then) => {
  expect(shown({ ...put, occupant }, { deletePolicy }).does).toContain(then);
  expect(shown(left, { deletePolicy }).does).toContain(`if the program still asks for it, ${then}`);
  expect(shown({ ...ask, occupant }, { deletePolicy }).ways[1]).toMatchObject({ then });
});

const choice = (does: Does) => choiceOf(rowOf(does), context);

test("one command decides all that is clear: what serves stays, and several need a person", () => {
  expect(choice(ask)).toEqual(["--take", "web=i-1"]);
  expect(choice({ ...ask, occupant })).toEqual(["--forget", "web"]);
  expect(choice({ ...ask, items: [] })).toEqual(["--forget", "web"]);
  expect(choice({ ...ask, items: [item, other] })).toBeUndefined();
  expect(choice({ ...ask, by: "import" })).toBeUndefined();
});

test("of each way that is no command of Pulumi, a person is asked in the order of the ways", () => {
  const asked = (does: Does) =>
    waysOf(rowOf(does), context).flatMap(({ asks }) => asks?.text.replace(/\?$/, "") ?? []);
  const take1 = "Is i-1 the instance of web, to take it over";
  expect(asked(ask)).toEqual([take1, "Forget the create of web"]);
  expect(asked({ ...ask, occupant })).toEqual(["Forget the create of web", take1]);
  expect(asked({ ...ask, items: [item, other] })).toHaveLength(3);
  expect(asked({ ...ask, by: "import" })).toEqual(["Forget the create of web"]);
});

test("a secret name is shown neither as the create's nor as the instance's (G8)", () => {
  const row = rowOf(ask);
  expect(describeRow({ ...row, doubt: { ...row.doubt, name: undefined } }, context)).toMatchObject({
    name: "[secret]",
    found: expect.stringMatching(/^instance i-1, ACT/),
  });
});

/** Describes a leftover of `web` in a state with these resources. */
const leftover = (
  resources: object[],
  more: Partial<Context> & { explainer?: StateResource } = {},
) => {
  const { explainer, ...ofContext } = more;
  const { found, does, ways } = describeNamed(
    { item, urn: web, scope, explainer },
    { ...context, stackOption: undefined, state: stateOf(resources), ...ofContext },
  );
  return { found, does, ways: ways.map(({ command }) => command) };
};
const stops = "an `up` that creates web stops for it";

test.each<[string, object[], string[]]>([
  ["lacks", [], [bring("i-1"), "COMPUTE_LEFTOVERS=warn pulumi up"]],
  ["has", [held("web", "i-0")], [forget]],
  [
    "has tainted",
    [held("web", "i-0", { taint: true })],
    ["COMPUTE_DELETE_POLICY=retain COMPUTE_LEFTOVERS=warn pulumi up"],
  ],
])(
  "an instance that no state has is named with what works for a resource that the state %s",
  (_, resources, ways) => {
    expect(leftover(resources)).toEqual({
      found: 'instance i-1, "db", ACTIVE, in no state, and no create in doubt explains it',
      does: `nothing: ${stops} or makes another one, unless it is removed at the service (its portal)`,
      ways,
    });
  },
);

test("what stops an `up` although nothing is in doubt is named with what explains it", () => {
  const other = "organization/proj/other";
  const tainted = [held("web", "i-1", { taint: true })];
  const beside = "COMPUTE_LEFTOVERS=warn pulumi up";
  const does = `nothing: it is not in doubt, but ${stops}`;
  const ofWeb = (resources: object[], explainer: StateResource | undefined) =>
    leftover(resources, explainer && { explainer });
  expect(ofWeb([], heldBy("moved", other))).toEqual({
    found: `instance i-1, "db", ACTIVE; ${other} has it, as ${urnOf("moved")}`,
    does,
    ways: [beside],
  });
  expect(ofWeb(tainted, heldBy("web"))).toEqual({
    found: `instance i-1, "db", ACTIVE; ${stack} has it, as ${web}`,
    does,
    ways: [`COMPUTE_DELETE_POLICY=retain ${beside}`],
  });
  const knower = [held("web", "i-0", { taint: true, outputs: { __known: ["i-1"] } })];
  expect(ofWeb(knower, stateOf(knower).resources.at(-1))).toMatchObject({
    found: 'instance i-1, "db", ACTIVE, let run by web',
    does,
  });
});

test("what a person lets run is said before it is done, and nothing more is asked", () => {
  const letRun = [{ urn: web, id: "i-1" }];
  expect(leftover([held("web", "i-0")], { letRun })).toMatchObject({
    does: "let it run: the state then knows of it",
    ways: [],
  });
});

test.each([
  [["one"], "one"],
  [["one", "two"], "<name>"],
  [[], "<name>"],
])("with the components %j in the state, the printed import names %s", (names, named) => {
  const type = "my:mod:Group$compute:index:Instance";
  const groups = names.map((name) => ({ urn: urnOf(name, "my:mod:Group"), type: "my:mod:Group" }));
  const [way] = describeNamed(
    { item, urn: urnOf("web", type), scope, explainer: undefined },
    { ...context, state: stateOf(groups) },
  ).ways;
  expect(way?.command).toContain(` --parent ${named === "one" ? "" : "'"}${named}=`);
});

test("the printed import names the provider that the program makes, whose tag the instance has", () => {
  const own = urnOf("own", "pulumi:providers:compute");
  const resources = [{ urn: own, type: "pulumi:providers:compute", id: "scope-own" }];
  const [way] = describeNamed(
    { item, urn: web, scope: "scope-own", explainer: undefined },
    { ...context, state: stateOf(resources) },
  ).ways;
  expect(way?.command).toContain(` --provider own=${own} `);
});

test("of a create that was sent elsewhere, nothing is offered that would lose its instance", () => {
  expect(shown({ kind: "elsewhere", why: "it lives at B" })).toMatchObject({
    found: "it lives at B",
    does: expect.stringMatching(/^nothing: run `settle` with the settings/),
    ways: [],
  });
});

test("an instance that is given up beside the one that comes into the state is named", () => {
  expect(shown({ ...put, items: [item, other] })).toMatchObject({
    id: "i-1",
    found: expect.stringContaining("i-2"),
    does: expect.stringContaining("put i-1 into the state"),
  });
});

test("the text has one line for each fact and way, says what is planned, and says once what is the same", () => {
  expect(linesOf([shown(ask)]).slice(-2)).toEqual([
    `         → \`${take("i-1")}\`: \`pulumi up\` goes on with it`,
    `         → \`${forget}\`: i-1 runs on in no state, billed if live`,
  ]);
  expect(linesOf([shown(put)])[2]).toMatch(/^ +plan +put i-1/);
  const gone = shown({ kind: "absent" });
  expect(linesOf([gone, { ...gone, urn: urnOf("db") }])).toEqual([
    web,
    urnOf("db"),
    expect.stringContaining("nothing left behind"),
    expect.stringContaining("forget the create"),
  ]);
});
