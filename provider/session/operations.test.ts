/** Tests what the operations of a session meet while a request is repeated, and which pauses end them (G6). */
import { expect, test } from "@jest/globals";
import { TimedOut } from "../abort";
import type { Retry } from "../api/options";
import type { Text } from "../context";
import { Redactor } from "../redaction";
import { answered, failed } from "../testing/fakeService";
import { VirtualClock } from "../testing/virtualClock";
import { Operations, waits } from "./operations";

const never = new AbortController().signal;

function setUp() {
  const clock = new VirtualClock();
  const shown: string[] = [];
  const none = () => undefined;
  const status = (urn: string, text: string) => void shown.push(`${urn}: ${text}`);
  const info = (text: Text) => void shown.push(`info: ${[text].flat().join(" ")}`);
  const messages = { status, info, warning: none, debug: none };
  const ctx = { clock, messages, redactor: new Redactor(), env: {} };
  const operations = new Operations(ctx, () => never);
  const retry = (inMs: number, more: Partial<Retry> = {}) => {
    const error = answered(429, "GET");
    operations.retrying({
      method: "GET",
      path: "/v2/instances",
      error,
      inMs,
      isAsked: false,
      ...more,
    });
  };
  return { clock, shown, operations, retry };
}

test("each operation that waits for the endpoint shows the retry, and no other operation does", async () => {
  const { clock, operations, shown, retry } = setUp();
  const [one, two, other] = ["one", "two", "other"].map((urn) => operations.begin(900, { urn }));
  if (!one || !two || !other) throw new Error("three operations");
  using _one = one.waiting(waits.listing);
  using _two = two.waiting(waits.listing);
  using _other = other.waiting(waits.permit);
  retry(11_400);
  await clock.advance(1000);
  const text = "429, next try in 11 s, 1 s of 15 min";
  expect(shown).toEqual([`one: ${text}`, `two: ${text}`]);
});

test("an operation that begins to wait during a pause shows it, too", async () => {
  const { clock, operations, shown, retry } = setUp();
  retry(11_000);
  const operation = operations.begin(900, { urn: "web" });
  using _wait = operation.waiting(waits.listing);
  await clock.advance(1000);
  expect(shown).toEqual(["web: 429, next try in 10 s, 1 s of 15 min"]);
});

test.each<[Partial<Retry>, string]>([
  [{ error: answered(503, "GET") }, "503, next try in 2 s, 1 s of 15 min"],
  [
    { error: failed("unreachable", "the connection to the service was refused", "GET") },
    "no connection, next try in 2 s, 1 s of 15 min",
  ],
])("a retry %j is shown as %j", async (more, text) => {
  const { clock, operations, shown, retry } = setUp();
  const operation = operations.begin(900, { urn: "web" });
  using _wait = operation.waiting(waits.listing);
  retry(2600, more);
  await clock.advance(1000);
  expect(shown).toEqual([`web: ${text}`]);
});

test("the Info column names the trouble until the service answers again, also while the next try is under way", async () => {
  const { clock, operations, shown, retry } = setUp();
  const operation = operations.begin(900, { urn: "web", id: "i-1" });
  operation.show({ what: "PROVISIONING" });
  using _wait = operation.waiting(waits.listing);
  await clock.advance(2000);
  retry(7000);
  await clock.advance(18_000);
  operation.noteLook(answered(503, "GET"));
  await clock.advance(5000);
  operation.noteLook(undefined);
  await clock.advance(1000);
  expect(shown).toEqual([
    "web: PROVISIONING, 1 s of 15 min, i-1",
    "web: 429, next try in 6 s, 3 s of 15 min, i-1",
    "web: 503, 21 s of 15 min, i-1",
    "web: PROVISIONING, 26 s of 15 min, i-1",
  ]);
});

test("for what has no line in the Info column, such as a function, a message says once that it waits", () => {
  const { operations, shown, retry } = setUp();
  const [one, two] = [operations.begin(300), operations.begin(300)];
  using _one = one.waiting(waits.listing);
  using _two = two.waiting(waits.listing);
  const error = failed("unreachable", "the connection was refused", "GET");
  for (const inMs of [500, 2500]) retry(inMs, { error });
  expect(shown).toEqual([]);
  for (const inMs of [3000, 5000]) retry(inMs, { error });
  expect(shown).toEqual(["info: GET /v2/instances: the connection was refused; trying again"]);
});

test("only a pause that the service asked for, and that ends at or after the time-out, ends an operation", () => {
  const { operations, retry } = setUp();
  const cases: [number, boolean, boolean][] = [
    [20_000, false, false],
    [19_999, true, false],
    [20_000, true, true],
  ];
  for (const [inMs, isAsked, isEnded] of cases) {
    const operation = operations.begin(20);
    using _wait = operation.waiting(waits.listing);
    retry(inMs, { isAsked });
    expect(operation.signal.aborted).toBe(isEnded);
    operation[Symbol.dispose]();
  }
});

test("a pause ends no operation that waits for something else, or that has ended", () => {
  const { clock, operations, retry } = setUp();
  const posting = operations.begin(20);
  const ended = operations.begin(20);
  ended.waiting(waits.listing);
  ended[Symbol.dispose]();
  posting.waiting(waits.listing)[Symbol.dispose]();
  retry(60_000, { isAsked: true });
  expect([posting.signal.aborted, ended.signal.aborted]).toEqual([false, false]);
  posting[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
});

test("a wait that begins during a pause ends at once if the pause is too long for it, and not after the pause", async () => {
  const { clock, operations, retry } = setUp();
  retry(60_000, { isAsked: true });
  const short = operations.begin(20);
  const long = operations.begin(61);
  for (const operation of [short, long]) operation.waiting(waits.listing);
  expect([short.signal.aborted, long.signal.aborted]).toEqual([true, false]);
  const reason: unknown = short.signal.reason;
  expect(reason).toBeInstanceOf(TimedOut);
  expect(reason).toMatchObject({
    seconds: 20,
    pause: { until: new Date("2026-01-01T00:01:00Z"), error: { status: 429 } },
  });
  await clock.advance(60_000);
  const late = operations.begin(20);
  late.waiting(waits.listing);
  expect(late.signal.aborted).toBe(false);
});

test("after a time-out, what the operation waits for is named with its last failed try", async () => {
  const { clock, operations, retry } = setUp();
  const operation = operations.begin(20, { option: "customTimeouts.read" });
  operation.waiting(waits.listing);
  retry(1000, { error: answered(503, "GET") });
  await clock.advance(20_000);
  expect(operation.signal.reason).toMatchObject({
    message:
      "timed out after 20 s (customTimeouts.read), waiting for a listing of the instances (GET /v2/instances), and the last try failed: GET /v2/instances: the service said 503 (HTTP 503)",
  });
});
