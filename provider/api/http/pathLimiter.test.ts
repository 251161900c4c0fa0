import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { VirtualClock } from "../../testing/virtualClock";
import { type Ending, PathLimiter, type Permit, type Priority } from "./pathLimiter";

const answered: Ending = { sent: true, answered: true };
const lost: Ending = { sent: true, answered: false };
const tooMany = (retryAfterMs?: number): Ending => ({ sent: true, tooMany: true, retryAfterMs });
const never = new AbortController().signal;

function setUp(limit: number, random = 0.5) {
  const clock = new VirtualClock();
  const pauses: number[] = [];
  const limiter = new PathLimiter({
    clock,
    random: () => random,
    limit,
    onSlowedDown: (ms) => pauses.push(ms),
  });
  const order: string[] = [];
  /** A request that ends at once, noted with the second it went out. */
  const request = (name: string, priority: Priority = "read", ending = answered) =>
    limiter.enter(priority, never).then((permit) => {
      order.push(`${name}@${clock.now() / 1000}`);
      permit.end(ending);
    });
  return { clock, limiter, pauses, order, request };
}

test("the limit goes out at once, the rest when a window has passed, in order", async () => {
  const { clock, order, request } = setUp(2);
  for (const name of ["a", "b", "c", "d", "e"]) void request(name);
  await clock.advance(180_000);
  expect(order).toEqual(["a@0", "b@0", "c@60.001", "d@60.001", "e@120.002"]);
  expect(clock.sleeping).toBe(0);
});

test("writes go before reads when both wait", async () => {
  const { clock, order, request } = setUp(1);
  void request("first");
  void request("read 1");
  void request("read 2");
  void request("write 1", "write");
  void request("write 2", "write");
  await clock.advance(300_000);
  expect(order.map((entry) => entry.split("@")[0])).toEqual([
    "first",
    "write 1",
    "write 2",
    "read 1",
    "read 2",
  ]);
});

test("a tenth of the limit goes out at even distances, to reads first", async () => {
  const { clock, order, request } = setUp(20);
  for (let n = 0; n < 20; n++) void request(`write ${n}`, "write");
  void request("read 0");
  void request("read 1");
  await clock.advance(0);
  expect(order).toEqual(Array.from({ length: 18 }, (_, n) => `write ${n}@0`));
  await clock.advance(180_000);
  expect(order.slice(18)).toEqual(["read 0@30", "read 1@60", "write 18@60.001", "write 19@60.001"]);
  expect(clock.sleeping).toBe(0);
});

test("where no read waits, writes use the whole limit up", async () => {
  const { clock, order, request } = setUp(20);
  for (let n = 0; n < 60; n++) void request("write", "write");
  await clock.advance(180_000);
  const by = (second: number) => order.filter((it) => Number(it.split("@")[1]) < second).length;
  expect([30, 60, 90, 120, 150, 180].map(by)).toEqual([18, 19, 38, 39, 58, 59]);
});

test("after a 429, when requests go one by one, a read is due now and then all the same", async () => {
  const { clock, order, request } = setUp(60);
  void request("refused", "write", tooMany(1000));
  await clock.advance(0);
  for (let n = 0; n < 100; n++) void request("write", "write");
  for (let n = 0; n < 5; n++) void request("read");
  await clock.advance(60_000);
  const kinds = order.map((entry) => entry.split("@")[0]);
  expect(kinds.filter((kind) => kind === "read").length).toBe(5);
  expect(kinds.filter((kind) => kind === "write").length).toBeGreaterThan(5);
});

test("a request that takes long keeps its place until a window after its end", async () => {
  const { clock, limiter, order, request } = setUp(1);
  const slow = await limiter.enter("write", never);
  void request("next");
  await clock.advance(90_000);
  expect(order).toEqual([]);
  slow.end(lost);
  await clock.advance(60_001);
  expect(order).toEqual(["next@150.001"]);
});

test("a hundred writes go at a time, each that ends lets the next one go, and reads go past them", async () => {
  const { clock, limiter, order, request } = setUp(1000);
  const enter = () => limiter.enter("write", never);
  const [first] = await Promise.all(Array.from({ length: 100 }, enter));
  void request("write", "write");
  void request("read", "read");
  await clock.advance(60_000);
  expect(order).toEqual(["read@0"]);
  first?.end(answered);
  await clock.advance(0);
  expect(order).toEqual(["read@0", "write@60"]);
  expect(clock.sleeping).toBe(0);
});

test("what was never sent gives its place back", async () => {
  const { clock, order, request } = setUp(1);
  void request("refused", "read", { sent: false });
  void request("next");
  await clock.advance(0);
  expect(order).toEqual(["refused@0", "next@0"]);
});

test("a request that waits is aborted at once, and leaves neither a place nor a timer", async () => {
  const { clock, limiter, order, request } = setUp(1);
  await request("first");
  const abort = new AbortController();
  const waiting = limiter.enter("write", abort.signal);
  expect(clock.sleeping).toBe(1);
  const reason = new Error("cancelled");
  abort.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(clock.sleeping).toBe(0);
  await expect(limiter.enter("read", abort.signal)).rejects.toBe(reason);
  void request("next");
  await clock.advance(60_001);
  expect(order).toEqual(["first@0", "next@60.001"]);
});

test("after a 429 every request to the path pauses for as long as the service asks", async () => {
  const { clock, order, pauses, request } = setUp(100);
  await request("a", "write", tooMany(7000));
  void request("b");
  void request("c", "write");
  await clock.advance(6999);
  expect(order).toEqual(["a@0"]);
  await clock.advance(10_000);
  expect(order).toEqual(["a@0", "b@7", "c@8.2"]);
  expect(pauses).toEqual([7000]);
});

