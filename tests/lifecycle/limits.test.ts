/** G6 and G7: a storm of 429s fails nothing, and the service's limit is kept. */
import { expect, test } from "@jest/globals";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const program = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`web-${n}`, inputs()]));

test.concurrent.each([
  ["every path, Retry-After 0.05", { times: 12, retryAfter: "0.05" }],
  ["every path, no Retry-After", { times: 3 }],
  ["half of all requests", { times: 20, retryAfter: "0.05", probability: 0.5 }],
])("429s on %s: 10 instances are made once each, and nothing fails", async (_, storm) => {
  await withWorld({}, async (world) => {
    world.service.control.fault({ kind: "status", status: 429, ...storm });
    const plugin = await world.plugin();
    expect((await world.stack.up(plugin, program(10))).failed).toEqual({});
    world.expectAllHeld();
    expect(world.instances).toHaveLength(10);
    const acted = world.service.control.requests().filter((it) => it.method === "POST" && it.acted);
    expect(acted).toHaveLength(10);
    await world.stack.refresh(plugin);
    world.expectAllHeld();
  });
});

test("429s until the time-out of the create: an error, nothing was made, and the next run creates", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.fault({ kind: "status", status: 429, method: "POST", times: "always" });
    const run = await world.stack.up(await world.plugin(), program(1), { timeoutSeconds: 1.5 });
    expect(run.failure.unfinished).toBeUndefined();
    expect(world.instances).toEqual([]);
    control.clearFaults();
    expect((await world.stack.up(await world.plugin(), program(1))).failed).toEqual({});
    world.expectAllHeld();
  });
});
