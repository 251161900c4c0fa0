/** Tests when the rate limit gives permits, and how it backs off after a 429 (G6). */
import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { VirtualClock } from "../../testing/virtualClock";
import { RequestError } from "../requestError";
import { type Permit, type RequestEnd, RateLimit } from "./rateLimit";

/** The error of a 429. */
function tooMany(retryAfterMs?: number): RequestEnd {
  const request = { method: "GET", path: "/v2/instances", cause: "too many requests" };
  return new RequestError({ kind: "answered", status: 429, retryAfterMs, ...request });
}

const never = new AbortController().signal;

type Method = "GET" | "POST";

/** Makes a rate limit. `limit` is how many requests per minute the client may send to an endpoint. */
function setUp(limit: number, random = 0.5) {
  const clock = new VirtualClock();
  const pauses: number[] = [];
  const rateLimit = new RateLimit({
    clock,
    random: () => random,
    requestsPerMinute: Math.ceil(limit / 0.95),
    onRetry: ({ inMs }) => pauses.push(inMs),
  });
  /** Waits for a permit and uses it. */
  const enter = (method: Method, signal = never): Promise<Use> =>
    rateLimit.acquirePermit(method, "/v2/instances", signal).then(inUse);
  const order: string[] = [];
  /** Sends a request that ends at once. `order` gets its name and the second in which it was sent. */
  const request = (name: string, method: Method = "GET", ending: RequestEnd = "answered") =>
    enter(method).then(({ end }) => {
      order.push(`${name}@${clock.now() / 1000}`);
      end(ending);
    });
  const names = () => order.map((entry) => entry.split("@")[0]);
  return { clock, enter, pauses, order, names, request };
}

/** A permit that is in use. */
interface Use {
  /** Ends the request of the permit. */
  end: (ending: RequestEnd) => void;
}

function inUse(permit: Permit): Use {
  const end = permit.use();
  return { end };
}

test("of the documented limit, 200 requests go at once, and the others evenly, as many as a minute may have", async () => {
  const { clock, order, request } = setUp(950);
  for (let n = 0; n < 1000; n++) void request(String(n));
  await clock.advance(0);
  expect(order).toHaveLength(200);
  await clock.advance(30_000);
  expect(order).toHaveLength(575);
  await clock.advance(30_000);
  expect(order).toHaveLength(950);
  await clock.advance(4000);
  expect(order.at(-1)).toMatch(/^999@/);
  expect(clock.sleeping).toBe(0);
});

test("GET and POST have separate buckets, so that many creates delay no GET (G6)", async () => {
  const { clock, order, names, request } = setUp(20);
  for (let n = 0; n < 30; n++) void request("POST", "POST");
  for (let n = 0; n < 20; n++) void request("GET");
  await clock.advance(59_000);
  expect(names().filter((name) => name === "POST")).toHaveLength(20);
  expect(names().filter((name) => name === "GET")).toHaveLength(20);
  await clock.advance(60_000);
  expect(order).toHaveLength(50);
  expect(clock.sleeping).toBe(0);
});

test("a pause delays only one method", async () => {
  const { clock, order, request } = setUp(60);
  await request("POST", "POST", tooMany(9000));
  void request("POST", "POST");
  void request("GET");
  await clock.advance(20_000);
  expect(order).toEqual(["POST@0", "GET@0", "POST@9"]);
});

test("a long request holds its token until its end", async () => {
  const { clock, enter, order, request } = setUp(1);
  const slow = await enter("POST");
  void request("next", "POST");
  await clock.advance(90_000);
  expect(order).toEqual([]);
  slow.end("unanswered");
  await clock.advance(66_667);
  expect(order).toEqual(["next@156.667"]);
});

test("a token that a request holds is not free, also if the bucket has more", async () => {
  // 4 at once, and one each 3.55 s.
  const { clock, enter, order, request } = setUp(20);
  await enter("GET");
  for (let n = 0; n < 4; n++) void request(String(n));
  await clock.advance(3550);
  expect(order).toEqual(["0@0", "1@0", "2@0"]);
  await clock.advance(1);
  expect(order.at(-1)).toBe("3@3.551");
});

