/** G1: from the 202 on, every way out keeps the id, and the next run goes on with that instance. */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import type { Plugin } from "./support/plugin";
import { inputs } from "./support/stack";
import { pause, until } from "./support/until";
import { testToken, withWorld, type World } from "./support/world";

const web = { web: inputs() };
const pending = { provisioningSeconds: Infinity };

/** Creates, ends the wait in that way, and finishes in the next run: always with the one instance. */
async function interrupted(
  endWait: (world: World, plugin: Plugin) => Promise<void> | void,
  mend: (world: World) => Promise<void> | void,
  reason: RegExp,
  timeoutSeconds = 0,
): Promise<void> {
  await withWorld(pending, async (world) => {
    const { stack, service } = world;
    const plugin = await world.plugin();
    const running = stack.up(plugin, web, { timeoutSeconds });
    await until(() => world.listings >= 2);
    await endWait(world, plugin);
    const { failure } = await running;
    expect(failure.code).toBe(status.UNKNOWN);
    expect(failure.unfinished?.reasons.join()).toMatch(reason);
    expect(stack.held()).toMatchObject({ id: world.ids[0], refreshBeforeUpdate: true });
    expect(stack.held().outputs["networks"]).toHaveLength(1);
    world.expectAllHeld();

    await mend(world);
    const next = await world.plugin();
    const going = stack.up(next, web, { timeoutSeconds: 60 });
    await until(() => next.said(/PROVISIONING/));
    service.control.settle();
    const run = await going;
    expect(Object.keys(run.failed)).toEqual([]);
    expect(run.did).toEqual(["update web"]);
    expect(stack.held()).toMatchObject({ id: world.ids[0], initErrors: [] });
    expect(stack.held().outputs).toMatchObject({ status: "ACTIVE" });
    expect(stack.held().outputs["networks"]).toHaveLength(1);
    expect((await stack.up(await world.plugin(), web)).did).toEqual(["same web"]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
}

const nothing = () => undefined;
const lookInVain = (plugin: Plugin) => until(() => plugin.said(/last look failed, trying again/));

test.concurrent("a time-out during the wait keeps the instance", () =>
  interrupted(nothing, nothing, /PROVISIONING for 5 s \(customTimeouts\)/, 5),
);

test.concurrent("Ctrl-C during the wait keeps the instance", () =>
  interrupted((_, plugin) => plugin.client.cancel(), nothing, /was canceled/),
);

test.concurrent("a token revoked during the wait keeps the instance", () =>
  interrupted(
    ({ service }) => service.control.declareToken(testToken, { state: "revoked" }),
    ({ service }) => service.control.declareToken(testToken, {}),
    /revoked_token.*req_.*errors#revoked_token/,
  ),
);

test.concurrent("refused connections during the wait keep the instance", () =>
  interrupted(
    async ({ service }, plugin) => {
      await service.refuseConnections();
      await lookInVain(plugin);
      await plugin.client.cancel();
    },
    ({ service }) => service.acceptConnections(),
    /was canceled/,
  ),
);

test.concurrent.each(["<<<", "", '{"data":7}', "[]", '{"object":"list"}'])(
  "answers of %j during the wait keep the instance",
  (text) =>
    interrupted(
      async ({ service }, plugin) => {
        service.control.fault({ kind: "body", text, times: "always" });
        await lookInVain(plugin);
        await plugin.client.cancel();
      },
      ({ service }) => service.control.clearFaults(),
      /was canceled/,
    ),
);

test.concurrent("a service that comes back within the time-out fails nothing", async () => {
  await withWorld(pending, async (world) => {
    const plugin = await world.plugin();
    const running = world.stack.up(plugin, web, { timeoutSeconds: 60 });
    await until(() => world.listings >= 2);
    await world.refuseConnections(plugin);
    await world.service.acceptConnections();
    world.service.control.settle();
    expect((await running).failed).toEqual({});
    world.expectAllHeld();
  });
});

test.concurrent(
  "a refresh keeps an instance in PROVISIONING marked unfinished; a .get() of it succeeds; an import of it is unfinished",
  async () => {
    await withWorld(pending, async (world) => {
      const { stack } = world;
      await world.leaveUnfinished(await world.plugin(), web);
      const plugin = await world.plugin();
      const { id } = stack.held();
      const { failure } = await stack.refresh(plugin);
      expect(failure.unfinished).toMatchObject({ id, refreshBeforeUpdate: true });
      expect(stack.held().inputs).toMatchObject({ flavorId: "kvm-1" });
      const got = await plugin.client.read({ id, inputs: {}, outputs: {} });
      expect(got).toMatchObject({ id, outputs: { status: "PROVISIONING" } });
      const imported = await stack.import(plugin, "other", id);
      expect(imported.failure.unfinished).toMatchObject({
        id,
        inputs: { name: expect.any(String) },
      });
    });
  },
);

test.concurrent(
  "OFFLINE is done, with a warning; a status that is not known is unfinished and named",
  async () => {
    await withWorld({ endStatus: "OFFLINE" }, async (world) => {
      const { stack, service } = world;
      const plugin = await world.plugin();
      expect((await stack.up(plugin, web)).failed).toEqual({});
      expect(await plugin.warning(/is OFFLINE/)).toContain(stack.held().id);
      service.control.fault({ kind: "endsAs", status: "RESCUED" });
      const both = { ...web, odd: inputs() };
      expect((await stack.up(plugin, both)).failure.message).toContain('"RESCUED"');
      world.expectAllHeld();
      service.control.setStatus(stack.held("odd").id, "ACTIVE");
      expect((await stack.up(await world.plugin(), both)).failed).toEqual({});
      expect(stack.held("odd").outputs).toMatchObject({ status: "ACTIVE" });
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent(
  "an instance that goes away during the wait is told of, and made anew by the next run",
  async () => {
    await withWorld(pending, async (world) => {
      const { stack, service } = world;
      const plugin = await world.plugin();
      const running = stack.up(plugin, web);
      await until(() => world.listings >= 3);
      service.control.remove(world.ids[0] ?? "");
      expect((await running).failure.message).toMatch(/gone from two complete listings/);
      const going = stack.up(await world.plugin(), web);
      await until(() => world.instances.length === 1);
      service.control.settle();
      expect((await going).did).toEqual(["gone web", "create web"]);
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent.each(["Ctrl-C", "kill -9"])(
  "an accepted instance that listings do not show yet is not forgotten by the run after %s",
  async (end) => {
    await withWorld({}, async (world) => {
      const { stack, service } = world;
      service.control.fault({ kind: "appearsAfter", seconds: 0.5, method: "POST" });
      const plugin = await world.plugin();
      const running = stack.up(plugin, web);
      await until(() => world.ids.length === 1);
      // The 202 is on its way.
      await pause(50);
      if (end === "Ctrl-C") await plugin.client.cancel();
      else world.kill(plugin);
      await running;
      const next = await world.plugin({ settlingSeconds: 5 });
      expect((await stack.up(next, web)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(1);
    });
  },
);
