/** Plays one case: a run that meets a fault and ends somehow, then clean runs. Counts what is wrong after. */
import { printedCommands } from "../../support/printed";
import type { Settings } from "../support/plugin";
import { inputs, type Program, type Run } from "../support/stack";
import { pause } from "../support/until";
import { withWorld, type World } from "../support/world";
import { ends, type EndName } from "./ends";
import { faults } from "./faults";
import { destroyPath, spot, type SpotName } from "./spots";

export interface Case {
  spot: SpotName;
  fault: string;
  end: EndName;
  /** Whether the fault stays until the run has ended. */
  lasting: boolean;
}

export interface Outcome {
  /** Whether the fault met the request it was for. */
  struck: boolean;
  /** At the service, but neither in the state nor named to the person. */
  lost: string[];
  /** Instances beyond the one that was asked for, and POSTs beyond those that G2 allows. */
  doubled: string[];
  /** Alive, and yet dropped from the state. */
  forgotten: string[];
  /** What a clean run afterwards could not do, not even once the person did what it said. */
  stuck: string[];
  /** Instances that a person took over, as a run that stopped had told. */
  byHand: number;
}

const program = { web: inputs() };
/** When a run gives up, in seconds: where a fault stays, and where it does not. */
const patience = { lasting: 2.5, brief: 10 };

const quickSeconds = 0.15;

/** How long an instance that is made now stays in PROVISIONING. */
interface Readiness {
  seconds: number;
}

/** `slowness`: how many times as long as usual a run has for what comes before its fault. */
export async function play(it: Case, slowness = 1): Promise<Outcome> {
  const outcome: Outcome = {
    struck: false,
    lost: [],
    doubled: [],
    forgotten: [],
    stuck: [],
    byHand: 0,
  };
  const { run, whileWaiting } = spot(it.spot);
  const readiness: Readiness = { seconds: whileWaiting ? Infinity : quickSeconds };
  const provisioningSeconds = () => readiness.seconds;
  await withWorld({ provisioningSeconds, destroyPath }, async (world) => {
    if (run !== "up") await world.stack.up(await world.plugin({ destroyPath }), program);
    const before = world.stack.ids;
    if (run !== "up") await world.leave();
    await faultyRun(world, it, outcome, { slowness, readiness });
    await mend(world);
    judgeState(world, it, before, outcome);
    await cleanRuns(world, it, outcome);
  });
  return outcome;
}

async function faultyRun(
  world: World,
  it: Case,
  outcome: Outcome,
  { slowness, readiness }: { slowness: number; readiness: Readiness },
): Promise<void> {
  const { run, where, whileWaiting } = spot(it.spot);
  // A time-out is met sooner than a busy machine is slow; the rest should not depend on either.
  const slow = /time-out|drops/.test(it.fault);
  const requestTimeoutSeconds = (slow ? 0.5 : 5) * slowness;
  const plugin = await world.plugin({ destroyPath, requestTimeoutSeconds });
  world.service.control.forgetRequests();
  const times = it.lasting ? ("always" as const) : 1;
  const { struck, over } =
    faults[it.fault]?.arm(world, { ...where, times }, plugin) ?? never(it.fault);
  const timeoutSeconds = (it.lasting ? patience.lasting : patience.brief) * slowness;
  const options = { timeoutSeconds };
  const going =
    run === "up"
      ? world.stack.up(plugin, program, options)
      : run === "refresh"
        ? world.stack.refresh(plugin, options)
        : world.stack.destroy(plugin, options);
  outcome.struck = await Promise.race([struck.then(() => true), going.then(() => false)]);
  const ended = outcome.struck ? ends[it.end](world, plugin) : Promise.resolve();
  // What is made after a run that gave up too early, too.
  readiness.seconds = quickSeconds;
  if (whileWaiting) world.service.control.settle();
  await Promise.all([going, ended, outcome.struck ? over : undefined]);
  await world.leave(plugin);
}

/** The fault is over, and what it did to an instance's status as well. */
export async function mend({ service, instances }: World): Promise<void> {
  service.control.clearFaults();
  await service.acceptConnections();
  for (const { id, status } of instances)
    if (status !== "OFFLINE") service.control.setStatus(id, "ACTIVE");
}

function judgeState({ stack, ids }: World, it: Case, before: string[], outcome: Outcome): void {
  const { run } = spot(it.spot);
  outcome.forgotten.push(...before.filter((id) => ids.includes(id) && !stack.ids.includes(id)));
  if (run !== "destroy") outcome.lost.push(...before.filter((id) => !ids.includes(id)));
}

