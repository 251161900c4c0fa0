/** Tests the table of `probe`, which is a pure function of the facts: each answer of a service has its line and its settings. */
import { describe, expect, test } from "@jest/globals";
import {
  foundOut,
  open,
  type CursorTry,
  type Facts,
  type RefusedAnswer,
  type ListedFact,
} from "./facts";
import { tableOf } from "./table";

const refusal: RefusedAnswer = {
  status: 409,
  code: "name_taken",
  message: "The name is taken.",
  isEnvelope: true,
  isNoCall: false,
  isScopeMissing: false,
  mayHaveActed: false,
};
const none: CursorTry = {
  parameter: "starting_after",
  takes: "id",
  result: "ignored",
  pages: 1,
  isWhole: false,
};
const paging = (parameter: string, takes: CursorTry["takes"] = "id"): CursorTry => ({
  parameter,
  takes,
  result: "pages",
  pages: 2,
  isWhole: true,
});
const quick: ListedFact = {
  listedAt: 100,
  name: "probe-1",
  statuses: [
    { status: "PROVISIONING", at: 100 },
    { status: "ACTIVE", at: 2000 },
  ],
  before: [],
  addressAt: 2000,
};
const accepted = {
  id: "i-1",
  name: "probe-1",
  status: "PROVISIONING",
  createdAt: "2026-01-01T00:00:00Z",
  networks: [{ type: "private", ipv4: "10.0.0.1", mac_address: "52:54:00:00:00:01" }],
};
const madeAs = (sighting: Partial<ListedFact>, answer: Partial<typeof accepted> = {}) =>
  foundOut({
    kind: "made",
    made: {
      id: "i-1",
      sentName: "probe-1",
      postMs: 200,
      accepted: { ...accepted, ...answer },
      sighting: { ...quick, ...sighting },
    },
  } as const);

/** The facts of a service that does nothing unusual. */
const usual: Facts = {
  settings: {
    cursorParameter: undefined,
    destroyPath: undefined,
    deletePolicy: undefined,
    settlingMs: 60_000,
    pollIntervalMs: 3000,
  },
  account: { kind: "id", id: "acct_1" },
  listing: { listed: 20, hasMore: true, refusal: undefined },
  cursor: foundOut({ limit: 1, isPageCut: true, tries: [none] }),
  order: foundOut({ oldestFirst: 5, newestFirst: 0 }),
  create: madeAs({}),
  sameName: foundOut({ kind: "another" }),
  destroy: foundOut([
    {
      path: "/v2/instances/{id}",
      stranger: { kind: "refused", refusal: { ...refusal, status: 404, code: "not_found" } },
      own: { kind: "refused", refusal: { ...refusal, status: 404, code: "not_found" } },
    },
  ]),
  left: ["i-1"],
  steps: [],
};

const rowsOf = (facts: Partial<Facts>) => tableOf({ ...usual, ...facts }, undefined).rows;
const rowOf = (facts: Partial<Facts>, what: string) =>
  rowsOf(facts).find((row) => row.what === what);
const commandsOf = (facts: Partial<Facts>, stack?: string) =>
  tableOf({ ...usual, ...facts }, stack).settings.map(({ command }) => command);

test("a service that does what the document says contradicts nothing, and needs no setting", () => {
  const { rows, settings, open: unanswered } = tableOf(usual, undefined);
  expect(rows.filter(({ contradicts }) => contradicts !== "")).toEqual([]);
  expect({ settings, unanswered }).toEqual({ settings: [], unanswered: [] });
});

