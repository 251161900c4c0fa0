/** Tests of the warnings of a session. */
import { expect, test } from "@jest/globals";
import { scene } from "../testing/scene";

const never = new AbortController().signal;

test("a session warns only once that the service ignores the cursor", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.listings.get(session.listings.recent, never);
  await clock.sleep(10_000);
  await session.listings.get(session.listings.recent, never);
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});
