/** Tests what `settle` decides, row by row, on small states: nothing serving is destroyed, and nobody else's is taken (G2). */
import { expect, test } from "@jest/globals";
import type { RecordedCreate } from "../records";
import type { StateResource } from "../state";
import { doubtsOf } from "../view";
import { decideAll, doableOf, type Sighting } from "./decide";
import { held, pending, resource, scope, secret, stack, stateOf, urnOf } from "./testing/states";

const web = urnOf("web");
const name = "web-aaaabbbb";
const origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const itemOf = (id: string) => ({ id, name, status: "ACTIVE" });
const listed = (...ids: string[]): Sighting => ({ kind: "listed", items: ids.map(itemOf) });
const absent: Sighting = { kind: "absent" };
const open: Sighting = { kind: "open", why: "the listing is not complete" };
const elsewhere: Sighting = { kind: "elsewhere", why: "it was made with a test token" };
const unvouched: Sighting = { kind: "unvouched", why: "nothing shows that it is its place" };

const recordOf = (fields: Partial<RecordedCreate> = {}): RecordedCreate => ({
  ...origin,
  urn: web,
  scope,
  name,
  kind: "generated",
  digest: "",
  before: [],
  at: "2026-03-01T00:00:00Z",
  session: "s1",
  liveness: "dead",
  isHere: true,
  settle: () => true,
  ...fields,
});

interface Case {
  resources?: object[];
  operations?: object[];
  records?: RecordedCreate[];
  evidence?: Sighting;
  /** The evidence for the creates of these names, if it differs. */
  evidenceOf?: Readonly<Record<string, Sighting>>;
  /** What the service lists besides. */
  others?: { id: string; name: string }[];
  /** Ids that states hold, besides those of `resources`. */
  heldIds?: string[];
  take?: readonly string[];
  forget?: string[];
  /** All that states hold, instead of these. */
  holders?: StateResource[];
  tokenKind?: string;
}

/** Decides on these. */
function rowsOf({ resources = [], operations = [], records = [], evidence = open, ...more }: Case) {
  const state = stateOf(resources, operations);
  const choices = { take: more.take ?? [], forget: more.forget ?? [] };
  const doubts = doubtsOf([state], records).filter(
    (doubt) => doubt.stack === stack || choices.forget.includes(doubt.urn),
  );
  const { tokenKind = "live" } = more;
  const others = stateOf((more.heldIds ?? []).map((id) => held("web", id))).resources;
  const holders = [...state.resources, ...others].map((one): StateResource => ({
    ...one,
    origin: { ...origin, tokenKind },
  }));
  const sightings = [evidence, ...Object.values(more.evidenceOf ?? {})];
  const items = sightings.flatMap((seen) => (seen.kind === "listed" ? seen.items : []));
  const listedItems = [...items, ...(more.others ?? []), { id: "i-other", name: "other" }];
  const view = {
    state,
    held: Map.groupBy(more.holders ?? holders, ({ id }) => id),
    sightings: new Map(
      doubts.map((doubt) => [doubt, more.evidenceOf?.[doubt.name ?? ""] ?? evidence]),
    ),
    items: new Map(listedItems.map((item) => [item.id, item])),
    origin: { ...origin, tokenKind },
  };
  return decideAll(view, choices);
}

/** The rows that can be carried out. */
const doable = (given: Case) => doableOf(rowsOf(given), []).map(({ does }) => does.kind);

/** Decides, and returns for each row what is done, and about which instance. */
function decided(given: Case): string[] {
  return rowsOf(given).map(({ does }) => {
    if (does.kind === "put")
      return [does.kind, does.item.id, does.occupant].filter(Boolean).join(" ");
    const shown = "items" in does ? does.items.map(({ id }) => id) : [];
    const because = does.kind === "gone" ? does.because : undefined;
    const left = does.kind === "ask" && does.whom === "the next up" && "left";
    const by = does.kind === "ask" && !left && does.by === "import" ? "to import" : undefined;
    return [left || does.kind, because, by, ...shown].filter(Boolean).join(" ");
  });
}

