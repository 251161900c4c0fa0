/** How a run ends once something has gone wrong: by itself, by the person, or by a crash. */
import type { Plugin } from "../support/plugin";
import { pause } from "../support/until";
import type { World } from "../support/world";

export type End = (world: World, plugin: Plugin) => Promise<void>;

export const ends = {
  "the engine goes on": async () => undefined,
  "Ctrl-C": async (_, plugin) => plugin.client.cancel(),
  // At the second one the engine ends its plugins and saves no more answers.
  "Ctrl-C twice": async (world, plugin) => {
    await plugin.client.cancel();
    await pause(20);
    world.kill(plugin);
  },
  "the plugin is killed": async (world, plugin) => world.kill(plugin),
  "the engine is killed": async (_, plugin) => plugin.loseEngine(),
} satisfies Record<string, End>;

export type EndName = keyof typeof ends;
export const endNames = Object.keys(ends) as EndName[];
