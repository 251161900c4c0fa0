/** G1: a run that dies around the POST is not silent; the run after it looks first. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/property/value";
import { inputs, Stack, type Program } from "./support/stack";
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
    expect(world.pending).toMatchObject([{ stage: "sending" }]);
    const next = await world.plugin();
    expect((await world.stack.up(next, web)).failed).toEqual({});
    expect(await next.warning(/taken over/)).toContain(world.ids[0]);
    world.expectAllHeld();
    // The next run's call that carries the id settles it: its outputs have an earlier run's stamp.
    expect((await world.stack.up(await world.plugin(), web)).did).toEqual(["same web"]);
    expect(world.records).toMatchObject([{ stage: "settled", settled: "state" }]);
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
      expect(failure.message).toContain(`discard ${world.pending[0]?.key}`);
    }
    expect(world.posts).toBe(1);
    const plugin = await world.plugin();
    await world.stack.import(plugin, "web", id);
    expect((await world.stack.refresh(await world.plugin())).did).toEqual(["read web"]);
    expect(world.pending).toEqual([]);
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
    await killed(world, web, true);
    world.service.control.insert({ name: world.instances[0]?.name ?? "" });
    const { failure } = await world.stack.up(await world.plugin(), web);
    for (const id of world.ids) expect(failure.message).toContain(id);
    expect(world.posts).toBe(1);
  });
});

test("killed under an explicit name: what turned up is named with its import, and not taken over", async () => {
  await withWorld({}, async (world) => {
    const named = { web: inputs({ name: "db" }) };
    await killed(world, named, true);
    const [id = ""] = world.ids;
    const { failure } = await world.stack.up(await world.plugin(), named);
    expect(failure.message).toContain(`pulumi import compute:index:Instance web ${id}`);
    expect(failure.message).toContain(`discard ${world.pending[0]?.key}`);
    await world.stack.import(await world.plugin(), "web", id);
    expect((await world.stack.up(await world.plugin(), named)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test("killed after the answer was written, which nothing saved: no second create, and the way out works", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin();
    await world.stack.up(plugin, web);
    world.kill(plugin);
    const [id = ""] = world.ids;
    world.stack.resources.clear();
    const { failure } = await world.stack.up(await world.plugin(), web);
    expect(failure.message).toContain(`the engine was given instance ${id}`);
    expect(failure.message).toContain(`pulumi import compute:index:Instance web ${id}`);
    expect(world.posts).toBe(1);
    await world.stack.import(await world.plugin(), "web", id);
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    expect(world.pending).toEqual([]);
    world.expectAllHeld();
  });
});

test("the engine is killed while its plugin waits: nobody heard the answer, and the next run takes it over", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin();
    const running = world.stack.up(plugin, web);
    await until(() => world.listings >= 2);
    await plugin.loseEngine();
    await running;
    expect(world.stack.ids).toEqual([]);
    world.service.control.settle();
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test("another machine, with nothing of the killed run's: its instance is named before the POST", async () => {
  await withWorld({}, async (world) => {
    await killed(world, web, true);
    const [lost = ""] = world.ids;
    world.homes.push(world.newHome());
    const next = await world.plugin();
    expect((await world.stack.up(next, web)).failed).toEqual({});
    await until(() => next.leftovers.length > 0);
    expect(next.leftovers.join()).toContain(
      `pulumi import compute:index:Instance '<name>' ${lost}`,
    );
    expect(world.posts).toBe(2);
  });
});

test.each(["{", "", "null", '{"id":7}', "\0\u00ff"])(
  "a ledger file that holds %j is a warning at most",
  async (text) => {
    await withWorld({}, async (world) => {
      await killed(world, web, false);
      const [file = ""] = readdirSync(world.ledger).filter((name) => name.endsWith(".jsonl"));
      writeFileSync(join(world.ledger, file), text);
      const plugin = await world.plugin();
      expect((await world.stack.up(plugin, web)).failed).toEqual({});
      if (text !== "") expect(await plugin.warning(/ledger/)).toContain(file);
      world.expectAllHeld();
    });
  },
);

test.each(["a file where the folder should be", "a folder that can't be written"])(
  "%s: one warning, and all is created",
  async (what) => {
    await withWorld({}, async (world) => {
      mkdirSync(dirname(world.ledger), { recursive: true });
      if (what.startsWith("a file")) writeFileSync(world.ledger, "");
      else mkdirSync(join(world.ledger, "x"), { recursive: true });
      if (what.startsWith("a folder")) chmodSync(world.ledger, 0o500);
      const plugin = await world.plugin();
      const program = { web: inputs(), db: inputs(), mail: inputs() };
      expect((await world.stack.up(plugin, program)).failed).toEqual({});
      const unwritable = process.getuid?.() !== 0 || what.startsWith("a file");
      const warnings = (await plugin.allWarnings()).filter((text) => text.includes("ledger"));
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
      stack.scope = world.stack.scope;
      return (await stack.up(await world.plugin(), { [name]: inputs() })).failure.message;
    });
    for (const message of await Promise.all(runs)) expect(message).toMatch(/is not known/);
    expect(world.pending).toHaveLength(names.length);
    control.clearFaults();
    const program = Object.fromEntries(names.map((name) => [name, inputs()]));
    expect((await world.stack.up(await world.plugin(), program)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(names.length);
  });
});
