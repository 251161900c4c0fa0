/**
 * Tests that the two models of the engine agree: the explorer's (`tests/explorer/engine.ts`) and the simulation's
 * (`engine.ts`), which is pinned to recordings of the real engine. Both play the same runs. After each run, the calls about
 * the resource, the state and the records of the ledger are the same.
 */
import { expect, test } from "@jest/globals";
import { propertyMap } from "../../provider/pulumi/propertyValue";
import * as protocol from "../../provider/create/protocol";
import { Engine } from "../../provider/engine";
import { decideDelete } from "../../provider/instance/delete";
import * as records from "../../provider/ledger/record";
import { changes } from "../explorer/engine";
import { firstWorld } from "../explorer/explore";
import { modelOf, type Fault, type Plan, type Slice } from "../explorer/slice";
import { copyOf, type World } from "../explorer/world";
import type { Program } from "./engine";
import { Simulation, type Run } from "./simulation";

/** One run, and how it ends. */
interface Scenario {
  operation: "up" | "up of a changed program" | "up --replace";
  end?: "the runner is killed before the reply" | "the state is not saved";
}

/** What both models can show. Instances are numbered in the order of their creates. */
interface Shown {
  calls: string[];
  /** The instances in the state. */
  state: string[];
  /** How far each record has come, with the instance. */
  records: string[];
}

type Policy = "destroy" | "retain";

function recordShown(
  { at, id, givenBy }: records.LedgerRecord,
  numberOf: (id: string) => string,
): string {
  const stage = givenBy !== undefined ? "given" : at !== undefined ? "sent" : "begun";
  return id === undefined ? stage : `${stage} ${numberOf(id)}`;
}

// ── The explorer's ───────────────────────────────────────────────────────────────────────────────

const numberOf = (id: string) => `#${id.slice(1)}`;

/** What to prefer, if a history could go on in several ways: nothing goes wrong, and each listing shows everything. */
const usual = [
  /Diff of/,
  /the engine (creates|replaces)/,
  /takes over|gets permission|wakes|POST: (the service creates|202)/,
  /answers: ready/,
  /the engine saves i/,
  /the engine deletes/,
  /the engine saves its state and ends/,
  /the engine ends normally/,
  /lists (?!only|: |4|5)/,
  /run \d begins/,
  /the settling time passes/,
];
const ends: Record<NonNullable<Scenario["end"]>, { after: RegExp; say: RegExp; fault: Fault }> = {
  "the runner is killed before the reply": {
    after: /POST: 202/,
    say: /the runner is killed/,
    fault: "runner killed",
  },
  "the state is not saved": {
    after: /answers: ready/,
    say: /the engine fails to save/,
    fault: "not saved",
  },
};

function inExplorer(scenarios: readonly Scenario[], deletePolicy: Policy): Shown[] {
  const urn = "urn:pulumi:dev::project::compute:index:Instance::web";
  const runs = scenarios.map(({ operation }): Plan[] => {
    const digest = operation === "up of a changed program" ? "changed" : "as asked";
    const web = { resource: "web", urn, kind: "generated", digest } as const;
    return [{ program: [web], deletePolicy, replace: operation === "up --replace" }];
  });
  const faults = Object.values(ends).map(({ fault }) => fault);
  const slice: Slice = { name: "", what: "", runs, faults, maxFaults: scenarios.length };
  const model = modelOf(slice, { ...protocol, ...records, Engine, decideDelete });
  let world = firstWorld(model);
  return scenarios.map(({ end }) => {
    const calls: string[] = [];
    const interrupt = end && ends[end];
    let said = "";
    let steps = 0;
    do {
      if (++steps > 100) throw new Error(`the run does not end: ${said}`);
      const isDue = interrupt?.after.test(said) === true;
      const order = isDue ? [interrupt.say] : usual;
      const all = changes(model, world);
      const [next] = order.flatMap((pattern) =>
        all.filter(({ say }) => pattern.test(say)).slice(-1),
      );
      if (!next) throw new Error(`nothing usual happens after "${said}"`);
      said = next.say;
      calls.push(...callsIn(said));
      world = copyOf(world);
      next.do(world);
    } while (world.runs.length > 0);
    return { calls, ...shownIn(world) };
  });
}