describe("what was found", () => {
  test.each<[string, Partial<Facts>, string, RegExp, string?]>([
    ["no account id", { account: { kind: "noId" } }, "account", /^shows no id$/],
    [
      "an account call that refuses",
      { account: { kind: "refused", refusal: { ...refusal, status: 403 } } },
      "account",
      /^refused: 403 name_taken: The name is taken\.$/,
    ],
    [
      "another default",
      { listing: { listed: 25, hasMore: true, refusal: undefined } },
      "default page",
      /^25$/,
      "Limits",
    ],
    [
      "a default that was not reached",
      { listing: { listed: 3, hasMore: false, refusal: undefined } },
      "default page",
      /^not seen, because one page shows all 3/,
    ],
    [
      "refused parameters",
      { listing: { listed: 20, hasMore: true, refusal } },
      "other parameters",
      /^refused: 409/,
    ],
    [
      "a refusal without the envelope",
      {
        listing: {
          listed: 20,
          hasMore: true,
          refusal: { ...refusal, isEnvelope: false },
        },
      },
      "other parameters",
      /^refused/,
      "Error envelope",
    ],
    [
      "a limit that is not kept",
      { cursor: foundOut({ limit: 1, isPageCut: false, tries: [] }) },
      "limit",
      /^not kept/,
      "Limits",
    ],
    [
      "a cursor by number",
      {
        cursor: foundOut({ limit: 1, isPageCut: true, tries: [none, paging("page", "number")] }),
      },
      "cursor",
      /^"page" leads on, by number$/,
    ],
    ["newest first", { order: foundOut({ oldestFirst: 0, newestFirst: 4 }) }, "order", /^newest/],
    ["no order", { order: foundOut({ oldestFirst: 2, newestFirst: 2 }) }, "order", /^changes/],
    [
      "a refused create",
      { create: foundOut({ kind: "refused", refusal }) },
      "create",
      /^refused: 409 name_taken/,
    ],
    [
      "another first status",
      { create: madeAs({}, { status: "ACTIVE" }) },
      "create",
      /, ACTIVE$/,
      "POST /v2/instances, rule 2",
    ],
    [
      "a late listing",
      { create: madeAs({ lackedAt: 1000, listedAt: 1500 }) },
      "listed",
      /^1\.0 s to 1\.5 s after the 202$/,
    ],
    [
      "a listing that loses it again",
      { create: madeAs({ lackedAt: 1500, listedAt: 1000 }) },
      "listed",
      /^comes and goes until 1\.5 s/,
    ],
    [
      "a status between",
      { create: madeAs({ statuses: [{ status: "BOOTING", at: 1000 }] }) },
      "status",
      /^BOOTING 1\.0 s$/,
      "States and transitions",
    ],
    [
      "a late address",
      { create: madeAs({ addressAt: 5000, before: ['"0.0.0.0"'] }) },
      "address",
      /^after 5\.0 s; before that "0\.0\.0\.0"$/,
    ],
    ["no networks", { create: madeAs({}, { networks: [] }) }, "networks", /^none$/, "Network"],
    [
      "another name",
      { create: madeAs({ name: "vm-77" }, { name: "vm-77" }) },
      "name",
      /^probe-1 comes back as vm-77$/,
      "Instance",
    ],
    ["a name twice", { sameName: foundOut({ kind: "refused", refusal }) }, "same name", /^refused/],
    ["the same again", { sameName: foundOut({ kind: "same" }) }, "same name", /first instance$/],
    [
      "no destroy call",
      {},
      "destroy call",
      /^none found\. \/v2\/instances\/\{id\}: 404 not_found$/,
    ],
    [
      "a DELETE that does nothing",
      {
        destroy: foundOut([
          {
            path: "/v2/instances/{id}",
            stranger: { kind: "answered", value: 204 },
            own: { kind: "answered", value: 204 },
          },
        ]),
      },
      "destroy call",
      /: 204, and the instance is not gone$/,
    ],
  ])("%s", (_, facts, what, text, ...[section]) => {
    const row = rowOf(facts, what);
    expect(row?.found).toMatch(text);
    expect(row?.contradicts).toBe(section ?? "");
  });

  test("what no step could find out is named with the reason, and so is a wait that ended early", () => {
    const why = "with a live token, probe only reads";
    const create = madeAs({ why: "i-1 has stayed OFFLINE" });
    expect(tableOf({ ...usual, sameName: open(why), create }, undefined).open).toEqual([
      { what: "same name", why },
      { what: "ready", why: "i-1 has stayed OFFLINE" },
    ]);
  });
});

const { settings } = usual;
const cursor = (...tries: CursorTry[]) => foundOut({ limit: 1, isPageCut: true, tries });

test.each<[string | undefined, CursorTry, RegExp]>([
  [undefined, paging("starting_after"), /^the provider finds it by itself$/],
  ["none", paging("starting_after"), /can name it$/],
  ["next", paging("next"), /names it$/],
  [undefined, none, /^past 100 instances, creates end unfinished/],
  ["none", none, /^past 100 instances, ipv4 may stay empty/],
])("with the cursorParameter %s, the row says what the provider does", (set, tried, text) => {
  const facts = { cursor: cursor(tried), settings: { ...settings, cursorParameter: set } };
  expect(rowOf(facts, "cursor")?.then).toMatch(text);
});

