/**
 * Tests Ctrl-C as it arrives over gRPC: no created instance is lost (G1). The tests in provider/instance and the
 * simulation show what a create, a wait and the next run do after it.
 */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const web = { web: inputs() };

test("after Ctrl-C before the POST, no POST is sent and creates fail with CANCELLED until a new engine connects", () =>
  withWorld({}, async (world) => {
    const plugin = await world.plugin();
    const hang = world.service.control.fault({ kind: "hang", method: "GET", path: "/v2/account" });
    const running = world.stack.up(plugin, web);
    await hang.firstHit;
    await plugin.client.cancel();
    expect((await running).failure.code).toBe(status.CANCELLED);
    hang.release();
    expect((await world.stack.up(plugin, web)).failure.code).toBe(status.CANCELLED);
    expect(world.posts).toBe(0);

    await plugin.client.handshake(plugin.engine.address);
    // The new engine has a new session, which is not configured yet.
    expect((await world.stack.up(plugin, web)).failure.message).toMatch(/before it was configured/);
    await plugin.greet();
    expect((await world.stack.up(plugin, web)).failed).toEqual({});
    world.expectAllHeld();
  }));

test("after Ctrl-C while the POST hangs, an answer within the grace period still returns the id", () =>
  withWorld({}, async (world) => {
    const plugin = await world.plugin();
    const hang = world.service.control.fault({ kind: "hang", method: "POST", acted: true });
    const running = world.stack.up(plugin, web);
    await hang.firstHit;
    await plugin.client.cancel();
    await plugin.client.cancel();
    hang.release();
    const { failure } = await running;
    expect(failure.code).toBe(status.UNKNOWN);
    expect(failure.unfinished).toMatchObject({ id: world.ids[0], refreshBeforeUpdate: true });
    world.expectAllHeld();
    expect((await world.stack.up(await world.plugin(), web)).did).toEqual(["read web", "same web"]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  }));
