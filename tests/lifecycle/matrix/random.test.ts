/**
 * What no list of cases has: several resources, faults on top of each other, ends at any moment, a
 * second run that goes wrong too (G1, G2, G3). The cases are the same in every run; another seed
 * (`COMPUTE_RANDOM_SEED`) gives others. Failures shrink, and the report gives the seed.
 */
import { jest, test } from "@jest/globals";
import fc from "fast-check";
import { reportFigures } from "../../support/figures";
import { inputs, type Program } from "../support/stack";
import { pause } from "../support/until";
import { withWorld, type World } from "../support/world";
import { ends, endNames } from "./ends";
import { faults } from "./faults";
import { cleanUp, mend, namedBefore, namedToThePerson, never } from "./play";
import { spot, spots, type SpotName } from "./spots";

jest.setTimeout(1_800_000);

const runs = Number(process.env["COMPUTE_RANDOM_CASES"] ?? 400);
const { COMPUTE_RANDOM_SEED, COMPUTE_SEED } = process.env;
const seed = Number(COMPUTE_RANDOM_SEED ?? COMPUTE_SEED ?? 942_387);
/** Searches of their own, side by side, since each case spends its time waiting. */
const atOnce = 16;

const spotNames = (Object.keys(spots) as SpotName[]).filter((name) => spot(name).run === "up");
const faultNames = Object.keys(faults).filter((name) => name !== "refused connections");

const strike = fc.record({
  fault: fc.constantFrom(...faultNames),
  spot: fc.constantFrom(...spotNames),
  times: fc.constantFrom(1, 1, 2, 3),
});
const run = fc.record({
  strikes: fc.array(strike, { minLength: 1, maxLength: 2 }),
  end: fc.constantFrom(...endNames, "the engine goes on" as const),
  /** After the first strike. */
  endsAfterMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 600 })),
});
/** Whole lists without an instance of the state, two in a run, are what the document calls gone (G3). */
const provesGone = ({ strikes }: Run) =>
  strikes.filter(({ fault }) => faults[fault]?.provesGone).reduce((n, it) => n + it.times, 0) > 1;
const scenario = fc.record({
  resources: fc.integer({ min: 1, max: 3 }),
  explicitNames: fc.boolean(),
  first: run,
  second: fc.option(
    run.filter((it) => !provesGone(it)),
    { freq: 2, nil: undefined },
  ),
  refresh: fc.boolean(),
});
type Run = typeof run extends fc.Arbitrary<infer It> ? It : never;
type Scenario = typeof scenario extends fc.Arbitrary<infer It> ? It : never;

const figures = {
  cases: 0,
  lost: 0,
  doubled: 0,
  "wrongly forgotten": 0,
  named: 0,
  "taken over by hand": 0,
};

function programOf({ resources, explicitNames }: Scenario): Program {
  const names = ["web", "db", "queue"].slice(0, resources);
  return Object.fromEntries(
    names.map((name) => [name, inputs(explicitNames ? { name: `${name}-1` } : {})]),
  );
}

async function play(it: Scenario): Promise<void> {
  await withWorld({ provisioningSeconds: 0.2 }, async (world) => {
    const program = programOf(it);
    const { stack } = world;
    const held = new Set<string>();
    const hold = () => stack.ids.forEach((id) => held.add(id));
    for (const each of [it.first, it.second]) {
      if (each) await faultyRun(world, program, each);
      hold();
    }
    await mend(world);
    if (it.refresh) await stack.refresh(await world.plugin());
    const { failed, byHand } = await cleanUp(world, program);
    figures["taken over by hand"] += byHand;
    const { did } = await stack.up(await world.plugin(), program);

    figures.cases++;
    const wrong = { ...(await judge(world, held)), failed: Object.values(failed).map(String) };
    figures.lost += wrong.lost.length;
    figures.doubled += wrong.doubled.length;
    figures["wrongly forgotten"] += wrong.forgotten.length;
    const notSame = did.filter((what) => !what.startsWith("same"));
    const all = [...Object.values(wrong).flat(), ...notSame];
    if (all.length > 0) throw new Error(JSON.stringify({ ...wrong, notSame }));
  });
}

async function faultyRun(world: World, program: Program, it: Run): Promise<void> {
  const plugin = await world.plugin({ requestTimeoutSeconds: 0.6 });
  world.service.control.clearFaults();
  const struck = it.strikes.map(
    ({ fault, spot: name, times }) =>
      faults[fault]?.arm(world, { ...spot(name).where, times }, plugin).struck ?? never(fault),
  );
  const going = world.stack.up(plugin, program, { timeoutSeconds: 3 });
  let over = false;
  let ended: Promise<void> | undefined;
  void Promise.race(struck).then(async () => {
    await pause(it.endsAfterMs);
    if (!over) ended = ends[it.end](world, plugin);
  });
  await going;
  over = true;
  await ended;
  await world.leave(plugin);
}

async function judge(world: World, held: ReadonlySet<string>) {
  const { stack, instances } = world;
  const named = await namedToThePerson(world);
  const inState = new Set(stack.ids);
  const elsewhere = instances.filter(({ id }) => !inState.has(id));
  figures.named += elsewhere.filter(({ id }) => named(id)).length;
  const isNamed = namedBefore(world);
  const unnamed = instances.filter(({ id }) => inState.has(id) || !isNamed(id));
  const resources = unnamed.map(({ name }) => name.split("-")[0]);
  return {
    lost: elsewhere.filter(({ id }) => !named(id)).map(({ id }) => id),
    // A second one of a resource, where the first was not named before.
    doubled: resources.filter((name, at) => resources.indexOf(name) !== at),
    forgotten: elsewhere.filter(({ id }) => held.has(id)).map(({ id }) => id),
    phantoms: [...inState].filter((id) => !world.ids.includes(id)),
  };
}

test(`faults and ends at random, seed ${seed}: nothing lost, doubled or forgotten`, async () => {
  const share = Math.ceil(runs / atOnce);
  const search = (n: number) =>
    fc.assert(fc.asyncProperty(scenario, play), { numRuns: share, seed: seed + n });
  const found = await Promise.allSettled(Array.from({ length: atOnce }, (_, n) => search(n)));
  reportFigures(`faults and ends at random, seed ${seed}`, figures);
  for (const result of found) if (result.status === "rejected") throw result.reason;
});