const explicit = { name: "db", kind: "explicit" } as const;
const operations = [pending("web")];
const renamed = pending("web", { aliases: [urnOf("old")] });
/** The killed creates of two runs. */
const twice = [pending("web"), pending("web", { inputs: { name: "web-2", __generated: "web-2" } })];

test.each<[string, Case, string[]]>([
  [
    "creates of two resources are in doubt",
    {
      operations: [pending("web"), pending("db")],
      evidenceOf: {
        "web-aaaabbbb": listed("i-1"),
        "db-aaaabbbb": { kind: "listed", items: [{ id: "i-2", name: "db-aaaabbbb" }] },
      },
    },
    ["put i-1", "put i-2"],
  ],
  ["a state holds the id", { records: [recordOf({ id: "i-1" })], heldIds: ["i-1"] }, ["held"]],
  [
    "a state holds the id, although the settings point elsewhere",
    { records: [recordOf({ id: "i-1" })], heldIds: ["i-1"], evidence: elsewhere },
    ["held"],
  ],
  [
    "another resource has what one create left, and nobody what the other one left",
    {
      operations: twice,
      records: [recordOf({ id: "i-9" })],
      heldIds: ["i-9"],
      evidenceOf: { "web-2": { kind: "listed", items: [{ id: "i-2", name: "web-2" }] } },
    },
    ["put i-2"],
  ],
  [
    "of two creates, one is open",
    { operations: twice, evidence: listed("i-1"), evidenceOf: { "web-2": open } },
    ["ask i-1"],
  ],
  [
    "only what another resource has is listed under the explicit name",
    { operations: [pending("web", {}, "db")], evidence: listed("i-1"), heldIds: ["i-1"] },
    ["absent"],
  ],
  [
    "of two creates with one explicit name, one has an id",
    {
      operations: [pending("web", {}, "db"), pending("db", {}, "db")],
      records: [recordOf({ ...explicit, urn: urnOf("db"), id: "i-1" })],
      others: [{ id: "i-1", name: "db" }],
    },
    ["ask", "ask i-1"],
  ],
  [
    "a later run went on with the create",
    { operations, heldIds: ["i-1"], evidence: listed("i-1") },
    ["held"],
  ],
  ["the generated name is listed", { operations, evidence: listed("i-1") }, ["put i-1"]],
  [
    "the service has added a domain to the generated name",
    {
      operations,
      evidence: { kind: "listed", items: [{ id: "i-1", name: `${name}.example.com` }] },
    },
    ["put i-1"],
  ],
  [
    "the id in the record is listed",
    {
      operations: [pending("web", {}, secret)],
      records: [recordOf({ id: "i-1", name: undefined })],
      evidence: listed("i-1"),
    },
    ["put i-1"],
  ],
  [
    "the generated name is listed under another id than that in the record",
    { operations, records: [recordOf({ id: "i-9" })], evidence: listed("i-1") },
    ["ask i-1"],
  ],
  [
    "the id in the record is listed, and another instance has the explicit name",
    {
      operations: [pending("web", {}, "db")],
      records: [recordOf({ ...explicit, id: "i-1" })],
      evidence: { kind: "listed", items: [{ id: "i-1", name: "db" }] },
      others: [{ id: "i-2", name: "db.example.com" }],
    },
    ["put i-1"],
  ],
  [
    "the record is of another provider resource",
    {
      operations: [pending("web", {}, "db")],
      records: [recordOf({ ...explicit, id: "i-1", scope: "x" })],
      evidence: listed("i-1"),
    },
    ["ask i-1"],
  ],
  [
    "only an explicit name is listed",
    { operations: [pending("web", {}, "db")], evidence: listed("i-1") },
    ["ask i-1"],
  ],
  ["two instances have the name", { operations, evidence: listed("i-1", "i-2") }, ["ask i-1 i-2"]],
  ["nothing is listed", { operations, evidence: absent }, ["absent"]],
  ["nothing is proven", { operations }, ["ask"]],
  [
    "the state was saved over",
    { records: [recordOf()], evidence: listed("i-1") },
    ["ask to import i-1"],
  ],
  [
    "its component has left the state",
    {
      operations: [pending("web", { parent: urnOf("x", "my:mod:Group") })],
      evidence: listed("i-1"),
    },
    ["ask to import i-1"],
  ],
  [
    "the old one was deleted before",
    {
      resources: [held("web", "i-0", { pendingReplacement: true })],
      operations,
      evidence: listed("i-1"),
    },
    ["put i-1"],
  ],
  [
    "the state has an instance there, and no file",
    { resources: [held("web", "i-0")], operations, evidence: listed("i-1") },
    ["ask i-1"],
  ],
  [
    "the state has an instance there, which the killed run was to rename",
    { resources: [held("old", "i-0")], operations: [renamed], evidence: listed("i-1") },
    ["ask i-1"],
  ],
  ["nothing shows the place of a generated name", { operations, evidence: unvouched }, ["left"]],
  [
    "nothing shows the place of a chosen name",
    {
      operations: [pending("web", {}, "db")],
      evidence: unvouched,
      others: [{ id: "i-1", name: "db" }],
    },
    ["ask i-1"],
  ],
  [
    "its name is a secret, and nothing shows its id",
    { operations: [pending("web", {}, secret)], heldIds: ["i-9"], others: [{ id: "i-9", name }] },
    ["ask"],
  ],
  [
    "the stack was renamed after its run was killed",
    {
      operations,
      records: [recordOf({ urn: web.replace("dev", "old"), isHere: false, id: "i-1" })],
      evidence: listed("i-1"),
    },
    ["put i-1"],
  ],
  [
    "files can't be locked",
    { operations, records: [recordOf({ liveness: "unknown" })], evidence: absent },
    ["ask"],
  ],
  [
    "two creates left an instance each",
    {
      operations: twice,
      evidence: listed("i-1"),
      evidenceOf: { "web-2": { kind: "listed", items: [{ id: "i-2", name: "web-2" }] } },
    },
    ["ask i-1 i-2"],
  ],
  [
    "the create of a later run left nothing, which has gone on with the first one",
    {
      operations: [
        pending("web", { inputs: { name: "web-2", __generated: "web-2" } }),
        pending("web"),
      ],
      records: [recordOf({ id: "i-1" })],
      evidence: listed("i-1"),
      evidenceOf: { "web-2": absent },
    },
    ["put i-1"],
  ],
  [
    "one of its creates was sent elsewhere",
    {
      operations: [
        pending("web", { inputs: { name: "web-2", __generated: "web-2" } }),
        pending("web"),
      ],
      records: [recordOf({ tokenKind: "test" })],
      evidence: elsewhere,
      evidenceOf: { "web-2": unvouched },
    },
    ["elsewhere"],
  ],
  [
    "another stack's create",
    {
      records: [recordOf({ urn: urnOf("web").replace("dev", "prod"), scope: "x" })],
      evidence: listed("i-1"),
    },
    [],
  ],
  [
    "another backend's create of the same URN",
    { records: [recordOf({ isHere: false, scope: "x" })], evidence: listed("i-1") },
    [],
  ],
  [
    "this stack's create under its former name",
    { records: [recordOf({ urn: web.replace("dev", "old"), isHere: false })], evidence: absent },
    ["absent"],
  ],
])("%s", (_, given, rows) => {
  expect(decided(given)).toEqual(rows);
});

