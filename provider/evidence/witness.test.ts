/** Tests each rule of what listings prove (G3), and that no series of listings proves more than the rules say. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ListItem } from "../api/contract";
import type { Evidence } from "./listing";
import { nextLookAt, see, witnessOf, type Known, type Question, type Verdict } from "./witness";

const pollIntervalMs = 3000;
const question: Question = { subject: { id: "i-1" }, listedBy: 0, pollIntervalMs };
const byName: Question = {
  ...question,
  subject: { name: "web", before: new Set(["i-old"]) },
};

type Seen = string | Partial<ListItem>;
/** A complete listing of these instances, which takes 100 ms. A text is an id. */
function listing(begunAt: number, seen: readonly Seen[] = [], more: Partial<Evidence> = {}) {
  const items = seen.map((item) =>
    typeof item === "string" ? { id: item } : { id: "i-1", ...item },
  );
  return {
    items: new Map(items.map((item) => [item.id, item])),
    complete: true,
    unreadable: 0,
    completeStatuses: new Set<string>(),
    begunAt,
    endedAt: begunAt + 100,
    ...more,
  };
}
/** A listing of nothing that is complete only for these statuses. */
const partial = (begunAt: number, ...statuses: string[]) =>
  listing(begunAt, [], { complete: false, completeStatuses: new Set(statuses) });

const passing = { why: "a page repeated instances of an earlier page", isLasting: false };

/** Returns each verdict of the series: why nothing is proven, or its kind. */
function verdicts(listings: readonly Evidence[], known: Known = {}, asked = question): string[] {
  let witness = witnessOf(asked);
  return listings.map((latest) => {
    const seen = see(witness, latest, known);
    witness = seen.witness;
    return nameOf(seen.verdict);
  });
}
const nameOf = (verdict: Verdict) => (verdict.kind === "open" ? verdict.why : verdict.kind);

test.each<[rule: string, listings: Evidence[], expected: string[], known?: Known]>([
  ["two listings that lack it prove absence", [listing(0), listing(3100)], ["once", "absent"]],
  [
    "the second begins a poll interval after the first has ended",
    [listing(0), listing(3099), listing(3100)],
    ["once", "once", "absent"],
  ],
  [
    "they have an id in common; else the newer one is the new first",
    [listing(0, ["i-2"]), listing(4000, ["i-3"]), listing(8000, ["i-3"])],
    ["once", "once", "absent"],
  ],
  [
    "ids that change twice in a row are not reliable",
    [listing(0, ["i-2"]), listing(4000, ["i-3"]), listing(8000, ["i-4"]), listing(12_000, ["i-4"])],
    ["once", "once", "unstable", "absent"],
  ],
  [
    "an empty listing and one that is not empty contradict each other",
    [listing(0, ["i-2"]), listing(4000), listing(8000)],
    ["once", "once", "absent"],
  ],
  [
    "a listing that shows it begins the series anew",
    [listing(0), listing(4000, ["i-1"]), listing(8000), listing(12_000)],
    ["once", "listed", "once", "absent"],
  ],
  [
    "a listing that is not complete begins the series anew",
    [listing(0), partial(4000), listing(8000), listing(12_000)],
    ["once", "incomplete", "once", "absent"],
  ],
  [
    "the second is of the subject's tenant, which a voucher shows",
    [listing(0, ["i-2"]), listing(4000, ["i-2"])],
    ["once", "absent"],
    { vouchers: new Set(["i-2"]) },
  ],
  [
    "without a voucher, the listings may be another tenant's",
    [listing(0), listing(4000), listing(8000)],
    ["once", "tenant", "tenant"],
    { vouchers: new Set(["i-2"]) },
  ],
  [
    "a voucher counts at the second listing only",
    [listing(0, ["i-2", "i-3"]), listing(4000, ["i-3"])],
    ["once", "tenant"],
    { vouchers: new Set(["i-2"]) },
  ],
  [
    "a listing of the series that shows it proves the tenant, too",
    [listing(0, ["i-1"]), listing(4000), listing(8000)],
    ["listed", "once", "absent"],
    { vouchers: new Set() },
  ],
  [
    "two listings of all of PROVISIONING lack it, and a later status is cut off",
    [partial(0, "PROVISIONING"), partial(3000, "PROVISIONING"), partial(3100, "PROVISIONING")],
    ["incomplete", "incomplete", "cutOff"],
  ],
  [
    "a complete listing begins that series anew",
    [
      ...[partial(0, "PROVISIONING"), listing(4000), partial(8000, "PROVISIONING")],
      ...[partial(12_000, "PROVISIONING")],
    ],
    ["incomplete", "once", "incomplete", "cutOff"],
  ],
  [
    "one listing of all of PROVISIONING lacks what an earlier listing has shown, and a later status is cut off",
    [listing(0, ["i-1"]), partial(500, "PROVISIONING")],
    ["listed", "cutOff"],
  ],
  [
    "one is not enough if the pages of a cursor may show it next",
    [listing(0, ["i-1"]), { ...partial(500, "PROVISIONING"), cursorProblem: passing }],
    ["listed", "incomplete"],
  ],
  [
    "a list of PROVISIONING that is cut off proves nothing",
    [partial(0, "ACTIVE"), partial(4000, "ACTIVE"), partial(8000)],
    ["incomplete", "incomplete", "incomplete"],
  ],
  [
    "nothing is cut off if each status is listed to its end",
    [0, 4000, 8000].map((at) => partial(at, "PROVISIONING", "ACTIVE", "OFFLINE")),
    ["incomplete", "incomplete", "incomplete"],
  ],
])("%s", (...[_rule, listings, expected, known]) => {
  expect(verdicts(listings, known)).toEqual(expected);
});

