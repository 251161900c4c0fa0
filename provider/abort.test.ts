/** Tests of the signals that end operations early. */
import { expect, test } from "@jest/globals";
import { Canceled, deadline, grace, localTime, raceAbort, TimedOut } from "./abort";
import { errorOf } from "./testing/scene";
import { VirtualClock } from "./testing/virtualClock";

const never = new AbortController().signal;

test("the signal of `deadline` is aborted after the time-out, and its reason has the number of seconds", async () => {
  const clock = new VirtualClock();
  const { signal } = deadline(clock, 5, never);
  await clock.advance(4999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toEqual(new TimedOut(5));
});

test("a `deadline` that is disposed of leaves no timer", async () => {
  const clock = new VirtualClock();
  const disposed = deadline(clock, 5, never);
  disposed[Symbol.dispose]();
  await clock.advance(10_000);
  expect(disposed.signal.aborted).toBe(false);
  expect(clock.sleeping).toBe(0);
});

test("a cancel aborts the signal of `deadline` before the time-out", () => {
  const outer = new AbortController();
  const { signal } = deadline(new VirtualClock(), 5, outer.signal);
  outer.abort(new Canceled());
  expect(signal.reason).toBeInstanceOf(Canceled);
});

test("the time of `grace` begins when the outer signal is aborted, and disposing of it leaves no timer", async () => {
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

test("if the signal of `raceAbort` is aborted already, a rejection of the promise is not reported as unhandled", async () => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  const aborted = AbortSignal.abort(new Canceled());
  expect(await errorOf(raceAbort(Promise.reject(new Error("late")), aborted))).toBeInstanceOf(
    Canceled,
  );
  await new Promise(setImmediate);
  process.off("unhandledRejection", record);
  expect(unhandled).toEqual([]);
});

test.each([
  ["Europe/Berlin", "2026-11-26 21:14:05 CET"],
  ["America/New_York", "2026-11-26 15:14:05 GMT-5"],
  ["UTC", "2026-11-26 20:14:05 UTC"],
])("the local time in %s has its zone: %s", (timeZone, text) => {
  expect(localTime(new Date("2026-11-26T20:14:05.9Z"), timeZone)).toBe(text);
});
