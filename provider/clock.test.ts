/** Tests of the machine's clock. */
import { afterEach, expect, jest, test } from "@jest/globals";
import { systemClock } from "./clock";

afterEach(() => {
  jest.useRealTimers();
});

test("a sleep that is longer than the longest timer lasts its full time", async () => {
  jest.useFakeTimers();
  const month = 31 * 24 * 3600 * 1000;
  let awake = false;
  const sleep = systemClock.sleep(month).then(() => (awake = true));
  await jest.advanceTimersByTimeAsync(month - 1);
  expect(awake).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  await sleep;
  expect(jest.getTimerCount()).toBe(0);
});

test("a sleep that is aborted ends at once, with no timer left", async () => {
  jest.useFakeTimers();
  const abort = new AbortController();
  const sleep = systemClock.sleep(1000, abort.signal);
  const reason = new Error("enough");
  abort.abort(reason);
  await expect(sleep).rejects.toBe(reason);
  expect(jest.getTimerCount()).toBe(0);
  await expect(systemClock.sleep(1, abort.signal)).rejects.toBe(reason);
});
