/** Tests the words for each row of `settle`, and the commands for what a person decides. */
import { expect, test } from "@jest/globals";
import { settleCommand } from "../../provider/advice";
import type { Row } from "./decide";
import { linesOf, show, showUnreadable } from "./rows";
import { onlyPending, pending, stack, stateOf, urnOf } from "./testing/states";

const web = urnOf("web");
const item = { id: "i-1", name: "db", status: "ACTIVE" };
const other = { ...item, id: "i-2" };
const inState = onlyPending(stateOf([], [pending("web", {}, "db")]));
const put = { kind: "put", item, pending: inState, replaces: undefined, namesakes: [] } as const;
const ask = {
  kind: "ask",
  items: [item],
  why: "the name proves nothing",
  occupant: undefined,
} as const;

const shown = (does: Row["does"], isPending = true) => {
  const doubt = {
    urn: web,
    name: "db",
    isGenerated: false,
    pending: isPending ? [inState] : [],
    record: undefined,
  };
  return show({ doubt, does }, stack, ["--stack", stack]);
};
const settling = (...words: string[]) => settleCommand("--yes", "--stack", stack, ...words);
const forget = settling("--forget", web);
const take = (id: string) => settling("--take", `${web}=${id}`);
const bring = (id: string) => `pulumi import compute:index:Instance web ${id} --stack ${stack}`;

test.each<[Row["does"], string, string]>([
  [
    { kind: "held", holder: { stack, urn: urnOf("db") } },
    `${stack} has the instance, as ${urnOf("db")}`,
    "nothing is in doubt: the create is forgotten",
  ],
  [
    { kind: "absent" },
    "nothing left behind, as two complete listings show",
    "the create is forgotten",
  ],
  [
    { kind: "forget", isSandbox: false },
    "not looked at",
    "the create is forgotten, and what it may have left goes on running",
  ],
  [
    { kind: "forget", isSandbox: true, why: "i-1 has the name" },
    "i-1 has the name",
    "the create is forgotten: what it may have left is in a sandbox, where nothing is billed",
  ],
  [put, 'instance i-1, "db", ACTIVE', "comes into the state; the next `pulumi up` goes on with it"],
  [
    { ...put, replaces: "i-0", namesakes: ["i-2", "i-3"] },
    'instance i-1, "db", ACTIVE; of the same name, in no state: i-2, i-3',
    "comes into the state; the next `pulumi up` goes on with it, then deletes i-0",
  ],
  [{ kind: "running" }, "its run is under way on this machine", "nothing"],
])("nobody is asked about %j", (row, found, does) => {
  expect(shown(row)).toMatchObject({ urn: web, name: "db", found, does, ways: [] });
});

test.each<[what: string, Row["does"], isPending: boolean, string, string, string[]]>([
  [
    "an instance of a create that the state has is taken",
    ask,
    true,
    'instance i-1, "db", ACTIVE; the name proves nothing',
    "nothing: a person takes it, or forgets it",
    [take("i-1"), forget],
  ],
  [
    "it is taken in place of the one in the state",
    { ...ask, occupant: "i-0" },
    true,
    'instance i-1, "db", ACTIVE; the state has i-0 there; the name proves nothing',
    "nothing: a person takes it (the next run then deletes i-0), or forgets it",
    [take("i-1"), forget],
  ],
  [
    "of several, a person says which",
    { ...ask, items: [item, other] },
    true,
    'instance i-1, "db", ACTIVE; instance i-2, "db", ACTIVE; the name proves nothing',
    "nothing: a person takes it, or forgets it",
    [take("ID"), forget],
  ],
  [
    "an instance of a create that only the ledger has is imported",
    ask,
    false,
    'instance i-1, "db", ACTIVE; the name proves nothing',
    "nothing: a person imports it, or forgets it",
    [bring("i-1"), forget],
  ],
  [
    "it is removed if the state has another one",
    { ...ask, occupant: "i-0" },
    false,
    'instance i-1, "db", ACTIVE; the state has i-0 there; the name proves nothing',
    "nothing: a person removes it at the service (its portal), and forgets it",
    [forget],
  ],
  [
    "a create of which nothing is listed is forgotten",
    { ...ask, items: [], why: "the listing is not complete" },
    true,
    "the listing is not complete",
    "nothing: a person forgets it",
    [forget],
  ],
  [
    "an instance without a place in the state is imported",
    { kind: "import", item, why: "the state no longer has its parent" },
    true,
    'instance i-1, "db", ACTIVE; the state no longer has its parent',
    "nothing: import it, or forget it",
    [bring("i-1"), forget],
  ],
])("a person decides: %s", (_, row, isPending, found, does, ways) => {
  expect(shown(row, isPending)).toMatchObject({ found, does, ways });
});

test("a secret name is shown neither as the create's nor as the instance's (G8)", () => {
  const doubt = { urn: web, name: undefined, isGenerated: false, pending: [], record: undefined };
  const row = show({ doubt, does: ask }, stack, []);
  expect(row).toMatchObject({
    name: "[secret]",
    found: expect.stringMatching(/^instance i-1, ACT/),
  });
});

test("a file of the ledger that can't be read is named, and the text has one line for each fact and way", () => {
  const lines = linesOf(showUnreadable({ urn: web, path: "/ledger/web.json" }));
  expect(lines).toEqual([
    web,
    "  found  its file in the ledger can't be read: /ledger/web.json",
    expect.stringContaining("  does   nothing: once nothing else is in doubt, remove that file"),
  ]);
  expect(linesOf(shown(ask)).slice(-2)).toEqual(
    [take("i-1"), forget].map((way) => `         → \`${way}\``),
  );
});
