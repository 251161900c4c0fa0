import { expect, test } from "@jest/globals";
import { TimedOut } from "./abort";
import { scene } from "./testing/scene";

const never = new AbortController().signal;

test("a cursor that the service ignores is warned of once a process", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.listings.get(session.listings.shareable, never);
  await clock.sleep(10_000);
  await session.listings.get(session.listings.shareable, never);
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});

test("the grace for an answer begins with the end of the operation, and leaves no timer", async () => {
  const { session, clock } = scene();
  const ending = new AbortController();
  const { signal, stop } = session.grace(ending.signal);
  await clock.sleep(60_000);
  expect(signal.aborted).toBe(false);
  ending.abort(new TimedOut(1));
  await clock.sleep(9999);
  expect(signal.aborted).toBe(false);
  await clock.sleep(1);
  await new Promise(setImmediate);
  expect(signal.aborted).toBe(true);
  stop();

  const other = session.grace(ending.signal);
  other.stop();
  expect(clock.sleeping).toBe(0);
  await clock.sleep(20_000);
  expect(other.signal.aborted).toBe(false);
});