test("before the settling time is over, a listing without the subject proves nothing, complete or not", () => {
  const late = { ...question, listedBy: 60_000 };
  const listings = [listing(0), partial(30_000, "PROVISIONING"), listing(59_999)];
  expect(verdicts([...listings, listing(60_000), listing(64_000)], {}, late)).toEqual([
    ...["early", "early", "early", "once", "absent"],
  ]);
});

test("the second listing comes later if the first shows none of ours, and a foreign instance makes no difference", () => {
  const patient = { ...question, noneOfOursMs: 60_000 };
  const ours = new Set(["i-1", "i-2"]);
  const ask = (...listings: Evidence[]) => verdicts(listings, { ours }, patient);
  expect(ask(listing(0, ["i-2"]), listing(3100, ["i-2"]))).toEqual(["once", "absent"]);
  for (const shown of [[], ["i-foreign"]]) {
    const listings = [0, 60_099, 60_100].map((at) => listing(at, shown));
    expect(ask(...listings)).toEqual(["once", "once", "absent"]);
  }
});

test("by name, what was there before and what is explained does not count, and the case of letters neither", () => {
  const items = [
    { id: "i-old", name: "web" },
    { id: "i-2", name: "web.example.com" },
    { name: "WEB" },
    "i-nameless",
  ];
  const shown = (known?: Known, asked = byName) =>
    see(witnessOf(asked), listing(0, items), known).verdict;
  const ids = (verdict: Verdict) =>
    verdict.kind === "listed" ? verdict.items.map(({ id }) => id) : [];
  expect(ids(shown())).toEqual(["i-2", "i-1"]);
  expect(ids(shown({ explained: new Set(["i-2"]) }))).toEqual(["i-1"]);
  expect(shown({ explained: new Set(["i-1", "i-2"]) })).toMatchObject({ why: "once" });
  // The id that the POST was answered with.
  const withId = {
    ...byName,
    subject: { name: "db", before: new Set<string>(), id: "i-nameless" },
  };
  expect(ids(shown({}, withId))).toEqual(["i-nameless"]);
});

test("the next look comes as soon as it may prove more, and after a poll interval at the latest", () => {
  const after = (listedBy: number, ...begun: number[]) => {
    const asked = { ...question, listedBy };
    const seen = (witness = witnessOf(asked), at = 0) => see(witness, listing(at)).witness;
    return nextLookAt(begun.reduce(seen, witnessOf(asked)), (begun.at(-1) ?? 0) + 100);
  };
  expect(after(60_000, 0)).toBe(3100);
  expect(after(1000, 0)).toBe(1000);
  // The second listing came too soon.
  expect(after(0, 0, 2000)).toBe(3100);
});

const anyListing = fc.record({
  pauseMs: fc.integer({ min: 1, max: 6000 }),
  ids: fc.subarray(["i-1", "i-2", "i-3"]),
  complete: fc.boolean(),
  completeStatuses: fc
    .subarray(["PROVISIONING", "ACTIVE", "OFFLINE"])
    .map((statuses) => new Set(statuses)),
});

test("in any series, absence is proven exactly by two listings in a row that keep every rule", () => {
  const series = fc.array(anyListing, { minLength: 1, maxLength: 12 });
  const anyKnown = fc.option(fc.subarray(["i-2", "i-3"]), { nil: undefined });
  const property = fc.property(
    series,
    anyKnown,
    fc.integer({ min: 0, max: 9000 }),
    (shapes, ids, listedBy) => {
      let at = 0;
      const listings = shapes.map(({ pauseMs, ids: shown, ...more }) => {
        at += pauseMs;
        const made = listing(at, shown, more);
        at += 100;
        return made;
      });
      const vouchers = ids && new Set(ids);
      const found = verdicts(listings, { vouchers }, { ...question, listedBy });
      found.forEach((verdict, index) => {
        const isProven = isAbsent(listings.slice(0, index + 1), listedBy, vouchers);
        expect(verdict === "absent").toBe(isProven);
      });
    },
  );
  fc.assert(property, { seed: 28, numRuns: 2000 });
});

/** The rules in another form: from the last listing back. */
function isAbsent(
  listings: readonly Evidence[],
  listedBy: number,
  vouchers: ReadonlySet<string> | undefined,
): boolean {
  const shows = (evidence: Evidence) => evidence.items.has("i-1");
  const last = listings.at(-1);
  const isUsable = (evidence: Evidence) =>
    evidence.begunAt >= listedBy && evidence.complete && !shows(evidence);
  if (!last || !isUsable(last)) return false;
  // The series begins after the last listing that is not usable.
  const series = listings.slice(listings.findLastIndex((evidence) => !isUsable(evidence)) + 1);
  const isOfTenant = (evidence: Evidence) =>
    vouchers === undefined ||
    listings.some(shows) ||
    [...vouchers].some((id) => evidence.items.has(id));
  const shares = (some: Evidence, other: Evidence) =>
    (some.items.size === 0 && other.items.size === 0) ||
    [...some.items.keys()].some((id) => other.items.has(id));
  // The first one changes with each listing that contradicts it, or that may be another tenant's.
  let first: Evidence | undefined;
  let isProven = false;
  for (const next of series) {
    const isSecond = first !== undefined && shares(first, next);
    const isLater = first !== undefined && next.begunAt - first.endedAt >= pollIntervalMs;
    isProven = isSecond && isLater && isOfTenant(next);
    if (!isSecond || (isLater && !isProven)) first = next;
  }
  return isProven;
}
