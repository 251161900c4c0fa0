/** G1: Ctrl-C around the POST. */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { impatient } from "./support/plugin";
import { inputs } from "./support/stack";
import { pause } from "./support/until";
import { withWorld } from "./support/world";

const web = { web: inputs() };

test.each(["/v2/account", "/v2/instances"])(
  "Ctrl-C before the POST (while GET %s hangs): nothing is sent, and the call is CANCELLED",
  async (path) => {
    await withWorld({}, async (world) => {
      const plugin = await world.plugin();
      const hang = world.service.control.fault({ kind: "hang", method: "GET", path });
      const running = world.stack.up(plugin, web);
      await hang.firstHit;
      await plugin.client.cancel();
      expect((await running).failure.code).toBe(status.CANCELLED);
      hang.release();
      expect(world.posts).toBe(0);
      expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
      expect(world.posts).toBe(1);
    });
  },
);

test("after Ctrl-C no further create is begun, until a new engine comes", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin();
    await plugin.client.cancel();
    expect((await world.stack.up(plugin, web)).failure.code).toBe(status.CANCELLED);
    expect(world.service.control.requests()).toEqual([]);
    await plugin.client.handshake(plugin.engine.address);
    // Its session is a new one, which has settings of its own.
    expect((await world.stack.up(plugin, web)).failure.message).toMatch(/before it was configured/);
    await plugin.greet();
    expect((await world.stack.up(plugin, web)).failed).toEqual({});
  });
});

test("Ctrl-C while the POST hangs: the answer, when it comes in the grace, brings the id back", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin();
    const hang = world.service.control.fault({ kind: "hang", method: "POST", acted: true });
    const running = world.stack.up(plugin, web);
    await hang.firstHit;
    await plugin.client.cancel();
    await plugin.client.cancel();
    await pause(200);
    hang.release();
    const { failure } = await running;
    expect(failure.unfinished).toMatchObject({ id: world.ids[0], refreshBeforeUpdate: true });
    world.expectAllHeld();
    expect((await world.stack.up(await world.plugin(), web)).did).toEqual(["read web", "same web"]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test("Ctrl-C while the POST hangs for good: the person is told, and the next run takes it over", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin(impatient);
    const hang = world.service.control.fault({ kind: "hang", method: "POST", acted: true });
    const running = world.stack.up(plugin, web);
    await hang.firstHit;
    await plugin.client.cancel();
    const { failure } = await running;
    expect(failure.message).toMatch(/Whether "web-[a-z2-7]{8}" was created is not known/);
    const next = await world.plugin();
    expect((await world.stack.up(next, web)).failed).toEqual({});
    expect(await next.warning(/taken over/)).toContain(world.ids[0]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test("a time-out while the POST hangs: the answer still brings the id back", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin();
    const hang = world.service.control.fault({ kind: "hang", method: "POST", acted: true });
    const running = world.stack.up(plugin, web, { timeoutSeconds: 3 });
    await hang.firstHit;
    await pause(3000);
    hang.release();
    const { failure } = await running;
    expect(failure.unfinished?.id).toBe(world.ids[0]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});
