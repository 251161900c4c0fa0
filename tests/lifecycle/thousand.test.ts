/**
 * 100, some hundreds and 1000 instances, with a cursor and without: what a listing of 100 lets anyone see,
 * and what the provider makes of it (G7; docs/scaling.md, "A thousand instances without a cursor").
 */
import { expect, test } from "@jest/globals";
import { propertyMap } from "../../provider/property/value";
import { inputs, type Program } from "./support/stack";
import { until } from "./support/until";
import { withWorld, type World } from "./support/world";

const cursor = { cursorParameter: "starting_after" };
const limit = 1_000_000;

function program(count: number): Program {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`web-${n}`, inputs()]));
}

/**
 * A world in which `count` were made by one run; `most` were PROVISIONING at any moment. With a cursor
 * none becomes ACTIVE before all have been sent.
 */
async function withThousand(
  { count, paged }: { count: number; paged: boolean },
  body: (world: World, made: { most: number; warnings: string[] }) => Promise<void>,
): Promise<void> {
  const provisioningSeconds = paged ? Infinity : 0.5;
  const options = { requestsPerMinute: limit, provisioningSeconds, destroyPath };
  await withWorld({ ...options, ...(paged && cursor) }, async (world) => {
    const plugin = await world.plugin(settings(paged));
    let most = 0;
    const pending = () => world.instances.filter(({ status }) => status === "PROVISIONING").length;
    const watch = setInterval(() => (most = Math.max(most, pending())), 20);
    try {
      const up = world.stack.up(plugin, program(count));
      if (paged) {
        await until(() => pending() === count);
        world.service.control.settle();
      }
      expect((await up).failed).toEqual({});
    } finally {
      clearInterval(watch);
    }
    expect(world.posts).toBe(count);
    world.expectAllHeld();
    await body(world, { most, warnings: await plugin.allWarnings() });
  });
}

const destroyPath = "/v2/instances/{id}";
const settings = (paged: boolean) => ({
  ...{ requestsPerMinute: limit, requestTimeoutSeconds: 30, destroyPath },
  ...(paged && cursor),
});

async function expectDestroyed(world: World, paged: boolean): Promise<void> {
  const plugin = await world.plugin(settings(paged));
  expect((await world.stack.destroy(plugin)).failed).toEqual({});
  expect(world.instances).toEqual([]);
  expect(world.stack.ids).toEqual([]);
  expect(await plugin.allWarnings()).toEqual([]);
}

// As many as pages hold, and one more.
test.each([100, 301, 1000])(
  "with a cursor, %d are created, read and destroyed, each seen, and none held back",
  async (count) => {
    await withThousand({ count, paged: true }, async (world, { warnings }) => {
      expect(warnings).toEqual([]);
      for (const { outputs } of world.stack.resources.values()) {
        expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: expect.any(String) });
      }
      world.service.control.forgetRequests();
      expect((await world.stack.refresh(await world.plugin(settings(true)))).failed).toEqual({});
      // G7: by the pages and the time it took (a look serves for two seconds), not by the instances.
      const looks = 2 + world.seconds / 2;
      expect(world.listings).toBeLessThanOrEqual(looks * Math.ceil((count + 1) / 100));
      world.expectAllHeld();
      await expectDestroyed(world, true);
    });
  },
);

test("without a cursor, 100 are all that a listing shows: nothing is missing", async () => {
  await withThousand({ count: 100, paged: false }, async (world, { warnings }) => {
    expect(warnings).toEqual([]);
    for (const { outputs } of world.stack.resources.values()) {
      expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: expect.any(String) });
    }
    const plugin = await world.plugin(settings(false));
    expect((await world.stack.refresh(plugin)).failed).toEqual({});
    expect(await plugin.allWarnings()).toEqual([]);
    await expectDestroyed(world, false);
  });
});

test.each([300, 1000])(
  "without a cursor, %d are made a hundred at a time, each with the address it was seen with; one warning a run",
  async (count) => {
    await withThousand({ count, paged: false }, async (world, { most, warnings }) => {
      expect(most).toBeLessThanOrEqual(100);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/do not reach it: its (status|ipv4) is not known/);
      const all = [...world.stack.resources.values()];
      for (const { id, outputs } of all) {
        // Never a wrong state: what it says of the address is what the service has.
        const ipv4 = world.service.control.instance(id)?.ipv4_public;
        expect([ipv4, undefined]).toContain(outputs["ipv4"]);
      }
      const addressed = all.filter(({ outputs }) => outputs["ipv4"] !== undefined);
      expect(addressed.length).toBeGreaterThanOrEqual(100);

      const ids = world.stack.ids;
      const plugin = await world.plugin(settings(false));
      const before = world.listings;
      expect((await world.stack.refresh(plugin)).failed).toEqual({});
      // Four a listing, and a listing serves for two seconds: so many on a busy machine, not 1000.
      expect(world.listings - before).toBeLessThan(60);
      expect(world.stack.ids).toEqual(ids);
      expect(await plugin.allWarnings()).toEqual([
        expect.stringMatching(/kept as the state has it/),
      ]);

      const { client } = plugin;
      const found = await client.invoke("compute:index:getInstances", propertyMap({}));
      expect(found.outputs).toMatchObject({ complete: false });

      // While more are left than a listing shows, that one is gone can't be proven: it stays in the
      // state, and the next run ends it.
      const first = await world.plugin(settings(false));
      for (const { message } of Object.values((await world.stack.destroy(first)).failed)) {
        expect(message).toMatch(/that it is gone can't be proven/);
      }
      await expectDestroyed(world, false);
    });
  },
);

test("without a cursor, each is seen while it is PROVISIONING, so that its address is known", async () => {
  const options = { requestsPerMinute: limit, provisioningSeconds: Infinity };
  await withWorld(options, async (world) => {
    const plugin = await world.plugin(settings(false));
    const up = world.stack.up(plugin, program(250));
    for (const most of [100, 200, 250]) {
      await until(() => world.posts === most);
      // The requests of two listings: one of them was begun after the last of these POSTs.
      const before = world.listings;
      await until(() => world.listings >= before + 8);
      expect(world.posts).toBe(most);
      world.service.control.settle();
    }
    expect((await up).failed).toEqual({});
    for (const { id, outputs } of world.stack.resources.values()) {
      expect(outputs["ipv4"]).toBe(world.service.control.instance(id)?.ipv4_public);
    }
  });
});

test("Ctrl-C while creates are held back: what was sent is kept, what was not is not made", async () => {
  const options = { requestsPerMinute: limit, provisioningSeconds: Infinity };
  await withWorld(options, async (world) => {
    const plugin = await world.plugin(settings(false));
    const up = world.stack.up(plugin, program(120));
    const held = () => plugin.logged.filter(({ message }) => message.includes("held back")).length;
    await until(() => world.instances.length === 100 && held() >= 20);
    await plugin.client.cancel();
    const failed = Object.values((await up).failed);
    expect(failed).toHaveLength(120);
    expect(failed.filter(({ unfinished }) => unfinished !== undefined)).toHaveLength(100);
    expect(world.posts).toBe(100);
    world.expectAllHeld();
  });
});
