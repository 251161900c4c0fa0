/**
 * The invariants: every instance that we created can be found again (1), no resource gets a second instance unnoticed (2), no
 * instance of somebody else is taken over or destroyed (3), the last reply has the id if it is known (4), what ends in order
 * leaves nothing in doubt (5), and nothing that serves is destroyed before what replaces it does (6). The explorer checks (1) and
 * (5) in every state, and each of the others at the steps that could break it. Where one does not hold for a known reason
 * (`Exception`), the reason is counted instead.
 */
import { isNameFor } from "../../provider/instance/naming";
import type { Doubt, Failure } from "../../provider/create/protocol";
import { stackOf } from "../../provider/pulumi/urn";
import type { Exception, Model } from "./slice";
import {
  instanceOf,
  ledgerOf,
  type Instance,
  type Row,
  type RunScene,
  type Scene,
  type StateEntry,
  type World,
} from "./world";

/** Thrown if an invariant is broken. The message says which one, and how. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** @throws Violation if this is so */
export function failIf(isBroken: boolean, message: string): void {
  if (isBroken) throw new Violation(message);
}

/** The message for a create that waits or retries without end. */
const endless = "a create never ends: it waits and lists again for ever";

/** Checks every state of the world: each instance that we created can be found again (1), and nothing is in doubt for nothing (5). */
export function check(model: Model, world: World): void {
  for (const instance of world.instances) {
    const isOurs = instance.alive && instance.resource !== "a stranger's";
    if (!isOurs || isKnown(world, instance)) continue;
    const text = `${instance.id} exists, and no state, call, record, name or message leads to it`;
    failIf(instance.kind !== "proposed" || !instance.isUnsaved, text);
    model.except("a name of pulumi:autonaming, and no file here");
  }
  for (const { calls } of world.runs) {
    for (const call of calls) failIf(call.settlingWaits > 4 || call.recordsWritten > 7, endless);
  }
  const { slice } = model;
  const isUndisturbed = world.faults === slice.maxFaults && !slice.together;
  if (!isUndisturbed || world.runs.length > 0) return;
  const left = world.ledgers.flat().map(({ urn }) => urn);
  failIf(left.length > 0, `all runs have ended in order, and left a record of ${left.join()}`);
}

/** Whether anything leads to the instance: a state, a call, a record, its name, or a message. */
function isKnown(world: World, instance: Instance): boolean {
  const { id } = instance;
  if (instance.letGo || instance.namedBy !== undefined || instance.isMadeLate) return true;
  if (world.stacks.flat().some((entry) => entry.id === id)) return true;
  for (const { calls, unsaved, retry, snapshot, memory } of world.runs) {
    if (snapshot.some((entry) => entry.id === id)) return true;
    const ids = calls.flatMap((call) => [call.idMadeByPost, call.id]);
    if ([...ids, unsaved?.id, retry?.id, ...memory.flatMap(({ made }) => made)].includes(id))
      return true;
  }
  const rows = world.ledgers.flat();
  if (rows.some((row) => row.at !== undefined && (row.id ?? row.made[0]) === id)) return true;
  // A generated name has the tag, and an explicit name is in the program. The next create has another proposed
  // name.
  return instance.kind !== "proposed";
}

/** Checks that a created instance is the only one of its resource, apart from those named before, given up or replaced (2). */
export function checkIsOnlyInstance(scene: Scene, made: Instance): void {
  const { world } = scene;
  for (const other of world.instances) {
    if (other === made || !other.alive || other.letGo || other.isMadeLate) continue;
    if (other.resource === made.resource) checkSecond(scene, made, other);
  }
}

function checkSecond(scene: Scene, made: Instance, other: Instance): void {
  const { model, world, run, call } = scene;
  const { spec } = call.planned;
  const text = `${made.id} is created for ${made.resource}, and ${other.id}`;
  if (isAnswered(scene, other.id)) return;
  const isNamed = other.namedBy === run.session;
  const isReplaced = call.replaces && run.snapshot.some(({ id }) => id === other.id);
  const reason = whyUnnoticed(scene, other);
  const isStopDue =
    spec.leftovers === "fail" ||
    (spec.leftovers === undefined && spec.deleteFails && other.kind === "generated") ||
    (spec.guardsLeftovers && !run.shown.includes(other.id) && other.kind === "generated");
  if (isStopDue && reason === undefined && !(spec.leftovers === "fail" && isReplaced))
    throw new Violation(`${text} should have stopped that`);
  if (isNamed) return;
  const isInState = world.stacks.flat().some(({ id }) => id === other.id);
  const isStale = isInState && !run.snapshot.some(({ id }) => id === other.id);
  failIf(call.hasWaited && isStale, `${text} was made by the run that the create has waited for`);
  if (isReplaced && !spec.deleteFails) return;
  if (isReplaced && reason === undefined)
    return model.except("an explicit name whose Delete fails, with --replace");
  failIf(reason === undefined, `${text} was not named before`);
  if (reason) model.except(reason);
}

