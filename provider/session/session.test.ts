/** Tests of what a session tells all its operations. */
import { expect, test } from "@jest/globals";
import { scene } from "../testing/scene";

const never = new AbortController().signal;

test("a session warns only once that the service ignores the cursor", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.listings.get(session.listings.recent(), never);
  await clock.sleep(10_000);
  await session.listings.get(session.listings.recent(), never);
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});

test.each([
  ["10 s ago", -10_000, 20_000],
  ["in the future, since the wall clock was set back", 10_000, 30_000],
  ["at no valid date", NaN, 30_000],
])("the settling time of a POST that was sent %s ends in time", (_when, sinceNow, left) => {
  const { session, clock } = scene({ settlingSeconds: 30 });
  const at = new Date(clock.date().getTime() + sinceNow);
  const postedAt = Number.isNaN(sinceNow) ? "no date" : at.toISOString();
  expect(session.settledBy(postedAt)).toBe(clock.now() + left);
});
