import { expect, test } from "@jest/globals";
import { Canceled, deadline, raceAbort, TimedOut } from "./abort";
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

test("an operation that is over leaves no timer", async () => {
  const clock = new VirtualClock();
  const { signal, stop } = deadline(clock, 5, never);
  stop();
  await clock.advance(10_000);
  expect(signal.aborted).toBe(false);
  expect(clock.sleeping).toBe(0);
});

test("Ctrl-C ends an operation before its time-out", () => {
  const outer = new AbortController();
  const { signal } = deadline(new VirtualClock(), 5, outer.signal);
  outer.abort(new Canceled());
  expect(signal.reason).toBeInstanceOf(Canceled);
});

test("what is waited for too late may fail without anyone to see it", async () => {
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
