import { expect, test } from "@jest/globals";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";
import { WaitState, type WaitResult } from "./waitState";

let order = 0;
function listing(
  at: number,
  more: Partial<Listing> & { status?: string | undefined } = {},
): Listing {
  const { status, ...rest } = more;
  const item: ListItem = { id: "i-1", name: "web", status };
  return {
    begun: ++order,
    begunAt: at,
    endedAt: at,
    items: new Map("status" in more ? [["i-1", item]] : []),
    complete: true,
    unreadable: 0,
    completeStatuses: new Set(),
    ...rest,
  };
}
const partial = (at: number, ...statuses: InstanceStatus[]) =>
  listing(at, { complete: false, completeStatuses: new Set(statuses) });
const judge = (...listings: Listing[]) => judgeFrom(0, ...listings);
/** As `judge`, with a settling time that is over at this moment. */
function judgeFrom(settledAt: number, ...listings: Listing[]): (WaitResult["kind"] | undefined)[] {
  const evidence = new WaitState("i-1", 3000, settledAt);
  return listings.map((one) => evidence.see(one)?.kind);
}

test.each(["ACTIVE", "OFFLINE", "REBOOTING"])("%s is past PROVISIONING", (status) => {
  expect(judge(listing(0, { status }))).toEqual(["settled"]);
});

test("PROVISIONING, or no status at all, is waited for", () => {
  expect(
    judge(listing(0, { status: "PROVISIONING" }), listing(9000, { status: undefined })),
  ).toEqual([undefined, undefined]);
});

test("an instance that was never listed is not gone, it is not there yet (G3)", () => {
  expect(judge(listing(0), listing(5000), listing(10_000))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("one that was listed is gone once two complete listings lack it, a poll interval apart (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  expect(judge(seen, listing(1000), listing(2000), listing(4000))).toEqual([
    undefined,
    undefined,
    undefined,
    "deleted",
  ]);
});

test("a listing that is not complete, or shows it, begins the proof anew (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  const again = listing(2000, { status: "PROVISIONING" });
  expect(judge(seen, listing(1000), again, listing(5000))).not.toContain("deleted");
  expect(judge(seen, listing(1000), partial(2000), listing(5000))).not.toContain("deleted");
});

test("once listed, lacking in a complete PROVISIONING listing means that it left it", () => {
  const seen = listing(0, { complete: false, status: "PROVISIONING" });
  expect(judge(seen, partial(1000, "PROVISIONING"))).toEqual([undefined, "notListed"]);
});

test("who hides is known as it was last seen", () => {
  const evidence = new WaitState("i-1", 3000, 0);
  evidence.see(listing(0, { complete: false, status: "PROVISIONING" }));
  const verdict = evidence.see(partial(1000, "PROVISIONING"));
  expect(verdict).toMatchObject({ kind: "notListed", lastSeen: { id: "i-1", name: "web" } });
});

test("never listed, it has left PROVISIONING when that lacks it twice", () => {
  const lacking = () => partial(1000, "PROVISIONING", "OFFLINE");
  expect(judge(lacking(), lacking())).toEqual([undefined, "notListed"]);
});

test("nothing is concluded from a PROVISIONING listing that is not complete", () => {
  expect(judge(partial(0, "ACTIVE"), partial(1, "ACTIVE"), partial(2))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("where every status is listed whole, it can't hide: it is waited for", () => {
  const all = () => partial(0, "PROVISIONING", "ACTIVE", "OFFLINE");
  expect(judge(all(), all(), all())).toEqual([undefined, undefined, undefined]);
});

test("before the settling time is over it has not left PROVISIONING, however often that lacks it", () => {
  const lackedAt = (at: number) => partial(at, "PROVISIONING");
  const early = [lackedAt(1000), lackedAt(5000), lackedAt(59_999)];
  expect(judgeFrom(60_000, ...early, lackedAt(60_000), lackedAt(63_000))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    "notListed",
  ]);
  const seen = listing(0, { complete: false, status: "PROVISIONING" });
  expect(judgeFrom(60_000, seen, ...early, lackedAt(60_000))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    "notListed",
  ]);
});

test("before the settling time is over it is not gone: a replica may lag (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  const early = [listing(1000), listing(30_000), listing(59_000)];
  expect(judgeFrom(60_000, seen, ...early)).not.toContain("deleted");
  expect(judgeFrom(60_000, seen, ...early, listing(60_000), listing(63_000))).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
    "deleted",
  ]);
});
