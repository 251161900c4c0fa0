/** Tests that finished operations leave little memory and no timers behind, in half an hour of virtual time. */
import { expect, test } from "@jest/globals";
import { propertyMap } from "../../provider/pulumi/propertyValue";
import { heapAfterCollection } from "../../provider/testing/heap";
import { Simulation, program } from "./simulation";

const halfAnHourSeconds = 1800;
const instances = program(40);
/**
 * Each instance keeps its id and its ledger record, so that none is lost (G1) or created twice (G2). The disk is in
 * memory, too.
 */
const maxBytesEach = 10_000;

test("after half an hour of creates, reads and deletes, each instance has left little memory and no timer behind", async () => {
  const size = Object.keys(instances).length;
  using simulation = new Simulation({ provisioningSeconds: 100 });
  // All waves have one session.
  let configured: Promise<void> | undefined;
  const { engine } = simulation.begin({}, undefined, (calls) => ({
    ...calls,
    configure: (request) => (configured ??= calls.configure(request)),
    // Within one session, the engine deletes only what is replaced.
    delete: async ({ urn, ...request }) => {
      const replaced = { urn, olds: propertyMap({}), news: request.oldInputs };
      await calls.check({ ...replaced, randomSeed: new Uint8Array(32) });
      await calls.delete({ urn, ...request });
    },
    cancel: () => undefined,
  }));
  const wave = async () => {
    await engine.up(instances);
    expect(new Set(simulation.stack.ids).size).toBe(size);
    await engine.refresh();
    await engine.destroy();
    expect(engine.failed).toEqual([]);
    engine.did.length = 0;
  };
  const heaps: number[] = [];
  while (simulation.seconds < halfAnHourSeconds) {
    await simulation.timeline.untilEnd(wave());
    expect(simulation.ids).toEqual([]);
    expect(simulation.timeline.sleeping).toBe(0);
    simulation.service.control.forgetRequests();
    heaps.push(heapAfterCollection());
  }
  // No request or retry is left, either.
  await expect(simulation.until(() => false)).rejects.toThrow("no event is left");
  const waves = heaps.length;
  const third = Math.floor(waves / 3);
  // Compares the last two thirds. A minimum leaves out what the runtime keeps only for a while.
  const grown = Math.min(...heaps.slice(-third)) - Math.min(...heaps.slice(-2 * third, -third));
  const bytesEach = Math.round(grown / third / size);
  expect(waves).toBeGreaterThan(10);
  expect(bytesEach).toBeLessThan(maxBytesEach);
});
