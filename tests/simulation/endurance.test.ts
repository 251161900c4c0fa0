/** Tests that finished operations leave little memory and no timers behind, in half an hour of virtual time. */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { propertyMap, Secret, type PropertyMap } from "../../provider/propertyValue";
import { heapAfterCollection } from "../../provider/testing/heap";
import { Simulation, destroyPath, program } from "./simulation";
import type { Calls } from "./engine";

const halfAnHourSeconds = 1800;
const instanceInputs = program(40);
/**
 * Each instance keeps its id and its ledger record, so that none is lost (G1) or created twice (G2). The disk is in
 * memory, too.
 */
const maxBytesEach = 10_000;

interface Created {
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
}

/** Creates all instances at once, then reads all, then deletes all. */
async function wave({ stack }: Simulation, calls: Calls, index: number): Promise<void> {
  const created = await Promise.all(
    Object.entries(instanceInputs).map(async ([name, news]): Promise<Created> => {
      const urn = stack.urnOf(name);
      const randomSeed = new Uint8Array(32).fill(index);
      const { inputs } = await calls.check({ urn, olds: propertyMap({}), news, randomSeed });
      const request = { urn, inputs, timeoutSeconds: 0, preview: false };
      return { urn, inputs, ...(await calls.create(request)) };
    }),
  );
  const ids = created.map(({ id }) => id);
  expect(new Set(ids).size).toBe(created.length);
  const read = created.map((it) => calls.read({ ...it, timeoutSeconds: 0 }));
  expect((await Promise.all(read)).map((it) => it?.id)).toEqual(ids);
  await Promise.all(
    created.map(({ urn, id, inputs: oldInputs, outputs: oldOutputs }) =>
      calls.delete({ urn, id, oldInputs, oldOutputs, timeoutSeconds: 0 }),
    ),
  );
}

test("after half an hour of creates, reads and deletes, each instance has left little memory and no timer behind", async () => {
  using simulation = new Simulation({ provisioningSeconds: 100 });
  const { calls } = simulation.begin().plugin;
  await calls.configure({
    scope: "a-provider",
    args: propertyMap({
      baseUrl: "https://compute.example/v2",
      apiToken: new Secret("sk_test_acme_canary1"),
      destroyPath,
    }),
  });
  const heaps: number[] = [];
  while (simulation.seconds < halfAnHourSeconds) {
    await simulation.timeline.untilEnd(wave(simulation, calls, heaps.length));
    expect(simulation.ids).toEqual([]);
    simulation.service.control.forgetRequests();
    heaps.push(heapAfterCollection());
  }
  // All sleeps have ended, and no new one has begun.
  await expect(simulation.until(() => false)).rejects.toThrow("no event is left");
  const waves = heaps.length;
  const size = Object.keys(instanceInputs).length;
  const third = Math.floor(waves / 3);
  // Compares the last two thirds. A minimum leaves out what the runtime keeps only for a while.
  const grown = Math.min(...heaps.slice(-third)) - Math.min(...heaps.slice(-2 * third, -third));
  const bytesEach = Math.round(grown / third / size);
  reportFigures("half an hour of virtual time", {
    waves,
    instances: waves * size,
    "bytes kept of each": bytesEach,
  });
  expect(waves).toBeGreaterThan(10);
  expect(bytesEach).toBeLessThan(maxBytesEach);
});
