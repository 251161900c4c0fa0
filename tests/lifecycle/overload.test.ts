/** A slow and overloaded service: each answer is late, one in five is a 503, acted on or not (G1, G2). */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";
import { seeded } from "../../emulator/random";

/** A second of the story in milliseconds of the test: time-outs, polls and settling are as scaled. */
const second = 40;
const scaled = {
  requestTimeoutSeconds: (30 * second) / 1000,
  pollIntervalSeconds: (3 * second) / 1000,
  settlingSeconds: (60 * second) / 1000,
};
const count = 40;
const program = Object.fromEntries(Array.from({ length: count }, (_, n) => [`web-${n}`, inputs()]));

test.concurrent.each([1, 2, 3])(
  "5 s for each answer, every fifth a 503: each instance is made once (seed %i)",
  async (seed) => {
    const random = seeded(seed);
    await withWorld({ provisioningSeconds: (5 * second) / 1000, random }, async (world) => {
      const { control } = world.service;
      control.fault({ kind: "delay", milliseconds: 5 * second, times: "always" });
      for (const acted of [true, false]) {
        const probability = acted ? 0.1 : 0.1 / 0.9;
        control.fault({ kind: "status", status: 503, acted, probability, times: "always" });
      }
      let runs = 0;
      let failures: number;
      do {
        const plugin = await world.plugin(scaled);
        const { failed } = await world.stack.up(plugin, program);
        // Whatever failed is in the state, or made nothing, or is named.
        const told = [...world.stack.told, ...(await plugin.allWarnings())].join("\n");
        const unknown = world.ids.filter((id) => !world.stack.ids.includes(id));
        expect(unknown.filter((id) => !told.includes(id))).toEqual([]);
        plugin.stop();
        failures = Object.keys(failed).length;
        runs++;
      } while (failures > 0 && runs < 10);

      expect(failures).toBe(0);
      world.expectAllHeld();
      expect(world.instances).toHaveLength(count);
      expect(new Set(world.instances.map(({ name }) => name)).size).toBe(count);
      const requests = control.requests();
      const broken = requests.filter(({ status }) => status === 503).length;
      reportFigures(`an overloaded service, seed ${seed}`, {
        instances: world.instances.length,
        POSTs: world.posts,
        requests: requests.length,
        "503s": broken,
        runs,
      });
    });
  },
);
