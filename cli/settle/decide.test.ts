/** Tests what `settle` decides, row by row, on small states: nothing serving is destroyed, and nobody else's is taken (G2). */
import { expect, test } from "@jest/globals";
import type { CreateInDoubt } from "../creates";
import { decideAll, type Evidence, type View } from "./decide";
import { doubtsOf } from "./doubts";
import { held, pending, resource, scope, secret, stack, stateOf, urnOf } from "./testing/states";

const web = urnOf("web");
const name = "web-aaaabbbb";
const origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const itemOf = (id: string) => ({ id, name, status: "ACTIVE" });
const listed = (...ids: string[]): Evidence => ({ kind: "listed", items: ids.map(itemOf) });
const absent: Evidence = { kind: "absent" };
const open: Evidence = { kind: "open", why: "the listing is not complete", isElsewhere: false };

const recordOf = (fields: Partial<CreateInDoubt> = {}): CreateInDoubt => ({
  urn: web,
  scope,
  place: origin,
  name,
  isGenerated: true,
  before: new Set(),
  at: "2026-03-01T00:00:00Z",
  id: undefined,
  flavor: undefined,
  accepted: undefined,
  session: "s1",
  liveness: "dead",
  isHere: true,
  settle: () => true,
  ...fields,
});

interface Case {
  resources?: object[];
  operations?: object[];
  records?: CreateInDoubt[];
  evidence?: Evidence;
  /** The evidence for the creates of these names, if it differs. */
  evidenceOf?: Readonly<Record<string, Evidence>>;
  /** What the service lists besides. */
  others?: { id: string; name: string }[];
  /** Ids that states hold, besides those of `resources`. */
  heldIds?: string[];
  take?: Record<string, string>;
  forget?: string[];
  tokenKind?: string;
}

/** Decides, and returns for each row what is done, and about which instance. */
function decided({
  resources = [],
  operations = [],
  records = [],
  evidence = open,
  ...more
}: Case) {
  const state = stateOf(resources, operations);
  const choices = {
    take: new Map(Object.entries(more.take ?? {})),
    forget: new Set(more.forget ?? []),
  };
  const doubts = doubtsOf(stack, state, records, choices.forget);
  const holders = [
    ...state.resources.map(({ id, urn }) => ({ id, urn })),
    ...(more.heldIds ?? []).map((id) => ({ id, urn: web })),
  ];
  const items = evidence.kind === "listed" ? evidence.items : [];
  const view: View = {
    stack,
    state,
    held: new Map(holders.flatMap(({ id, urn }) => (id ? [[id, { stack, urn }]] : []))),
    evidence: new Map(
      doubts.map((doubt) => [doubt, more.evidenceOf?.[doubt.name ?? ""] ?? evidence]),
    ),
    items: new Map(
      [...items, ...(more.others ?? []), { id: "i-other", name: "other" }].map((item) => [
        item.id,
        item,
      ]),
    ),
    tokenKind: more.tokenKind ?? "live",
    choices,
  };
  return decideAll(doubts, view).map(({ does }) => {
    const { kind } = does;
    if (kind === "put") {
      const beside = does.namesakes.map((id) => `beside ${id}`);
      return [kind, does.item.id, does.replaces, ...beside].filter(Boolean).join(" ");
    }
    const items = kind === "ask" ? does.items : "item" in does ? [does.item] : [];
    return [kind, ...items.map(({ id }) => id)].join(" ");
  });
}

const explicit = { name: "db", isGenerated: false };
const operations = [pending("web")];

