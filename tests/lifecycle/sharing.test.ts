/** G7, counted: what 300 instances cost in list requests, while they are waited for and when read. */
import { expect, test } from "@jest/globals";
import type { Settings } from "./support/plugin";
import { inputs } from "./support/stack";
import { until } from "./support/until";
import { withWorld, type World } from "./support/world";

const count = 300;
const program = Object.fromEntries(Array.from({ length: count }, (_, n) => [`web-${n}`, inputs()]));
const cursor = { cursorParameter: "starting_after" };
const unlimited = { requestsPerMinute: 100_000 };

/** The list requests so far, in their order: which page, or which status. */
function pages(world: World): string[] {
  return world.service.control
    .requests()
    .filter(({ method, path }) => method === "GET" && path === "/v2/instances")
    .map(({ query }) => query["status"] ?? ("starting_after" in query ? "next" : "first"));
}

/** Creates them all with a cursor; resolves to the list requests of some looks in the meantime. */
async function createAll(world: World): Promise<string[]> {
  const { service, stack } = world;
  const running = stack.up(await world.plugin({ ...unlimited, ...cursor }), program);
  await until(() => world.instances.length === count);
  service.control.forgetRequests();
  await until(() => pages(world).length >= 20);
  const looks = pages(world);
  service.control.settle();
  expect((await running).failed).toEqual({});
  world.expectAllHeld();
  return looks;
}

async function refreshAll(world: World, settings: Settings): Promise<string[]> {
  world.service.control.forgetRequests();
  const { failed } = await world.stack.refresh(await world.plugin({ ...unlimited, ...settings }));
  expect(failed).toEqual({});
  expect(world.stack.ids).toHaveLength(count);
  expect(world.service.counts()["GET /v2/account"]).toBe(1);
  return pages(world);
}

test("300 instances: a look is three pages, a refresh of all is one look", async () => {
  const service = { ...cursor, provisioningSeconds: Infinity, requestsPerMinute: 100_000 };
  await withWorld(service, async (world) => {
    const looks = (await createAll(world)).join(" ");
    // One look may have been under way when the last instance was made.
    expect(looks).toMatch(/^(next ){0,2}(first next next ?)+(first)?( next)?$/);
    expect(await refreshAll(world, cursor)).toEqual(["first", "next", "next"]);
    // Without the cursor, one page of each status: none of the 200 that it does not show is forgotten.
    const byStatus = ["first", "PROVISIONING", "ACTIVE", "OFFLINE"];
    expect(await refreshAll(world, {})).toEqual(byStatus);
  });
});
