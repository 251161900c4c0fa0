/** A world with one instance that was made well, and what may never happen to it. */
import { expect } from "@jest/globals";
import type { Settings } from "./plugin";
import { inputs } from "./stack";
import { withWorld, type World } from "./world";

export async function withOne(body: (world: World) => Promise<void>, cursorParameter?: string) {
  await withWorld({ cursorParameter }, async (world) => {
    expect((await world.stack.up(await world.plugin(), { web: inputs() })).failed).toEqual({});
    await body(world);
  });
}

/** The refresh fails, names what the person needs, and changes nothing. */
export async function expectKept(world: World, settings: Settings, message: RegExp): Promise<void> {
  const before = world.stack.held();
  const { failure } = await world.stack.refresh(await world.plugin(settings));
  expect(failure.unfinished).toBeUndefined();
  expect(failure.message).toMatch(message);
  expect(world.stack.held()).toEqual(before);
}
