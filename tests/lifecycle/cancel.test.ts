/**
 * Tests Ctrl-C as it arrives over gRPC: no created instance is lost (G1). The tests in provider/instance and the
 * simulation show what a create, a wait and the next run do after it.
 */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const web = { web: inputs() };

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