test("at most a hundred requests of an endpoint are under way, and they don't delay another endpoint's", async () => {
  const { clock, enter, order, request } = setUp(950);
  const [first] = await Promise.all(Array.from({ length: 100 }, () => enter("POST")));
  void request("POST", "POST");
  void request("GET");
  await clock.advance(60_000);
  expect(order).toEqual(["GET@0"]);
  first?.end("answered");
  await clock.advance(0);
  expect(order).toEqual(["GET@0", "POST@60"]);
  expect(clock.sleeping).toBe(0);
});

test("a request that was not sent does not count", async () => {
  const { clock, order, request } = setUp(1);
  void request("refused", "GET", "unsent");
  void request("next");
  await clock.advance(0);
  expect(order).toEqual(["refused@0", "next@0"]);
});

test("a waiting request can be aborted at once, and then neither counts nor leaves a timer", async () => {
  const { clock, enter, order, request } = setUp(1);
  await request("first", "POST");
  const abort = new AbortController();
  const waiting = enter("POST", abort.signal);
  await clock.advance(0);
  expect(clock.sleeping).toBe(1);
  const reason = new Error("cancelled");
  abort.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(clock.sleeping).toBe(0);
  await expect(enter("GET", abort.signal)).rejects.toBe(reason);
  void request("next", "POST");
  await clock.advance(66_667);
  expect(order).toEqual(["first@0", "next@66.667"]);
});

test("after a 429 the endpoint's requests pause for as long as the service asks", async () => {
  const { clock, order, pauses, request } = setUp(100);
  await request("a", "POST", tooMany(7000));
  void request("b", "POST");
  void request("c", "POST");
  await clock.advance(6999);
  expect(order).toEqual(["a@0"]);
  await clock.advance(10_000);
  expect(order).toEqual(["a@0", "b@7", "c@8.459"]);
  expect(pauses).toEqual([7000]);
});