test.each<[string, Case, string[]]>([
  [
    "takes the instance of an explicit name",
    { operations: [pending("web", {}, "db")], evidence: listed("i-1"), take: [`${web}=i-1`] },
    ["put i-1"],
  ],
  [
    "takes it in place of another one",
    {
      resources: [held("web", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: [`${web}=i-1`],
    },
    ["put i-1 i-0"],
  ],
  [
    "takes it in place of the one that the killed run was to rename",
    {
      resources: [held("old", "i-0")],
      operations: [renamed],
      evidence: listed("i-1"),
      take: [`${web}=i-1`],
    },
    ["put i-1 i-0"],
  ],
  [
    "keeps the one that the state has",
    {
      resources: [held("web", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: [`${web}=i-0`],
    },
    ["held"],
  ],
  [
    "takes that of one of two creates, and the other one is forgotten",
    {
      operations: twice,
      evidence: listed("i-1"),
      evidenceOf: { "web-2": { kind: "listed", items: [{ id: "i-2", name: "web-2" }] } },
      take: [`${web}=i-2`],
    },
    ["put i-2"],
  ],
  [
    "takes what can be taken, also with --forget",
    { operations, evidence: listed("i-1"), take: [`${web}=i-1`], forget: [web] },
    ["put i-1"],
  ],
  [
    "forgets a create if --forget was added to the --take that took nothing",
    { operations, evidence: listed("i-1"), take: [`${web}=i-7`], forget: [web] },
    ["gone forgotten i-1"],
  ],
  [
    "takes none that is not listed",
    { operations, evidence: listed("i-1"), take: [`${web}=i-7`] },
    ["ask i-1"],
  ],
  [
    "takes none of another name while one of its name is listed",
    { operations, evidence: listed("i-1"), take: [`${web}=i-other`] },
    ["ask i-1"],
  ],
  [
    "takes one of another name if none of its name is listed, since it was renamed",
    { operations, evidence: absent, take: [`${web}=i-other`] },
    ["put i-other"],
  ],
  [
    "takes none that is another create's",
    {
      operations: [pending("web"), pending("db", {}, "db")],
      evidence: listed("i-1"),
      evidenceOf: { db: absent },
      take: [`${urnOf("db")}=i-1`],
    },
    ["put i-1", "ask"],
  ],
  [
    "takes none that another resource has",
    {
      resources: [held("db", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: [`${web}=i-0`],
    },
    ["ask i-1"],
  ],
  [
    "takes none that another resource has, even if nothing of its name is listed",
    {
      resources: [held("db", "i-0")],
      operations,
      evidence: absent,
      others: [{ id: "i-0", name: "db" }],
      take: [`${web}=i-0`],
    },
    ["ask"],
  ],
  [
    "takes none that another stack has under the same URN",
    {
      operations,
      evidence: listed("i-1"),
      holders: stateOf([held("web", "i-1")], [], "other/proj/dev").resources.map((one) => ({
        ...one,
        origin: { ...origin, tokenKind: "live" },
      })),
      take: [`${web}=i-1`],
    },
    ["ask"],
  ],
  [
    "forgets a create",
    { operations: [pending("web", {}, "db")], evidence: listed("i-1"), forget: [web] },
    ["gone forgotten i-1"],
  ],
  [
    "forgets another stack's create",
    { records: [recordOf({ urn: `${web}2`, isHere: false, scope: "x" })], forget: [`${web}2`] },
    ["gone forgotten"],
  ],
])("a person %s", (_, given, rows) => {
  expect(decided(given)).toEqual(rows);
});

const replacing = { resources: [held("web", "i-0")], evidence: listed("i-1") };

test.each<[string, Partial<RecordedCreate>, string]>([
  ["which has its id", { id: "i-1" }, "left i-1"],
  ["which has its generated name", {}, "left i-1"],
  ["although the program asks for another one", { digest: "other" }, "left i-1"],
  ["of another provider resource", { scope: "x" }, "ask i-1"],
  ["whose id an engine was given", { id: "i-1", givenBy: "s1" }, "ask i-1"],
  ["with a name that the program chose", { kind: "explicit" }, "ask i-1"],
  ["of another backend", { isHere: false }, "ask i-1"],
  ["of the stack's former name", { urn: web.replace("dev", "old") }, "ask i-1"],
])("beside an instance that the state has, a create is left to `up`: one %s", (_, fields, row) => {
  const rows = decided({ ...replacing, operations, records: [recordOf(fields)] });
  expect(rows[0]).toBe(row);
});

test("a file alone, whose pending create has left the state, is still left to `up`", () => {
  expect(decided({ ...replacing, records: [recordOf()] })).toEqual(["left i-1"]);
  expect(decided({ ...replacing, records: [recordOf(explicit)] })).toEqual(["ask i-1"]);
  // The state has no such provider resource any more.
  expect(decided({ ...replacing, records: [recordOf({ scope: "x" })] })).toEqual(["ask i-1"]);
});

test("what a person takes knows the other candidates, about which its create does not ask any more", () => {
  const create = { operations: [pending("web", {}, "db")], evidence: listed("i-1", "i-2") };
  const [row] = rowsOf({ ...create, take: [`${web}=i-2`] });
  expect(row?.does).toMatchObject({ kind: "put", items: [{ id: "i-2" }, { id: "i-1" }] });
});

test("a state changes only if no create in it needs a person, and what is left to `up` needs none", () => {
  const create = pending("db", {}, "db");
  const both = {
    operations: [...operations, create],
    evidence: listed("i-1"),
    evidenceOf: { db: unvouched, "db-aaaabbbb": unvouched },
  };
  expect(doable(both)).toEqual([]);
  expect(doable({ ...both, forget: [urnOf("db")] })).toEqual(["put", "gone"]);
  expect(doable({ ...both, operations: [...operations, pending("db")] })).toEqual(["put"]);
  // Nor does the next `up` find the instance of a chosen name without a file.
  expect(doable({ ...both, evidenceOf: { db: elsewhere } })).toEqual([]);
  const filed = recordOf({ ...explicit, urn: urnOf("db"), name: "db" });
  expect(doable({ ...both, records: [filed], evidenceOf: { db: elsewhere } })).toEqual(["put"]);
  const generated = { ...both, operations: [...operations, pending("db")] };
  expect(doable({ ...generated, evidenceOf: { "db-aaaabbbb": open } })).toEqual([]);
  // A file alone is nothing that the state could lose.
  const alone = { operations, evidence: listed("i-1"), records: [filed] };
  expect(doable({ ...alone, evidenceOf: { db: open } })).toEqual(["put"]);
  const rows = rowsOf({ ...alone, evidenceOf: { db: absent } });
  expect(doableOf(rows, [], true).map(({ does }) => does.kind)).toEqual(["absent"]);
  // But it stays until the state has what a person lets run.
  expect(doableOf(rows, [{ urn: urnOf("db") }], true)).toEqual([]);
});

test("an instance is known by its place and its id", () => {
  const other = { ...origin, baseUrl: "https://b.example/v2" };
  const [row] = rowsOf({
    operations,
    evidence: listed("i-1"),
    holders: stateOf([held("db", "i-1")]).resources.map((one) => ({ ...one, origin: other })),
  });
  expect(row?.does.kind).toBe("put");
});

test("both a URN and an id may have an equals sign, and one id is taken for one resource", () => {
  const odd = urnOf("db=1");
  const create = {
    operations: [pending("web", {}, "db"), pending("db=1", {}, "db")],
    evidence: listed("i=="),
  };
  expect(decided({ ...create, take: [`${odd}=i==`], forget: [web] })).toEqual([
    "gone forgotten i==",
    "put i==",
  ]);
  expect(decided({ ...create, take: [`${odd}=i==`, `${web}=i==`] })).toEqual([
    "ask i==",
    "ask i==",
  ]);
});

test("in a sandbox, what a person would have to decide is given up", () => {
  const create = {
    operations: [pending("web", {}, "db")],
    evidence: listed("i-1"),
    tokenKind: "test",
  };
  expect(decided(create)).toEqual(["gone sandbox i-1"]);
  // But not a create with a live token, for which this one says nothing.
  const live = { records: [recordOf(explicit)], evidence: elsewhere };
  expect(decided({ ...create, ...live })).toEqual(["elsewhere"]);
  expect(decided({ ...create, evidence: unvouched })).toEqual(["ask"]);
  // Nor is one whose generated name proves that it is the resource's.
  expect(decided({ ...create, operations })).toEqual(["put i-1"]);
});

test("another provider's create is none of ours", () => {
  const other = { resource: resource("x", { type: "other:index:Thing" }), type: "creating" };
  expect(decided({ operations: [other] })).toEqual([]);
});
