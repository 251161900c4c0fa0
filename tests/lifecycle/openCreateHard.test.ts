/** G2: the branches of an open create that are not decided by one look. */
import { expect, test } from "@jest/globals";
import { impatient } from "./support/plugin";
import { inputs } from "./support/stack";
import { until } from "./support/until";
import { withWorld } from "./support/world";

const explicit = { web: inputs({ name: "db" }) };
const lost = { kind: "reset", method: "POST", acted: true } as const;

test.concurrent(
  "a connection that is refused is tried again, and exactly one instance is made",
  async () => {
    await withWorld({}, async (world) => {
      const plugin = await world.plugin();
      await world.stack.up(plugin, { first: inputs() });
      const refused = world.refuseConnections(plugin);
      const running = world.stack.up(plugin, { first: inputs(), web: inputs() });
      await refused;
      await world.service.acceptConnections();
      expect((await running).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent(
  "a service that refuses connections: nothing was sent, which the error says",
  async () => {
    await withWorld({}, async (world) => {
      await world.service.refuseConnections();
      const { failure } = await world.stack.up(await world.plugin(), explicit);
      expect(failure.message).toMatch(/refused.*Nothing was sent/);
      await world.service.acceptConnections();
      expect((await world.stack.up(await world.plugin(), explicit)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(1);
    });
  },
);

test.concurrent(
  "an instance that turns up after the look, before the next run: that run takes it over",
  async () => {
    await withWorld({}, async (world) => {
      const { control } = world.service;
      control.fault({ kind: "omitItem", method: "GET", times: "always" });
      control.fault(lost);
      const { failure } = await world.stack.up(await world.plugin(), { web: inputs() });
      expect(failure.message).toMatch(
        /no instance named "web-[a-z2-7]{8}" turned up within 0\.6 s/,
      );
      control.clearFaults();
      expect((await world.stack.up(await world.plugin(), { web: inputs() })).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(1);
    });
  },
);

test.concurrent("an instance that turns up within the settling time is adopted", async () => {
  await withWorld({}, async (world) => {
    world.service.control.fault({ kind: "appearsAfter", seconds: 1, method: "POST" });
    world.service.control.fault(lost);
    const plugin = await world.plugin({ settlingSeconds: 5 });
    expect((await world.stack.up(plugin, { web: inputs() })).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test.concurrent(
  "several candidates: an error names them all, with the commands, and nothing more is sent",
  async () => {
    await withWorld({}, async (world) => {
      const { control } = world.service;
      const hang = control.fault({ kind: "hang", method: "POST", acted: true });
      const running = world.stack.up(await world.plugin(impatient), explicit);
      await hang.firstHit;
      control.insert({ name: "db" });
      const { failure } = await running;
      expect(world.ids).toHaveLength(2);
      for (const id of world.ids) expect(failure.message).toContain(id);
      expect(failure.message).toContain("pulumi import compute:index:Instance web");
      expect(failure.message).toContain("discard");
      expect(world.posts).toBe(1);
    });
  },
);

test.concurrent("an instance of that name that was there before is never adopted", async () => {
  await withWorld({}, async (world) => {
    const { id } = world.service.control.insert({ name: "db" });
    world.service.control.fault({ kind: "reset", method: "POST" });
    const { failure } = await world.stack.up(await world.plugin(), explicit);
    expect(failure.message).toMatch(/not known/);
    expect(failure.message).not.toContain(id);
    world.service.control.fault(lost);
    const second = (await world.stack.up(await world.plugin(), explicit)).failure.message;
    expect(second).toContain(world.ids.find((other) => other !== id));
    expect(second).not.toContain(id);
    expect(world.stack.ids).toEqual([]);
  });
});

test.concurrent(
  "a baseline that is not complete: a generated name is proof, an explicit one is not",
  async () => {
    await withWorld({ provisioningSeconds: Infinity }, async (world) => {
      const { control } = world.service;
      world.crowd(120);
      control.fault({ ...lost, times: 2 });
      const program = { web: inputs(), db: inputs({ name: "db" }) };
      const running = world.stack.up(await world.plugin(), program);
      await until(() => world.posts === 2);
      // While an instance is PROVISIONING, a listing of that status shows it.
      const before = world.listings;
      await until(() => world.listings >= before + 20);
      control.settle();
      const run = await running;
      const [db] = world.instances.filter(({ name }) => name === "db");
      expect(Object.keys(run.failed)).toEqual(["db"]);
      expect(run.failed["db"]?.message).toMatch(/not one that the provider made up/);
      expect(run.failed["db"]?.message).toContain(
        `pulumi import compute:index:Instance db ${db?.id}`,
      );
      const made = world.instances.find(({ name }) => name.startsWith("web-"));
      expect(world.stack.ids).toEqual([made?.id]);
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent("a look that is not complete: no repeat, even after an answered 503", async () => {
  await withWorld({}, async (world) => {
    world.crowd(120);
    world.service.control.fault({ kind: "status", status: 503, method: "POST" });
    const { failure } = await world.stack.up(await world.plugin(), { web: inputs() });
    expect(failure.message).toMatch(/not complete/);
    expect(world.posts).toBe(1);
  });
});