/** Returns why the create could not see that this instance is there. */
function whyUnnoticed(scene: Scene, other: Instance): Exception | undefined {
  const { world, run, call } = scene;
  const { identity } = call.planned.spec;
  if (run.plan.stateless) return "stateless";
  if (call.reportedPartial && call.planned.spec.leftovers !== "fail")
    return "a listing that is not complete";
  if (other.tenant !== identity.tokenHash.split("#", 1)[0]) return "another tenant's token";
  if (other.wasMadeLate) return "carried out by the service after it was proven absent";
  if (other.name.startsWith("renamed")) return "renamed by the service";
  if (other.kind === "proposed") return "a name of pulumi:autonaming, and no file here";
  if (other.kind !== identity.kind) return "renamed while in doubt";
  const hasTag = isNameFor(other.name, identity.urn, identity.scope ?? "");
  if (other.kind === "generated" && !hasTag)
    return other.urn === identity.urn ? "another provider resource" : "renamed while in doubt";
  if (other.settled) return undefined;
  if (other.urn !== identity.urn) return "renamed while in doubt";
  const isInState = world.stacks.flat().some(({ id }) => id === other.id);
  if (!isInState && !other.isUnsaved && other.machine === run.plan.machine) return undefined;
  return "made less than the settling time before, and no file here";
}

/** Checks an instance that the service's answer names, or that is taken over: it must be of this resource (3). */
export function checkIsOwn({ world, call }: Scene, id: string): void {
  const instance = instanceOf(world, id);
  failIf(
    instance?.resource !== call.planned.identity,
    `${id} is adopted, but belongs to ${instance?.resource}`,
  );
}

/** Checks a take-over: the instance must be in no state and no other call, and as requested now (3). */
export function checkAdoption({ model, world, run, call }: Scene, id: string): void {
  const instance = instanceOf(world, id);
  if (!instance) throw new Violation(`${id} is taken over, but does not exist`);
  const text = `${id} is taken over, but`;
  // The Delete of the older entry then leaves it alone.
  const isOwn = run.snapshot.some((held) => held.id === id && held.stamp.startsWith("m"));
  if (isOwn && call.replaces) return model.except("imported by hand, and replaced by the next run");
  failIf(
    world.stacks.flat().some((held) => held.id === id),
    `${text} a state holds it`,
  );
  const others = callsWithEngine(world).filter((other) => other !== call);
  failIf(
    others.some((other) => other.id === id),
    `${text} another call has it`,
  );
  failIf(instance.digest !== call.planned.digest, `${text} the program asks for other inputs now`);
}

/** The calls whose engine still waits for their reply. */
function callsWithEngine({ runs }: World) {
  return runs.filter(({ engine }) => engine === "alive").flatMap(({ calls }) => calls);
}

/** Checks that the reason of a failed create is true, and that it stops nobody whose state has everything (5). */
export function checkFailure(scene: Scene, failure: Failure): void {
  const { model, world, call } = scene;
  if (failure.kind === "leftovers") for (const { id } of failure.items) checkLeftover(scene, id);
  if (failure.kind !== "inDoubt" && failure.kind !== "unclear") return;
  const { why, record } = failure;
  const isCandidate = "ids" in why;
  for (const id of isCandidate ? why.ids : []) {
    const isKnown = [...record.before, ...scene.run.made, ...scene.run.shown].includes(id);
    failIf(isKnown, `${id} is named as what the POST may have made, but is known`);
  }
  const isAlive = world.runs.some(({ session }) => session === record.session);
  const isExcused = isAlive || call.hasWaited;
  failIf(why.kind === "anotherRun" && !isExcused, "a create waits for a run that has ended");
  failIf(
    why.kind === "unknownRun" && !model.slice.unlockable && !isAlive,
    "the record of a dead run stops a create, which could have taken it over",
  );
  if (call.replaces) return;
  const state = world.stacks[scene.run.plan.stack] ?? [];
  for (const id of idsIn(why)) {
    const isHeld = state.some(
      (entry) => entry.id === id && entry.resource === call.planned.identity,
    );
    failIf(isHeld && world.runs.length === 1, `${id}, which the state holds, stops a create`);
  }
}

