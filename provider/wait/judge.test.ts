/** Tests what a series of listings proves about an instance that a create waits for. */
import { expect, test } from "@jest/globals";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";
import { createJudge, type WaitResult } from "./judge";

/** A complete listing at this clock time. With an `item`, the listing has it as the instance i-1. */
function listing(at: number, item?: Partial<ListItem>, more: Partial<Listing> = {}): Listing {
  return {
    beginMark: 1,
    begunAt: at,
    endedAt: at,
    items: new Map(item && [["i-1", { id: "i-1", ...item }]]),
    complete: true,
    unreadable: 0,
    completeStatuses: new Set(),
    ...more,
  };
}
/** A listing without the instance that is not complete. Only these statuses are listed completely. */
const partial = (at: number, ...statuses: InstanceStatus[]) =>
  listing(at, undefined, { complete: false, completeStatuses: new Set(statuses) });
const provisioning = (at: number) => listing(at, { status: "PROVISIONING" });

/** Checks that the last listing proves this, and that the listings before it prove nothing. */
function expectResult(
  kind: WaitResult["kind"] | undefined,
  listings: Listing[],
  settledAt = 0,
): void {
  const judge = createJudge("i-1", 3000, settledAt);
  const results = listings.map((it) => judge(it)?.kind);
  expect(results).toEqual([...listings.slice(1).map(() => undefined), kind]);
}

test.each(["ACTIVE", "OFFLINE", "REBOOTING"])(
  "an instance with status %s has left PROVISIONING",
  (status) => expectResult("provisioned", [listing(0, { status })]),
);

test("an instance in PROVISIONING, or without a status, is waited for", () => {
  expectResult(undefined, [provisioning(0), listing(9000, {})]);
});

test("an instance that was never listed is not gone, but may still appear (G3)", () => {
  expectResult(undefined, [listing(0), listing(5000), listing(10_000)]);
});

test("a listed instance is gone once two complete listings a poll interval apart lack it (G3)", () => {
  expectResult("deleted", [provisioning(0), listing(1000), listing(2000), listing(4000)]);
});

test("the proof starts again after a listing that is not complete or has the instance (G3)", () => {
  for (const between of [provisioning(2000), partial(2000)]) {
    expectResult(undefined, [provisioning(0), listing(1000), between, listing(5000)]);
  }
});

test("an instance that is listed no more has left PROVISIONING, and is reported as it was last listed", () => {
  const judge = createJudge("i-1", 3000, 0);
  judge(listing(0, { name: "web" }));
  const result = judge(partial(1000, "PROVISIONING"));
  expect(result).toMatchObject({ kind: "notListed", lastSeen: { id: "i-1", name: "web" } });
});

test("an instance that was never listed has left PROVISIONING once two PROVISIONING listings lack it", () => {
  expectResult("notListed", [partial(0, "PROVISIONING"), partial(1, "PROVISIONING", "OFFLINE")]);
});

test("a PROVISIONING listing that is not complete proves nothing", () => {
  expectResult(undefined, [partial(0, "ACTIVE"), partial(1, "ACTIVE"), partial(2)]);
});

test("an instance is waited for if every status is listed completely", () => {
  const all = (at: number) => partial(at, "PROVISIONING", "ACTIVE", "OFFLINE");
  expectResult(undefined, [all(0), all(1), all(2)]);
});

test("before the settling time is over, an absence proves nothing, since a replica may lag (G3)", () => {
  const partials = [1000, 59_999, 60_000].map((at) => partial(at, "PROVISIONING"));
  expectResult("notListed", [...partials, partial(63_000, "PROVISIONING")], 60_000);
  expectResult("notListed", [provisioning(0), ...partials], 60_000);
  const complete = [1000, 30_000, 59_000, 60_000, 63_000].map((at) => listing(at));
  expectResult("deleted", [provisioning(0), ...complete], 60_000);
});