test.each<[string, Case, string[]]>([
  ["a state holds the id", { records: [recordOf({ id: "i-1" })], heldIds: ["i-1"] }, ["held"]],
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
    ["put i-1 beside i-2"],
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
  ["the state was saved over", { records: [recordOf()], evidence: listed("i-1") }, ["import i-1"]],
  [
    "its component has left the state",
    {
      operations: [pending("web", { parent: urnOf("x", "my:mod:Group") })],
      evidence: listed("i-1"),
    },
    ["import i-1"],
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
    "a record says that the replacement came later",
    { resources: [held("web", "i-0")], operations, records: [recordOf()], evidence: listed("i-1") },
    ["put i-1 i-0"],
  ],
  [
    "a record says that the create came before the instance in the state",
    {
      resources: [held("web", "i-0")],
      operations,
      records: [recordOf({ at: "2025-12-31T00:00:00Z" })],
      evidence: listed("i-1"),
    },
    ["ask i-1"],
  ],
  [
    "nothing says which came later",
    { resources: [held("web", "i-0")], operations, evidence: listed("i-1") },
    ["ask i-1"],
  ],
  [
    "its run is under way",
    { operations, records: [recordOf({ liveness: "alive" })], evidence: listed("i-1") },
    ["running"],
  ],
  [
    "files can't be locked",
    { operations, records: [recordOf({ liveness: "unknown" })], evidence: absent },
    ["ask"],
  ],
  [
    "two creates left an instance each",
    {
      operations: [
        pending("web"),
        pending("web", { inputs: { name: "web-2", __generated: "web-2" } }),
      ],
      evidence: listed("i-1"),
      evidenceOf: { "web-2": { kind: "listed", items: [{ id: "i-2", name: "web-2" }] } },
    },
    ["ask i-1", "ask i-2"],
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
    { operations: [pending("web", {}, "db")], evidence: listed("i-1"), take: { [web]: "i-1" } },
    ["put i-1"],
  ],
  [
    "takes it in place of another one",
    {
      resources: [held("web", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: { [web]: "i-1" },
    },
    ["put i-1 i-0"],
  ],
  [
    "keeps the one that the state has",
    {
      resources: [held("web", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: { [web]: "i-0" },
    },
    ["held"],
  ],
  [
    "takes that of one of two creates, and the other one is forgotten",
    {
      operations: [
        pending("web"),
        pending("web", { inputs: { name: "web-2", __generated: "web-2" } }),
      ],
      evidence: listed("i-1"),
      evidenceOf: { "web-2": { kind: "listed", items: [{ id: "i-2", name: "web-2" }] } },
      take: { [web]: "i-1" },
    },
    ["put i-1", "forget"],
  ],
  [
    "takes what can be taken, also with --forget",
    { operations, evidence: listed("i-1"), take: { [web]: "i-1" }, forget: [web] },
    ["put i-1"],
  ],
  [
    "forgets a create if --forget was added to the --take that took nothing",
    { operations, evidence: listed("i-1"), take: { [web]: "i-7" }, forget: [web] },
    ["forget"],
  ],
  [
    "takes none that is not listed",
    { operations, evidence: listed("i-1"), take: { [web]: "i-7" } },
    ["ask i-1"],
  ],
  [
    "takes none of another name while one of its name is listed",
    { operations, evidence: listed("i-1"), take: { [web]: "i-other" } },
    ["ask i-1"],
  ],
  [
    "takes one of another name if none of its name is listed, since it was renamed",
    { operations, evidence: absent, take: { [web]: "i-other" } },
    ["put i-other"],
  ],
  [
    "takes none that is another create's",
    {
      operations: [pending("web"), pending("db", {}, "db")],
      evidence: listed("i-1"),
      evidenceOf: { db: absent },
      take: { [urnOf("db")]: "i-1" },
    },
    ["put i-1", "ask"],
  ],
  [
    "takes none that another resource has",
    {
      resources: [held("db", "i-0")],
      operations,
      evidence: listed("i-1"),
      take: { [web]: "i-0" },
    },
    ["ask i-1"],
  ],
  [
    "forgets a create",
    { operations: [pending("web", {}, "db")], evidence: listed("i-1"), forget: [web] },
    ["forget"],
  ],
  [
    "forgets another stack's create",
    { records: [recordOf({ urn: `${web}2`, isHere: false, scope: "x" })], forget: [`${web}2`] },
    ["forget"],
  ],
  [
    "forgets none whose run is under way",
    { records: [recordOf({ liveness: "alive" })], forget: [web] },
    ["running"],
  ],
])("a person %s", (_, given, rows) => {
  expect(decided(given)).toEqual(rows);
});

test("in a sandbox, what a person would have to decide is given up", () => {
  const create = {
    operations: [pending("web", {}, "db")],
    evidence: listed("i-1"),
    tokenKind: "test",
  };
  expect(decided(create)).toEqual(["forget"]);
  // But not a create with a live token, for which this one says nothing.
  expect(decided({ ...create, records: [recordOf(explicit)] })).toEqual(["ask i-1"]);
  // Nor is one whose generated name proves that it is the resource's.
  expect(decided({ ...create, operations })).toEqual(["put i-1"]);
});

test("another provider's create is none of ours", () => {
  const other = { resource: resource("x", { type: "other:index:Thing" }), type: "creating" };
  expect(decided({ operations: [other] })).toEqual([]);
});
