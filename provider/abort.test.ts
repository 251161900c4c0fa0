/** Tests of the signals that end operations early. */
import { expect, test } from "@jest/globals";
import { Canceled, deadline, grace, raceAbort, TimedOut } from "./abort";
import { errorOf } from "./testing/scene";
import { VirtualClock } from "./testing/virtualClock";

const never = new AbortController().signal;

test("an operation ends with its time-out, and says after how long", async () => {
  const clock = new VirtualClock();
  const { signal } = deadline(clock, 5, never);
  await clock.advance(4999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toEqual(new TimedOut(5));
});

test("an operation that has ended leaves no timer", async () => {
  const clock = new VirtualClock();
  const ending = deadline(clock, 5, never);
  ending[Symbol.dispose]();
  await clock.advance(10_000);
  expect(ending.signal.aborted).toBe(false);
  expect(clock.sleeping).toBe(0);
});

test("Ctrl-C ends an operation before its time-out", () => {
  const outer = new AbortController();
  const { signal } = deadline(new VirtualClock(), 5, outer.signal);
  outer.abort(new Canceled());
  expect(signal.reason).toBeInstanceOf(Canceled);
});

test("the grace for an answer begins with the end of the operation, and leaves no timer", async () => {
  const clock = new VirtualClock();
  const outer = new AbortController();
  const { signal } = grace(clock, 10_000, outer.signal);
  await clock.advance(60_000);
  expect(signal.aborted).toBe(false);
  outer.abort(new TimedOut(1));
  await clock.advance(9999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toEqual(new TimedOut(1));

  const late = grace(clock, 10_000, outer.signal);
  late[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
  await clock.advance(20_000);
  expect(late.signal.aborted).toBe(false);
});

test("a promise that is awaited after the abort may reject without an unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const aborted = AbortSignal.abort(new Canceled());
  expect(await errorOf(raceAbort(Promise.reject(new Error("late")), aborted))).toBeInstanceOf(
    Canceled,
  );
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
