import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import type { Listing } from "../listing/listing";
import { VirtualClock } from "../testing/virtualClock";
import { CreateSlots } from "./createSlots";

const pollIntervalMs = 3000;

/** A tenant with so many instances of others, and a room before it. */
function setUp(others: { active?: number; provisioning?: number }, hasCursor = false) {
  const clock = new VirtualClock();
  const room = new CreateSlots({ clock, pollIntervalMs, hasCursor, isOurs: () => false });
  const there = { active: 0, provisioning: 0, ...others };
  let problem: Error | undefined;
  const listing = (): Listing => {
    const of = (status: string, count: number): [string, ListItem][] =>
      Array.from({ length: count }, (_, n) => [`${status}-${n}`, { id: `${status}-${n}`, status }]);
    return {
      ...{ begun: 1, begunAt: clock.now(), endedAt: clock.now(), unreadable: 0 },
      items: new Map([...of("ACTIVE", there.active), ...of("PROVISIONING", there.provisioning)]),
      complete: there.active + there.provisioning <= 100,
      completeStatuses: new Set(),
    };
  };
  const cancellation = new AbortController();
  const inside: string[] = [];
  const held: string[] = [];
  const failed: Error[] = [];
  /** So many creates at once. */
  const create = async (count: number, prefix = "web") => {
    for (let n = 0; n < count; n++) {
      const urn = `${prefix}-${n}`;
      const look = () => (problem ? Promise.reject(problem) : Promise.resolve(listing()));
      const onHeld = () => void held.push(urn);
      room.enter({ urn, look, signal: cancellation.signal, onHeld }).then(
        () => void inside.push(urn),
        (error: Error) => void failed.push(error),
      );
    }
    await clock.advance(0);
  };
  const fail = (error: Error | undefined) => (problem = error);
  return { clock, room, there, create, inside, held, failed, fail, cancellation };
}

test("a cursor shows everything: all go at once", async () => {
  const { create, inside } = setUp({ active: 500, provisioning: 500 }, true);
  await create(1000);
  expect(inside).toHaveLength(1000);
});

test("as many go as one page or the listing of PROVISIONING shows, the next as each leaves, in order", async () => {
  const { clock, room, create, inside, held } = setUp({});
  await create(301);
  expect(inside).toHaveLength(100);
  expect(held).toHaveLength(201);
  room.leave("web-7");
  await clock.advance(0);
  expect(inside.slice(100)).toEqual(["web-100"]);
  // To leave twice makes no more room.
  room.leave("web-7");
  await clock.advance(10 * pollIntervalMs);
  expect(inside).toHaveLength(101);
  for (let n = 0; n < 301; n++) {
    room.leave(inside[n] ?? "");
    await clock.advance(0);
  }
  expect(inside).toEqual(Array.from({ length: 301 }, (_, n) => `web-${n}`));
  expect(clock.sleeping).toBe(0);
});

test("instances of others count while they are PROVISIONING, and are looked at again", async () => {
  const { clock, there, create, inside } = setUp({ active: 100, provisioning: 60 });
  await create(50);
  expect(inside).toHaveLength(40);
  there.provisioning = 55;
  await clock.advance(pollIntervalMs - 1);
  expect(inside).toHaveLength(40);
  await clock.advance(1);
  expect(inside).toHaveLength(45);
});

test("what others leave in PROVISIONING for ever never stops all: one at a time goes", async () => {
  const { clock, room, create, inside } = setUp({ active: 100, provisioning: 100 });
  await create(3);
  for (const done of [1, 2, 3]) {
    await clock.advance(10 * pollIntervalMs);
    expect(inside).toHaveLength(done);
    room.leave(inside[done - 1] ?? "");
  }
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});

test("who comes back for a fresh baseline goes in at once", async () => {
  const { create, inside } = setUp({ active: 100, provisioning: 99 });
  await create(1);
  await create(1);
  expect(inside).toEqual(["web-0", "web-0"]);
});

test("Ctrl-C ends the wait of all, and leaves no timer", async () => {
  const { clock, create, inside, failed, cancellation } = setUp({});
  await create(150);
  cancellation.abort(new Canceled());
  await clock.advance(0);
  expect(inside).toHaveLength(100);
  expect(failed).toHaveLength(50);
  expect(failed.every((error) => error instanceof Canceled)).toBe(true);
  expect(clock.sleeping).toBe(0);
});

test("a look that fails for now is tried again; one that can't get better fails who looked", async () => {
  const { clock, room, create, inside, failed, fail } = setUp({});
  await create(101);
  const broken = { method: "GET", path: "/v2/instances", cause: "x" } as const;
  fail(new RequestError({ kind: "unanswered", ...broken }));
  room.leave("web-0");
  await clock.advance(0);
  expect({ inside: inside.length, failed: failed.length }).toEqual({ inside: 100, failed: 0 });
  fail(undefined);
  await clock.advance(pollIntervalMs);
  expect(inside).toHaveLength(101);
  await create(1, "late");
  const refused = new Error("HTTP 401");
  fail(refused);
  await clock.advance(pollIntervalMs);
  expect(failed).toEqual([refused]);
});
