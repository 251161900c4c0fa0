/** Tests an overloaded service: each instance is created once (G2) and none is lost (G1). */
import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../../provider/errors";
import { Simulation, program } from "./simulation";
import type { Fault } from "./faults";
import { Random } from "./random";

const count = 40;
const slow: Fault = { kind: "delay", milliseconds: 5000, acted: true };
const overloaded = (acted: boolean): Fault => ({ kind: "status", status: 503, acted });

test.each([1, 2, 3])(
  "with 5 s for each answer and a 503 for one request in five, each instance is created once (seed %i)",
  async (seed) => {
    using simulation = new Simulation({ provisioningSeconds: 5 });
    const random = new Random(seed);
    simulation.faultFor = () => (random.oneIn(5) ? overloaded(random.oneIn(2)) : slow);
    const messages: string[] = [];
    let runs = 0;
    let failures: number;
    do {
      const { engine, warnings } = await simulation.run((engine) => engine.up(program(count)));
      messages.push(...warnings, ...engine.failed.map(({ error }) => messageOf(error)));
      const notInState = simulation.ids.filter((id) => !simulation.stack.ids.includes(id));
      expect(notInState.filter((id) => !messages.some((text) => text.includes(id)))).toEqual([]);
      failures = engine.failed.length;
      runs++;
    } while (failures > 0 && runs < 10);

    expect(failures).toBe(0);
    expect([...simulation.ids].sort()).toEqual([...simulation.stack.ids].sort());
    expect(simulation.ids).toHaveLength(count);
  },
);

function messageOf(error: Error): string {
  return error instanceof InstanceUnfinished ? error.reasons.join("\n") : error.message;
}
