/** Tests what a series of listings proves about an instance that a create waits for. */
import { expect, test } from "@jest/globals";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";
import { WaitState, type WaitResult } from "./waitState";

let order = 0;
/** A complete listing at this clock time. With a `status`, the listing has the instance i-1. */
function listing(
  at: number,
  more: Partial<Listing> & { status?: string | undefined } = {},
): Listing {
  const { status, ...rest } = more;
  const item: ListItem = { id: "i-1", name: "web", status };
  return {
    beginMark: ++order,
    begunAt: at,
    endedAt: at,
    items: new Map("status" in more ? [["i-1", item]] : []),
    complete: true,
    unreadable: 0,
    completeStatuses: new Set(),
    ...rest,
  };
}
/** A listing that is not complete. Only these statuses are listed completely. */
const partial = (at: number, ...statuses: InstanceStatus[]) =>
  listing(at, { complete: false, completeStatuses: new Set(statuses) });
/** Returns what each of these listings proves, without a settling time. */
const kindsOf = (...listings: Listing[]) => kindsWithSettling(0, ...listings);
/** Like `kindsOf`, but with a settling time that ends at `settledAt`. */
function kindsWithSettling(
  settledAt: number,
  ...listings: Listing[]
): (WaitResult["kind"] | undefined)[] {
  const state = new WaitState("i-1", 3000, settledAt);
  return listings.map((it) => state.judge(it)?.kind);
}

test.each(["ACTIVE", "OFFLINE", "REBOOTING"])(
  "an instance with status %s has left PROVISIONING",
  (status) => {
    expect(kindsOf(listing(0, { status }))).toEqual(["provisioned"]);
  },
);

test("an instance in PROVISIONING, or without a status, is waited for", () => {
  expect(
    kindsOf(listing(0, { status: "PROVISIONING" }), listing(9000, { status: undefined })),
  ).toEqual([undefined, undefined]);
});

test("an instance that was never listed is not gone, but may still appear (G3)", () => {
  expect(kindsOf(listing(0), listing(5000), listing(10_000))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a listed instance is gone once two complete listings a poll interval apart lack it (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  expect(kindsOf(seen, listing(1000), listing(2000), listing(4000))).toEqual([
    undefined,
    undefined,
    undefined,
    "deleted",
  ]);
});

test("the proof starts again after a listing that is not complete or has the instance (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  const again = listing(2000, { status: "PROVISIONING" });
  expect(kindsOf(seen, listing(1000), again, listing(5000))).not.toContain("deleted");
  expect(kindsOf(seen, listing(1000), partial(2000), listing(5000))).not.toContain("deleted");
});

test("a listed instance that a complete PROVISIONING listing lacks has left PROVISIONING", () => {
  const seen = listing(0, { complete: false, status: "PROVISIONING" });
  expect(kindsOf(seen, partial(1000, "PROVISIONING"))).toEqual([undefined, "notListed"]);
});

test("an instance that is not listed any more is reported as it was last listed", () => {
  const state = new WaitState("i-1", 3000, 0);
  state.judge(listing(0, { complete: false, status: "PROVISIONING" }));
  const verdict = state.judge(partial(1000, "PROVISIONING"));
  expect(verdict).toMatchObject({ kind: "notListed", lastSeen: { id: "i-1", name: "web" } });
});

test("an instance that was never listed has left PROVISIONING once two PROVISIONING listings lack it", () => {
  const lacking = () => partial(1000, "PROVISIONING", "OFFLINE");
  expect(kindsOf(lacking(), lacking())).toEqual([undefined, "notListed"]);
});

test("a PROVISIONING listing that is not complete proves nothing", () => {
  expect(kindsOf(partial(0, "ACTIVE"), partial(1, "ACTIVE"), partial(2))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("an instance is waited for if every status is listed completely", () => {
  const all = () => partial(0, "PROVISIONING", "ACTIVE", "OFFLINE");
  expect(kindsOf(all(), all(), all())).toEqual([undefined, undefined, undefined]);
});

test("before the settling time is over, absence from PROVISIONING proves nothing", () => {
  const lackingAt = (at: number) => partial(at, "PROVISIONING");
  const early = [lackingAt(1000), lackingAt(5000), lackingAt(59_999)];
  expect(kindsWithSettling(60_000, ...early, lackingAt(60_000), lackingAt(63_000))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    "notListed",
  ]);
  const seen = listing(0, { complete: false, status: "PROVISIONING" });
  expect(kindsWithSettling(60_000, seen, ...early, lackingAt(60_000))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    "notListed",
  ]);
});

test("before the settling time is over, an instance is not gone, since a replica may lag (G3)", () => {
  const seen = listing(0, { status: "PROVISIONING" });
  const early = [listing(1000), listing(30_000), listing(59_000)];
  expect(kindsWithSettling(60_000, seen, ...early)).not.toContain("deleted");
  expect(kindsWithSettling(60_000, seen, ...early, listing(60_000), listing(63_000))).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
    "deleted",
  ]);
});