test("without guidance pauses double from about 1 s to 30 s, and start anew after a success", async () => {
  const { clock, pauses, request } = setUp(1000);
  for (let time = 0; time < 7; time++) {
    void request("x", "read", tooMany());
    await clock.advance(30_000);
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  void request("in");
  await clock.advance(30_000);
  void request("x", "read", tooMany());
  await clock.advance(0);
  expect(pauses.at(-1)).toBe(1000);
});

test.each([
  [0, 750],
  [0.999, 1249.5],
])("pauses are jittered: with chance %d the first takes %d ms", async (random, ms) => {
  const { pauses, request } = setUp(10, random);
  await request("x", "read", tooMany());
  expect(pauses[0]).toBeCloseTo(ms);
});

test("a burst that runs into the same wall makes one pause, not one each", async () => {
  const { clock, limiter, pauses } = setUp(100);
  const burst = await Promise.all(Array.from({ length: 20 }, () => limiter.enter("read", never)));
  for (const permit of burst) permit.end(tooMany());
  await clock.advance(0);
  expect(pauses).toEqual([1000]);
});

test("after a pause one request tries the way, and only its success lets the others follow", async () => {
  const { clock, limiter, order, request } = setUp(100);
  const early = await limiter.enter("read", never);
  await request("a", "read", tooMany());
  let probe: Permit | undefined;
  void limiter.enter("write", never).then((permit) => (probe = permit));
  void request("b");
  void request("c");
  await clock.advance(1000);
  // An answer to what set out before the pause says nothing about now.
  early.end(answered);
  await clock.advance(10_000);
  expect(probe).toBeDefined();
  expect(order).toEqual(["a@0"]);
  probe?.end(tooMany());
  await clock.advance(1999);
  expect(order).toEqual(["a@0"]);
  await clock.advance(10_000);
  expect(order).toEqual(["a@0", "b@13", "c@14.2"]);
});

test("after a pause there is no burst: half the limit's rate, then more of it with time, then all", async () => {
  // 10 a second.
  const { clock, order, request } = setUp(600);
  await request("refused", "read", tooMany());
  for (let n = 0; n < 500; n++) void request("x");
  const sentIn = async (ms: number) => {
    const before = order.length;
    await clock.advance(ms);
    return order.length - before;
  };
  expect(await sentIn(1000)).toBe(1);
  expect(await sentIn(1000)).toBe(5);
  await clock.advance(18_000);
  expect(await sentIn(1000)).toBe(7);
  await clock.advance(31_000);
  expect(order.length).toBe(501);
  expect(clock.sleeping).toBe(0);
});

test("a wall halves the rate once, however often it is run into", async () => {
  const { clock, order, request } = setUp(600);
  for (const tries of [3, 1]) {
    for (let n = 0; n < tries; n++) {
      void request("refused", "read", tooMany());
      await clock.advance(30_000);
    }
    void request("in");
    await clock.advance(30_000);
  }
  order.length = 0;
  void request("a");
  void request("b");
  await clock.advance(30_000);
  const [a = 0, b = 0] = order.map((entry) => Number(entry.split("@")[1]));
  // From 10 a second to 5, to 2.5; and what the first two that were let in added.
  expect(1 / (b - a)).toBeCloseTo(2.59, 1);
});

test("a try that is lost lets the next one try", async () => {
  const { clock, order, request } = setUp(100);
  await request("a", "read", tooMany());
  void request("b", "read", lost);
  void request("c", "read", { sent: false });
  void request("d");
  await clock.advance(1000);
  expect(order).toEqual(["a@0", "b@1", "c@1", "d@1"]);
});

const arrival = fc.record({
  after: fc.integer({ min: 0, max: 40_000 }),
  takes: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 })),
  priority: fc.constantFrom<Priority>("read", "write"),
  ending: fc.constantFrom<Ending>(
    answered,
    answered,
    answered,
    lost,
    { sent: false },
    tooMany(),
    tooMany(5000),
  ),
  abortAfter: fc.option(fc.integer({ min: 0, max: 90_000 }), { freq: 5 }),
});

test("for any pattern of arrivals, no 60 seconds hold more than the limit, at either end of the wire", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 10, max: 12 })),
      fc.array(arrival, { maxLength: 30 }),
      async (limit, arrivals) => {
        const { clock, limiter } = setUp(limit);
        const sent: number[] = [];
        const ended: number[] = [];
        let at = 0;
        const all = arrivals.map(async ({ after, takes, priority, ending, abortAfter }) => {
          await clock.sleep((at += after));
          const abort = new AbortController();
          if (abortAfter !== null) {
            void clock.sleep(abortAfter).then(() => abort.abort(new Error("cancelled")));
          }
          const permit = await limiter.enter(priority, abort.signal).catch(() => undefined);
          if (!permit) return;
          const began = clock.now();
          if (takes) await clock.sleep(takes);
          if (ending.sent) {
            sent.push(began);
            ended.push(clock.now());
          }
          permit.end(ending);
        });
        await clock.advance(4 * 60 * 60_000);
        await Promise.all(all);
        for (const times of [sent, ended]) {
          for (const start of times) {
            const inWindow = times.filter((time) => time >= start && time <= start + 60_000);
            expect(inWindow.length).toBeLessThanOrEqual(limit);
          }
        }
        expect(clock.sleeping).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});
