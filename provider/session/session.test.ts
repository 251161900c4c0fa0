/** Tests of the warnings and the listings of a session. */
import { expect, test } from "@jest/globals";
import { scene, withTokenFile } from "../testing/scene";

const never = new AbortController().signal;

test("a session warns once of a cursor that the service ignores", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.listings.get(session.listings.recent, never);
  await clock.sleep(10_000);
  await session.listings.get(session.listings.recent, never);
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});

test("a listing during which the token was renewed is made again, so that no listing is of two tenants", async () => {
  const world = scene({ cursorParameter: "after" });
  const { session, service } = world;
  const renewToken = withTokenFile(world);
  service.cursorParameter = "after";
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  // The first page is of the old token, and all further ones are of the new token.
  service.listFaults.push(undefined, renewToken);
  const { items, complete } = await session.listings.get({}, never);
  expect(service.count("list")).toBe(4);
  expect({ count: items.size, complete }).toEqual({ count: 150, complete: true });
});
