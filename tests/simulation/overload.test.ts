/** Tests an overloaded service: each instance is created once (G2) and none is lost (G1). */
import { expect, test } from "@jest/globals";
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
      messages.push(...warnings, ...engine.failed.map(({ error }) => error.message));
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

const broken = { kind: "reset", acted: false } as const;

/** How many requests meet the fault. */
function cutOff(
  simulation: Simulation,
  isCutOff: () => boolean,
  fault: Fault = broken,
): { count: number } {
  const failed = { count: 0 };
  simulation.faultFor = () => {
    if (!isCutOff()) return undefined;
    failed.count++;
    return fault;
  };
  return failed;
}

test("creates that begin in an outage of less than a minute go on after it, and ask together (G6)", async () => {
  using simulation = new Simulation();
  const refused = cutOff(simulation, () => simulation.seconds < 50);
  const { engine, statuses } = await simulation.run((engine) => engine.up(program(count)));
  expect(engine.failed).toEqual([]);
  expect(simulation.ids).toHaveLength(count);
  expect(refused.count).toBeLessThan(20);
  expect(statuses).toContainEqual(expect.stringMatching(/^connection broke, next try in [1-6] s/));
});

test.each([
  ["that break", broken, 60],
  // No service may be there.
  ["that are refused", { kind: "refused" } as const, 10],
])(
  "creates whose connections %s without end fail in time, have asked together, and nothing was made",
  async (_, fault, seconds) => {
    using simulation = new Simulation();
    const refused = cutOff(simulation, () => true, fault);
    const { engine } = await simulation.run((engine) => engine.up(program(count)));
    expect(engine.failed).toHaveLength(count);
    const [first, ...others] = engine.failed.map(({ error }) => error.message);
    const further = new RegExp("^nothing was created, as for web-\\d+\\.$");
    expect(others).toEqual(others.map(() => expect.stringMatching(further)));
    expect(first).toContain("nothing was created");
    expect(simulation.seconds).toBeGreaterThanOrEqual(seconds);
    expect(simulation.seconds).toBeLessThan(seconds + 10);
    expect(refused.count).toBeLessThan(20);
  },
);

test.each([1, 2, 3])(
  "with a 429, or for a GET a 503, half of them with Retry-After, for one request in three, each instance is created once (seed %i)",
  async (seed) => {
    using simulation = new Simulation();
    const random = new Random(seed);
    simulation.faultFor = ({ method }) => {
      if (!random.oneIn(3)) return undefined;
      const pause = random.oneIn(2) ? { retryAfter: 1 + Math.floor(random.next() * 9) } : {};
      const status = method === "POST" || random.oneIn(2) ? 429 : 503;
      return { kind: "status", status, acted: false, ...pause };
    };
    const { engine } = await simulation.run((engine) => engine.up(program(count)));
    expect(engine.failed.map(({ error }) => error.message)).toEqual([]);
    expect([...simulation.ids].sort()).toEqual([...simulation.stack.ids].sort());
    expect(simulation.ids).toHaveLength(count);
  },
);