/** The calls that a step of the explorer's engine stands for. */
function callsIn(said: string): string[] {
  const [, held] = /Diff of \w+, held as (i\d+)/.exec(said) ?? [];
  if (held !== undefined) return [`Diff of ${numberOf(held)}`];
  if (/the engine (creates|replaces) /.test(said)) return ["Create"];
  const [, deleted] = /the engine deletes (i\d+)/.exec(said) ?? [];
  return deleted === undefined ? [] : [`Delete of ${numberOf(deleted)}`];
}

function shownIn({ stacks, ledgers }: World): Omit<Shown, "calls"> {
  const [state = []] = stacks;
  const [rows = []] = ledgers;
  return {
    state: state.map(({ id }) => numberOf(id)),
    records: rows.map((row) => recordShown(row, numberOf)),
  };
}

// ── The simulation's ─────────────────────────────────────────────────────────────────────────────

const inputs = { imageId: "debian-13", vpcId: "vpc-1" };

async function inSimulation(scenarios: readonly Scenario[], policy: Policy): Promise<Shown[]> {
  using simulation = new Simulation({ provisioningSeconds: 0 });
  const all: Shown[] = [];
  const ids: string[] = [];
  const shown = (id = "") => `#${ids.indexOf(id)}`;
  for (const { operation, end } of scenarios) {
    const calls: string[] = [];
    const run = simulation.begin(
      policy === "retain" ? { destroyPath: null, deletePolicy: "retain" } : {},
      undefined,
      (its) => ({
        ...its,
        diff: (request) => (calls.push(`Diff of ${shown(request.id)}`), its.diff(request)),
        create: (request) => (calls.push("Create"), its.create(request)),
        delete: (request) => (calls.push(`Delete of ${shown(request.id)}`), its.delete(request)),
      }),
      // The first save is that of the provider resource.
      (nth) => end !== "the state is not saved" || nth === 1,
    );
    await play(simulation, run, operation, end);
    ids.push(...simulation.ids.filter((id) => !ids.includes(id)));
    const state = simulation.stack.ids.map(shown);
    all.push({ calls, state, records: simulation.records.map((each) => recordShown(each, shown)) });
  }
  return all;
}

async function play(
  simulation: Simulation,
  { engine, plugin }: Run,
  operation: Scenario["operation"],
  end: Scenario["end"],
): Promise<void> {
  const flavorId = operation === "up of a changed program" ? "kvm-2" : "kvm-1";
  const web: Program = { web: propertyMap({ ...inputs, flavorId }) };
  const options = operation === "up --replace" ? { replace: ["web"] } : {};
  const up = engine.up(web, options);
  if (end === "the runner is killed before the reply") {
    await simulation.until(() => simulation.records.some(({ id }) => id !== undefined));
    plugin.kill();
    up.catch(() => undefined);
  } else await simulation.timeline.untilEnd(up);
  plugin.signal();
  await simulation.timeline.pass(600_000);
}

// ── The comparison ───────────────────────────────────────────────────────────────────────────────

const up: Scenario = { operation: "up" };
const changed: Scenario = { operation: "up of a changed program" };
const replaced: Scenario = { operation: "up --replace" };
const killed = (scenario: Scenario): Scenario => ({
  ...scenario,
  end: "the runner is killed before the reply",
});
const unsaved = (scenario: Scenario): Scenario => ({ ...scenario, end: "the state is not saved" });

test.each<[Policy, ...Scenario[]]>([
  ["destroy", up, up, up],
  ["destroy", up, changed, up],
  ["retain", up, changed, up],
  ["destroy", up, replaced, changed],
  ["retain", up, replaced, up],
  ["destroy", killed(up), up, up],
  ["destroy", up, killed(replaced), up],
  ["destroy", unsaved(up), up, replaced],
])("with %s: %j, %j, %j", async (policy, ...scenarios) => {
  const explored = inExplorer(scenarios, policy);
  expect(await inSimulation(scenarios, policy)).toEqual(explored);
  expect(explored.flatMap(({ calls }) => calls)).toContain("Create");
});