test("without Retry-After, pauses double from about 1 s to 30 s, and are short again after a response", async () => {
  const { clock, pauses, request } = setUp(1000);
  for (let time = 0; time < 7; time++) {
    void request("x", "GET", tooMany());
    await clock.advance(30_000);
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  for (const [ending, pauseMs] of [
    ["unanswered", 30_000],
    ["answered", 1000],
  ] as const) {
    void request("in", "GET", ending);
    await clock.advance(30_000);
    void request("x", "GET", tooMany());
    await clock.advance(0);
    expect(pauses.at(-1)).toBe(pauseMs);
    await clock.advance(30_000);
  }
});

test.each([
  [0, 750],
  [0.999, 1249.5],
])("with the random number %d the first pause takes %d ms", async (random, pauseMs) => {
  const { pauses, request } = setUp(600, random);
  await request("x", "GET", tooMany());
  expect(pauses[0]).toBeCloseTo(pauseMs);
});

test("a burst whose requests all get a 429 causes one pause, as long as the longest Retry-After asks, and reports what is new", async () => {
  const { clock, enter, order, pauses, request } = setUp(100);
  const burst = await Promise.all(Array.from({ length: 10 }, () => enter("GET")));
  const last = burst.pop();
  for (const [n, permit] of burst.entries()) permit.end(tooMany(n === 5 ? 7000 : undefined));
  void request("next");
  await clock.advance(999);
  last?.end(tooMany(7000));
  await clock.advance(10_000);
  expect(pauses).toEqual([1000, 7000]);
  expect(order).toEqual(["next@7.999"]);
});

test("a response to a request from before a pause neither ends the pause nor the next one", async () => {
  const { clock, enter, pauses, request } = setUp(100);
  const [early, earlier] = await Promise.all([enter("GET"), enter("GET")]);
  await request("a", "GET", tooMany());
  early.end("answered");
  void request("b", "GET", tooMany());
  await clock.advance(999);
  expect(pauses).toEqual([1000]);
  await clock.advance(1);
  expect(pauses).toEqual([1000, 2000]);
  earlier.end("answered");
  void request("c", "GET", tooMany());
  await clock.advance(2000);
  expect(pauses).toEqual([1000, 2000, 4000]);
});

test("a permit that is given back during a pause lets no request go before its end", async () => {
  const { clock, enter, order, request } = setUp(100);
  const unsent = await enter("GET");
  await request("refused", "GET", tooMany());
  unsent.end("unsent");
  void request("next");
  await clock.advance(1000);
  expect(order).toEqual(["refused@0", "next@1"]);
});

test("after a pause there is no burst, but half the limit's rate, which grows back to the limit", async () => {
  // The limit is 10 requests per second.
  const { clock, order, request } = setUp(600);
  await request("refused", "GET", tooMany());
  for (let n = 0; n < 500; n++) void request("x");
  const sentIn = async (ms: number) => {
    const before = order.length;
    await clock.advance(ms);
    return order.length - before;
  };
  expect(await sentIn(1000)).toBe(1);
  expect(await sentIn(1000)).toBe(4);
  await clock.advance(18_000);
  expect(await sentIn(1000)).toBe(6);
  await clock.advance(30_000);
  expect(await sentIn(1000)).toBe(8);
  await clock.advance(30_000);
  expect(order.length).toBe(501);
  expect(clock.sleeping).toBe(0);
});

test("several 429 responses in a row halve the rate only once", async () => {
  const { clock, order, request } = setUp(600);
  for (let n = 0; n < 3; n++) {
    void request("refused", "GET", tooMany());
    await clock.advance(30_000);
  }
  void request("in");
  await clock.advance(30_000);
  order.length = 0;
  void request("refused", "GET", tooMany());
  void request("a");
  void request("b");
  await clock.advance(30_000);
  const [, a = 0, b = 0] = order.map((entry) => Number(entry.split("@")[1]));
  // The rate was halved twice, from 7.9 requests per second to 2, and two successes have increased it a little.
  expect(1 / (b - a)).toBeCloseTo(2.03, 1);
});

test("a 429 of a request that was under way when another one ended the row of pauses neither pauses nor slows down", async () => {
  const { clock, enter, order, pauses, request } = setUp(600);
  await request("refused", "GET", tooMany());
  const underWay = Promise.all(Array.from({ length: 3 }, () => enter("GET")));
  await clock.advance(1600);
  const [first, ...others] = await underWay;
  first?.end("answered");
  for (const { end } of others) end(tooMany());
  void request("a");
  void request("b");
  await clock.advance(1000);
  expect(pauses).toEqual([1000]);
  const [, a = 0, b = 0] = order.map((entry) => Number(entry.split("@")[1]));
  expect(b - a).toBeCloseTo(0.25, 2);
});

const arrival = fc.record({
  after: fc.integer({ min: 0, max: 40_000 }),
  takes: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 })),
  method: fc.constantFrom<Method>("GET", "POST"),
  ending: fc.constantFrom<RequestEnd>(
    "answered",
    "answered",
    "answered",
    "unanswered",
    "unsent",
    tooMany(),
    tooMany(5000),
  ),
  abortAfter: fc.option(fc.integer({ min: 0, max: 90_000 }), { freq: 5 }),
});

test("for any pattern of arrivals, no 60 seconds have more requests of an endpoint than the limit, whether counted by begin or by end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 10, max: 12 })),
      fc.array(arrival, { maxLength: 30 }),
      async (limit, arrivals) => {
        const { clock, enter } = setUp(limit);
        const sent = { GET: [] as number[], POST: [] as number[] };
        const ended = { GET: [] as number[], POST: [] as number[] };
        let at = 0;
        const all = arrivals.map(async ({ after, takes, method, ending, abortAfter }) => {
          await clock.sleep((at += after));
          const abort = new AbortController();
          if (abortAfter !== null) {
            void clock.sleep(abortAfter).then(() => abort.abort(new Error("cancelled")));
          }
          const permit = await enter(method, abort.signal).catch(() => undefined);
          if (!permit) return;
          const began = clock.now();
          if (takes) await clock.sleep(takes);
          if (ending !== "unsent") {
            sent[method].push(began);
            ended[method].push(clock.now());
          }
          permit.end(ending);
        });
        await clock.advance(4 * 60 * 60_000);
        await Promise.all(all);
        for (const times of [sent.GET, sent.POST, ended.GET, ended.POST]) {
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
