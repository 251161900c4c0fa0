/** G1: a run that dies around the POST is not silent; the run after it looks first. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/property/value";
import { inputs, Stack, urnOf, type Program } from "./support/stack";
import { until } from "./support/until";
import { userData, withWorld, type World } from "./support/world";

const web = { web: inputs({ userData: new Secret(userData) }) };

/** Kills the plugin when its POST has reached the service and is not answered. */
async function killed(world: World, program: Program, acted: boolean): Promise<void> {
  const plugin = await world.plugin();
  const hang = world.service.control.fault({ kind: "hang", method: "POST", acted });
  const running = world.stack.up(plugin, program);
  await hang.firstHit;
  if (acted) await until(() => world.ids.length > 0);
  world.kill(plugin);
  await running;
  expect(world.stack.ids).toEqual([]);
  world.stack.told.length = 0;
}

test("killed after the service acted: the next run takes the same instance over", async () => {
  await withWorld({}, async (world) => {
    await killed(world, web, true);
    expect(readdirSync(world.journal)).toHaveLength(1);
    const next = await world.plugin();
    expect((await world.stack.up(next, web)).failed).toEqual({});
    expect(await next.warning(/taken over/)).toContain(world.ids[0]);
    world.expectAllHeld();
    // The next call that carries the id settles it.
    expect((await world.stack.up(await world.plugin(), web)).did).toEqual(["same web"]);
    expect(readdirSync(world.journal)).toEqual([]);
    expect(world.posts).toBe(1);
  });
});

test("killed before the service acted: the next run looks, and then creates exactly one", async () => {
  await withWorld({}, async (world) => {
    await killed(world, web, false);
    const listings = world.listings;
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    const order = world.service.control.requests().map(({ method }) => method);
    expect(order.slice(0, order.lastIndexOf("POST"))).toContain("GET");
    expect(world.listings).toBeGreaterThan(listings);
    world.expectAllHeld();
    expect(world.instances).toHaveLength(1);
    expect(world.posts).toBe(2);
  });
});

test("killed after the id was there, before the engine had it: the next run takes it over", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin();
    const running = world.stack.up(plugin, web);
    await until(() => world.listings >= 2);
    world.kill(plugin);
    await running;
    world.service.control.settle();
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test("killed, and the program asks for another instance: fails before any POST, with both commands", async () => {
  await withWorld({}, async (world) => {
    await killed(world, web, true);
    const other = { web: inputs({ flavorId: "kvm-2" }) };
    const [id = ""] = world.ids;
    for (let run = 0; run < 2; run++) {
      const { failure } = await world.stack.up(await world.plugin(), other);
      expect(failure.message).toContain(`pulumi import compute:index:Instance web ${id}`);
      expect(failure.message).toMatch(new RegExp(`discard '?${urnOf("web")}`));
    }
    expect(world.posts).toBe(1);
    const plugin = await world.plugin();
    await world.stack.import(plugin, "web", id);
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(readdirSync(world.journal)).toEqual([]);
    world.expectAllHeld();
  });
});

test("an open create that is proven gone is forgotten, and another is made", async () => {
  await withWorld({}, async (world) => {
    await killed(world, web, true);
    world.service.control.remove(world.ids[0] ?? "");
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    expect(world.instances).toHaveLength(1);
    world.expectAllHeld();
    expect(world.posts).toBe(2);
  });
});

test("several instances could be the open create's: an error names them, and nothing is sent", async () => {
  await withWorld({}, async (world) => {
    const named = { web: inputs({ name: "db" }) };
    await killed(world, named, true);
    world.service.control.insert({ name: "db" });
    const { failure } = await world.stack.up(await world.plugin(), named);
    for (const id of world.ids) expect(failure.message).toContain(id);
    expect(world.posts).toBe(1);
  });
});

test.each(["{", "", "null", '{"id":7}', "\0\u00ff"])(
  "an entry that holds %j is a warning at most",
  async (text) => {
    await withWorld({}, async (world) => {
      await killed(world, web, false);
      const [entry = ""] = readdirSync(world.journal);
      writeFileSync(join(world.journal, entry), text);
      const plugin = await world.plugin();
      expect((await world.stack.up(plugin, web)).failed).toEqual({});
      expect(await plugin.warning(/journal/)).toContain(entry);
      world.expectAllHeld();
    });
  },
);

test.each(["a file where the folder should be", "a folder that can't be written"])(
  "%s: one warning, and all is created",
  async (what) => {
    await withWorld({}, async (world) => {
      mkdirSync(dirname(world.journal), { recursive: true });
      if (what.startsWith("a file")) writeFileSync(world.journal, "");
      else mkdirSync(join(world.journal, "x"), { recursive: true });
      if (what.startsWith("a folder")) chmodSync(world.journal, 0o500);
      const plugin = await world.plugin();
      const program = { web: inputs(), db: inputs(), mail: inputs() };
      expect((await world.stack.up(plugin, program)).failed).toEqual({});
      const unwritable = process.getuid?.() !== 0 || what.startsWith("a file");
      const warnings = (await plugin.allWarnings()).filter((text) => text.includes("journal"));
      expect(warnings).toHaveLength(unwritable ? 1 : 0);
      expect((await world.stack.refresh(plugin)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(3);
    });
  },
);

test("two processes at once with one home keep apart what each left open", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.fault({ kind: "reset", method: "POST", acted: true, times: "always" });
    control.fault({ kind: "omitItem", method: "GET", times: "always" });
    const names = ["a", "b", "c", "d"];
    const runs = names.map(async (name) => {
      const stack = new Stack();
      return (await stack.up(await world.plugin(), { [name]: inputs() })).failure.message;
    });
    for (const message of await Promise.all(runs)) expect(message).toMatch(/is not known/);
    expect(readdirSync(world.journal)).toHaveLength(names.length);
    control.clearFaults();
    const program = Object.fromEntries(names.map((name) => [name, inputs()]));
    expect((await world.stack.up(await world.plugin(), program)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(names.length);
  });
});
