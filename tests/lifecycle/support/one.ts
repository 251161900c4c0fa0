import { expect } from "@jest/globals";
import type { Settings } from "./plugin";
import type { World } from "./world";

/** The refresh fails, names what the person needs, and changes nothing. */
export async function expectKept(world: World, settings: Settings, message: RegExp): Promise<void> {
  const before = world.stack.held();
  const { failure } = await world.stack.refresh(await world.plugin(settings));
  expect(failure.unfinished).toBeUndefined();
  expect(failure.message).toMatch(message);
  expect(world.stack.held()).toEqual(before);
}