test("a destroyPath that can't be tried leaves the destroy call open, and no row says that a delete destroys nothing", () => {
  const set = { ...settings, destroyPath: "/v2/instances/{id}/destroy" };
  const { rows, open: unanswered } = tableOf({ ...usual, settings: set }, undefined);
  const why = `compute:destroyPath ${set.destroyPath} is not tried, because its last segment is not the id`;
  expect(unanswered).toEqual([{ what: "destroy call", why }]);
  expect(rows.map(({ what }) => what)).not.toContain("destroy call");
  expect(rowOf({}, "destroy call")?.then).toMatch(/^a delete destroys nothing/);
  const tried = { ...settings, destroyPath: "/v2/instances/{id}" };
  expect(rowOf({ settings: tried }, "destroy call")?.then).toBe("");
});

describe("the settings that follow", () => {
  const called = {
    destroy: foundOut([
      {
        path: "/v2/servers/{id}",
        stranger: { kind: "refused", refusal },
        own: { kind: "answered", value: 202 },
        goneAfter: 1000,
      },
    ] as const),
  };

  test.each<[string, Partial<Facts>, string[]]>([
    [
      "a cursor that takes an id, and not the numbers",
      { cursor: cursor(paging("page", "number"), paging("after")) },
      ["pulumi config set compute:cursorParameter after"],
    ],
    ["no cursor for starting_after", { cursor: cursor(paging("starting_after")) }, []],
    [
      "no cursor if the setting names one that pages",
      {
        cursor: cursor(paging("after"), paging("next")),
        settings: { ...settings, cursorParameter: "next" },
      },
      [],
    ],
    [
      "another cursor in place of a wrong setting",
      {
        cursor: cursor({ ...none, parameter: "next" }, paging("after")),
        settings: { ...settings, cursorParameter: "next" },
      },
      ["pulumi config set compute:cursorParameter after"],
    ],
    ["the destroy call", called, ["pulumi config set compute:destroyPath '/v2/servers/{id}'"]],
    [
      "no destroy call if the setting names it",
      { ...called, settings: { ...settings, destroyPath: "/v2/servers/{id}" } },
      [],
    ],
    [
      "a longer settling time for a late listing",
      { create: madeAs({ lackedAt: 20_000, listedAt: 25_000 }) },
      ["pulumi config set compute:settlingSeconds 80"],
    ],
    [
      "a longer settling time for a late address",
      { create: madeAs({ addressAt: 32_000 }) },
      ["pulumi config set compute:settlingSeconds 90"],
    ],
    [
      "a longer settling time for a status between",
      {
        create: madeAs({
          statuses: [
            { status: "PROVISIONING", at: 0 },
            { status: "OFFLINE", at: 1000 },
            { status: "ACTIVE", at: 26_000 },
          ],
          addressAt: 26_000,
        }),
      },
      ["pulumi config set compute:settlingSeconds 80"],
    ],
    ["no shorter settling time", { create: madeAs({ lackedAt: 100, listedAt: 200 }) }, []],
    [
      "the longest settling time at most",
      { create: madeAs({ lackedAt: 1, listedAt: 500_000, addressAt: 500_000 }) },
      [
        "pulumi config set compute:settlingSeconds 600",
        "pulumi config set compute:pollIntervalSeconds 25",
      ],
    ],
    [
      "a longer poll interval for slow instances",
      {
        create: madeAs({
          statuses: [
            { status: "PROVISIONING", at: 0 },
            { status: "ACTIVE", at: 200_000 },
          ],
          addressAt: 200_000,
        }),
      },
      ["pulumi config set compute:pollIntervalSeconds 10"],
    ],
  ])("%s", (_, facts, commands) => expect(commandsOf(facts)).toEqual(commands));

  test("no other deletePolicy if it is destroy", () => {
    const facts = {
      ...usual,
      ...called,
      settings: { ...settings, deletePolicy: "destroy" },
    } as const;
    expect(tableOf(facts, undefined).settings[0]?.why).toMatch(/^from then on, a removal/);
  });

  test("the commands name the stack that was named", () => {
    expect(commandsOf(called, "acme/p/dev")).toEqual([
      "pulumi config set compute:destroyPath '/v2/servers/{id}' --stack acme/p/dev",
    ]);
  });
});