async function cleanRuns(world: World, it: Case, outcome: Outcome): Promise<void> {
  const { stack } = world;
  const held = stack.ids;
  const failed = (what: string, run: { failed: Record<string, Error> }) =>
    outcome.stuck.push(...Object.values(run.failed).map(({ message }) => `${what}: ${message}`));

  // What an instance that is listed late needs is a test of its own (waits.test.ts).
  if (it.fault === "an instance listed late") await pause(300);
  if (spot(it.spot).run === "destroy") {
    failed("destroy", await stack.destroy(await world.plugin({ destroyPath })));
    outcome.lost.push(...world.ids);
    outcome.doubled.push(...extraPosts(world, 0));
    return;
  }
  const { byHand, ...last } = await cleanUp(world, program, { destroyPath });
  outcome.byHand += byHand;
  failed("up", last);
  const now = world.ids;
  outcome.forgotten.push(...held.filter((id) => now.includes(id) && !stack.ids.includes(id)));
  outcome.stuck.push(
    ...stack.ids.filter((id) => !now.includes(id)).map((id) => `${id} is not there`),
  );
  const named = await namedToThePerson(world);
  outcome.lost.push(...now.filter((id) => !stack.ids.includes(id) && !named(id)));
  outcome.doubled.push(...now.slice(1), ...extraPosts(world, allowedPosts(it)));
  const { did } = await stack.up(await world.plugin({ destroyPath }), program);
  if (did.join() !== "same web") outcome.stuck.push(`the run after: ${did.join()}`);
}

/** POSTs that the service was sent in the faulty run and after it, beyond what is allowed. */
function extraPosts({ posts }: World, allowed: number): string[] {
  return posts > allowed ? [`${posts} POSTs where ${allowed} are allowed`] : [];
}

function allowedPosts(it: Case): number {
  const { run } = spot(it.spot);
  if (run !== "up") return 0;
  // One of the clean run too, where it has nothing to go on with.
  return (
    1 + (it.spot === "the POST" ? (faults[it.fault]?.posts?.(it.lasting ? Infinity : 1) ?? 1) : 0)
  );
}

/**
 * A run in which nothing goes wrong. Where it stops all the same, for what evidence can't settle, the
 * person types what it printed, and it is run again.
 */
export async function cleanUp(
  world: World,
  program: Program,
  settings: Settings = {},
): Promise<Pick<Run, "failed"> & { byHand: number }> {
  const { failed } = await upAndLeave(world, program, settings);
  const stopped = Object.entries(failed);
  for (const [name, { message }] of stopped) await followAdvice(world, name, message);
  if (stopped.length === 0) return { failed, byHand: 0 };
  return { ...(await upAndLeave(world, program, settings)), byHand: stopped.length };
}

async function upAndLeave(world: World, program: Program, settings: Settings): Promise<Run> {
  const plugin = await world.plugin(settings);
  const run = await world.stack.up(plugin, program);
  await world.leave(plugin);
  return run;
}

/**
 * Takes over the instance that the error names; where the service has none of that id, forgets the create.
 * The error has to show both ways out.
 */
async function followAdvice(world: World, name: string, message: string): Promise<void> {
  const imports = printedCommands(message, `pulumi import compute:index:Instance ${name} `);
  const [discard] = printedCommands(message, "discard ");
  if (imports.length === 0 || discard === undefined) throw new Error(`no advice: ${message}`);
  const id = world.ids.find((it) => imports.some((command) => command.endsWith(` ${it}`)));
  if (id === undefined) return world.discard(discard.split(" ").at(-1) ?? "");
  const plugin = await world.plugin();
  await world.stack.import(plugin, name, id);
  await world.leave(plugin);
}

/**
 * Whether a person who saw it all was told of this instance, with the command that takes it over: by a
 * warning, by the notice of leftovers, or by an error.
 */
export async function namedToThePerson({
  stack,
  plugins,
}: World): Promise<(id: string) => boolean> {
  const warnings = await Promise.all(plugins.map(async (plugin) => plugin.allWarnings()));
  const leftovers = plugins.flatMap((plugin) => plugin.leftovers);
  return importedBy([...stack.told, ...warnings.flat(), ...leftovers]);
}

/** Whether a run named it as a leftover, which it does before the POST of a second one. */
export function namedBefore({ plugins }: World): (id: string) => boolean {
  return importedBy(plugins.flatMap((plugin) => plugin.leftovers));
}

function importedBy(texts: readonly string[]): (id: string) => boolean {
  const commands = texts.flatMap((text) => printedCommands(text, "pulumi import "));
  return (id) => commands.some((command) => command.endsWith(` ${id}`));
}

export function never(what: string): never {
  throw new Error(`there is no fault "${what}"`);
}
