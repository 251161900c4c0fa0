/** An hour of virtual time in one process: nothing is left behind by what is over. */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { heapAfterCollection } from "../../provider/testing/heap";
import { growth } from "../../tools/soak/growth";
import { VirtualWorld, type Runner } from "./support/virtual";

const hour = 3600;
const instances = 40;
/** Of what is over, the id and the ledger's record alone are remembered (G1, G2). */
const flat = 0.03;
const destroyPath = "/v2/instances/{id}";

async function wave(world: VirtualWorld, runner: Runner): Promise<void> {
  await runner.up("web", instances);
  const ids = runner.made.map(({ id }) => id);
  expect(new Set(ids).size).toBe(instances);
  expect(await runner.refresh()).toEqual(ids);
  await runner.destroy();
  expect(world.service.control.instances()).toEqual([]);
  world.service.control.forgetRequests();
}

test("waves for an hour: the memory is flat, and at rest there is no timer", async () => {
  await using world = await VirtualWorld.create({ provisioningSeconds: 100, destroyPath });
  const runner = await world.runner({ destroyPath });
  const heaps: number[] = [];
  while (world.seconds < hour) {
    await wave(world, runner);
    expect(world.clock.sleeping).toBe(0);
    heaps.push(heapAfterCollection());
  }
  const waves = heaps.length;
  const megabytes = (bytes = 0) => Number((bytes / 2 ** 20).toFixed(1));
  reportFigures("an hour of virtual time", {
    waves,
    instances: waves * instances,
    "heap in MB after half of it": megabytes(heaps[waves >> 1]),
    "at its end": megabytes(heaps.at(-1)),
  });
  expect(waves).toBeGreaterThan(20);
  expect(growth(heaps)).toBeLessThan(flat);
});