function idsIn(why: Doubt): readonly string[] {
  if ("ids" in why) return why.ids;
  return "id" in why && why.id !== undefined ? [why.id] : [];
}

/** Whether a person, the policy or the state has let this instance run when the one was made that a Diff has shown. */
function isAnswered({ world, run, call }: Scene, id: string): boolean {
  const shown = instanceOf(world, run.before[call.planned.identity]?.id);
  return shown?.passed.includes(id) === true;
}

/** Checks that an instance reported as a leftover is not known already. */
export function checkLeftover(scene: Scene, id: string): void {
  const { run, call } = scene;
  const text = `${id} is reported as a leftover, but`;
  failIf(run.shown.includes(id) && !call.planned.spec.deleteFails, `${text} the state holds it`);
  failIf(run.made.includes(id), `${text} this run created it`);
  failIf(isAnswered(scene, id), `${text} a person has let it run`);
}

/** Checks that the POST of a record that is cleared has created no instance that still exists. */
export function checkCleared(world: World, row: Row): void {
  for (const id of row.made) {
    const instance = instanceOf(world, id);
    const exists = instance?.alive === true && !instance.wasMadeLate;
    const isRenamed = instance?.name.startsWith("renamed");
    failIf(exists && !isRenamed, `the record of ${row.urn} is cleared, but ${id} exists`);
  }
}

/** Checks a reply. The engine keeps only the last reply of a resource, so it must have the known id (4). */
export function checkReply({ world, run, call }: Scene, id: string | undefined): void {
  const earlier = run.unfinished.find(({ planned }) => planned === call.planned)?.id;
  failIf(
    instanceOf(world, earlier)?.alive === true && id !== earlier,
    `the engine got the id ${earlier}, and then a reply without it`,
  );
}

/**
 * Checks the end of a run: nothing is in doubt for nothing (5), and it has named what earlier runs of this stack have left in
 * doubt on this machine.
 */
export function checkNamedAtEnd({ model, world, run }: RunScene): void {
  const state = world.stacks.flat();
  const isAlive = (session: string) => world.runs.some((other) => other.session === session);
  for (const { made, session, scope, urn, id, by, sent } of ledgerOf(model, world, run)) {
    const isShown = run.stamped.some((shown) => shown.id === id && shown.stamp !== run.session);
    failIf(isShown && !isAlive(session), `${id} was shown by a state, and is still in doubt`);
    const isOwn = by === run.session && run.engine === "alive";
    failIf(isOwn && !sent, `the record of ${urn} is left, and no POST was sent`);
    const [first] = run.plan.program;
    const isOfStack = run.plan.scope === scope || stackOf(first?.urn ?? "") === stackOf(urn);
    if (isAlive(session) || !isOfStack || model.slice.unlockable) continue;
    for (const id of made) {
      const instance = instanceOf(world, id);
      const isLeft = instance?.alive === true && !state.some((entry) => entry.id === id);
      failIf(
        isLeft && instance.namedBy !== run.session,
        `${run.session} ends without a word of ${id}, which is in doubt`,
      );
    }
  }
}

/**
 * Checks that only the deleting stack has the instance that is destroyed: no other state, and no call (3). The resource must have
 * another one, which is ready if this one was (6).
 */
export function checkDestroyed(
  { model, world, run }: RunScene,
  { id, urn, resource }: StateEntry,
): void {
  const isReady = (one: string | undefined) => instanceOf(world, one)?.isReady === true;
  const next = run.snapshot.find((entry) => entry.resource === resource && !entry.old);
  failIf(next?.id === id, `${run.session} destroys ${id}, but its resource keeps it`);
  if (isReady(id) && !isReady(next?.id)) {
    const text = `${run.session} destroys ${id}, which serves, and ${next?.id} does not replace it`;
    const planned = run.plan.program.find(({ identity }) => identity === resource);
    failIf(planned?.urn === urn || next?.known.includes(id) === true, text);
    model.except(
      "replaced without a Diff while no listing showed it, and renamed before its Delete",
    );
  }
  // Of two entries of one instance that is replaced, the second is deleted once it is gone.
  const holders = world.stacks.flatMap((entries, stack) =>
    entries.filter((entry) => entry.id === id && (stack !== run.plan.stack || !entry.old)),
  );
  const hasCall = callsWithEngine(world).some((call) => call.id === id);
  failIf(
    holders.length > 0 || hasCall,
    `${run.session} destroys ${id}, but another state or call has it`,
  );
}
