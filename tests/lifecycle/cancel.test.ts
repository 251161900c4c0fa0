/**
 * G1: Ctrl-C, as it comes over gRPC. What a create, a wait and the run after it do then is
 * shown by provider/instance/{create,finish,resume}.test.ts and the simulation.
 */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const web = { web: inputs() };

test("Ctrl-C before the POST: nothing is sent, and the call is CANCELLED, until a new engine comes", () =>
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
    // Its session is a new one, which has settings of its own.
    expect((await world.stack.up(plugin, web)).failure.message).toMatch(/before it was configured/);
    await plugin.greet();
    expect((await world.stack.up(plugin, web)).failed).toEqual({});
    world.expectAllHeld();
  }));

test("Ctrl-C while the POST hangs: the answer, when it comes in the grace, brings the id back", () =>
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
