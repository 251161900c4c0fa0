/**
 * The invariants: what must hold in every state of the world. They are: every instance that we created can be
 * found again (1), no resource gets a second instance unnoticed (2), the last reply has the id if it is known (3), and
 * no instance of somebody else is taken over or destroyed (4). The explorer checks them at each step.
 */
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import { isSameResource, stackOf } from "../../provider/pulumiNames";
import type { Planned } from "./slice";
import type { Failure } from "../../provider/instance/protocol";
import {
  instanceOf,
  ledgerOf,
  type Instance,
  type Row,
  type RunScene,
  type Scene,
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
export const endless = "a create never ends: it waits and lists again for ever";

/**
 * Checks every state of the world: each instance that we created can be found again (1), and a record counts as
 * in flight only while a call updates it.
 */
export function check(world: World): void {
  for (const instance of world.instances) {
    const isOurs = instance.alive && instance.resource !== "a stranger's";
    const text = `${instance.id} exists, and no state, call, record, name or message leads to it`;
    failIf(isOurs && !isKnown(world, instance), text);
  }
  for (const { session, calls, unlocked } of world.runs) {
    for (const call of calls) failIf(call.settlingWaits > 4 || call.recordsWritten > 7, endless);
    if (unlocked) continue;
    for (const row of world.ledgers.flat()) {
      const isInFlight = row.owner === session && !row.ended && isPending(row);
      const isUpdated = calls.some((call) => call.key === row.key);
      const text = `the record ${row.key} counts as in flight, and no call updates it`;
      failIf(isInFlight && !isUpdated, text);
    }
  }
}

/** Whether anything leads to the instance: a state, a call, a record, its name, or a message. */
function isKnown(world: World, instance: Instance): boolean {
  if (instance.letGo || instance.namedBy !== undefined || instance.isMadeLate) return true;
  if (world.stacks.flat().some(({ id }) => id === instance.id)) return true;
  for (const { calls, unsaved, retry, snapshot } of world.runs) {
    if (snapshot.some(({ id }) => id === instance.id)) return true;
    const ids = calls.flatMap(({ idMadeByPost, id }) => [idMadeByPost, id]);
    if ([...ids, unsaved?.id, retry?.id].includes(instance.id)) return true;
  }
  for (const row of world.ledgers[instance.recordedOnMachine ?? -1] ?? []) {
    if (row.id === instance.id && (isPending(row) || row.stage === "delivered")) return true;
    const unanswered = row.stage === "sending" || row.stage === "unknown";
    if (unanswered && row.made.includes(instance.id)) return true;
  }
  // A generated name has the tag, and an explicit name is in the program. No search uses a proposed name.
  return (
    instance.kind === "generated" ||
    (instance.kind === "explicit" && !instance.name.startsWith("renamed"))
  );
}

/** Checks that a created instance is the only one of its resource, apart from those named before or given up (2). */
export function checkIsOnlyInstance(scene: Scene, made: Instance): void {
  const { world, run, call } = scene;
  const { deletePolicy, machine } = run.plan;
  const { own, leftovers } = call.planned.spec;
  const rows = ledgerOf(world, run);
  const text = `${made.id} is created`;
  for (const other of world.instances) {
    if (other === made || !other.alive || other.resource !== made.resource || other.letGo) continue;
    const row = rows.find((row) => row.made.includes(other.id));
    failIf(
      row !== undefined && row.key === call.key,
      `${text} by a repeat, and the first POST created ${other.id}`,
    );
    const isHere = row?.baseUrl === own.baseUrl;
    const isSame = row?.scope === own.scope && isSameResource(row?.urn ?? "", own.urn);
    // A record of another provider resource may belong to another stack whose run is active. A create does not wait
    // for such a record, but names its instance.
    const isNamed = other.namedBy === run.session;
    const isOfOtherScope = row?.urn === own.urn && !(row.stage === "replied" && isNamed);
    const isInTheWay = isHere && !own.stateless && (isSame || isOfOtherScope);
    failIf(
      row !== undefined && isPending(row) && isInTheWay,
      `${text} although the record of ${other.id} is pending`,
    );
    const isHeld = run.snapshot.some(({ id }) => id === other.id);
    // Two engines have saved their states over each other. Then not even a warning is enough.
    failIf(
      other.isOverwritten && row !== undefined && isHere,
      `${text} although the state has lost ${other.id} to another run's`,
    );
    // A pending create under another URN is only named at the end of the run if it asked for something else, and with
    // another provider resource as soon as it is listed.
    const isAlike = other.digest === own.digest && other.scope === own.scope;
    const isOther = other.urn !== own.urn && !isAlike;
    const isSearchable = other.kind === "explicit" || (other.kind === "generated" && !isOther);
    const isLeftover = other.settled && !run.proven.includes(other.id) && isSearchable;
    failIf(
      leftovers === "fail" && isLeftover,
      `${text} although leftovers is "fail" and ${other.id} is a leftover`,
    );
    if (isHeld && call.replaces) {
      const isRecorded = rows.some(
        ({ id, scope, stage }) => id === other.id && scope === own.scope && stage === "settled",
      );
      failIf(
        deletePolicy === "fail" && isRecorded,
        `${text} although ${other.id} can't be deleted`,
      );
      continue;
    }
    // This machine has no record of it, and listings need not show it yet, or no search uses its name.
    const isElsewhere = other.recordedOnMachine !== machine;
    const isHidden =
      (isElsewhere && (!other.settled || other.kind === "proposed")) ||
      (isOther && (!other.settled || other.kind !== "explicit"));
    failIf(
      !isNamed && !isHidden && !call.reportedPartial,
      `${text} for ${other.resource}, and ${other.id} was not named before`,
    );
  }
}

/** Checks an instance that the service's answer names, or that is taken over: it must be of this resource (4). */
export function checkIsOwn({ world, call }: Scene, id: string): void {
  const instance = instanceOf(world, id);
  failIf(
    instance?.resource !== call.planned.identity,
    `${id} is adopted, but belongs to ${instance?.resource}`,
  );
}

/** Checks a take-over: the instance must be in no state and no other call, and as requested now (4). */
export function checkAdoption({ world, call }: Scene, id: string): void {
  const instance = instanceOf(world, id);
  if (!instance) throw new Violation(`${id} is taken over, but does not exist`);
  const text = `${id} is taken over, but`;
  const { spec } = call.planned;
  failIf(
    world.stacks.flat().some((held) => held.id === id),
    `${text} a state holds it`,
  );
  const others = callsWithEngine(world).filter((other) => other !== call);
  failIf(
    others.some((other) => other.id === id),
    `${text} another call has it`,
  );
  failIf(instance.digest !== spec.own.digest, `${text} the program asks for other inputs now`);
}

/** The calls whose engine still waits for their reply. */
function callsWithEngine({ runs }: World) {
  return runs.filter(({ engine }) => engine === "alive").flatMap(({ calls }) => calls);
}

/** Checks that the reason of a failed create is true. */
export function checkFailure(scene: Scene, failure: Failure): void {
  const { model, world, run, call } = scene;
  const own = ledgerOf(world, run).find(({ key }) => key === call.key);
  switch (failure.kind) {
    case "pending": {
      const { why, record } = failure;
      failIf(
        Boolean(run.plan.stateless || record.stateless),
        "a stateless create stops another create, or is stopped by one",
      );
      failIf(
        !isPending(record) && why.kind !== "contested",
        `the record ${record.key} is settled, but stops the create`,
      );
      if (why.kind === "turnedUp") checkTurnedUp(scene, record, why.ids);
      const hasCall = world.runs.some((other) => other.calls.some(({ key }) => key === record.key));
      const isAlive = world.runs.some(({ session }) => session === record.owner);
      failIf(
        why.kind === "inFlight" && !isAlive,
        "a record counts as in flight, but its run has ended",
      );
      const isRegistered = run.registered.some(({ urn }) => urn === record.urn);
      failIf(
        why.kind === "unregistered" && isRegistered,
        `the record ${record.key} stops the create, but the program has its resource`,
      );
      const isTakeable = hasCall && !model.slice.unlockable && own?.key !== record.key;
      failIf(
        why.kind === "unlockable" && isTakeable,
        "a record counts as impossible to take over, but its create is under way",
      );
      failIf(
        why.kind === "otherOrigin" && record.baseUrl !== call.planned.spec.own.baseUrl,
        "a create is refused because of a record at another service",
      );
      return;
    }
    case "unclear":
      if ("ids" in failure.why) checkTurnedUp(scene, own, failure.why.ids);
      return;
    case "refused":
      if (own)
        failIf(isPending(own), `the POST of ${own.key} was refused, but its record is pending`);
      return;
    case "undeletable": {
      const instance = instanceOf(world, failure.record.id);
      const isGone = instance === undefined || (!instance.alive && instance.settled);
      return failIf(
        isGone && !call.hasMetDoubt,
        `${failure.record.id} is gone, but stops the create`,
      );
    }
    case "leftovers":
      for (const { id } of failure.items) checkLeftover(scene, id);
      return;
    case "listingFailed":
    case "notSent":
    case "stopped":
  }
}

/** Checks that instances reported as new are not known already. */
function checkTurnedUp(
  { world, run }: RunScene,
  record: LedgerRecord | undefined,
  ids: readonly string[],
): void {
  const others = ledgerOf(world, run).filter(({ key }) => key !== record?.key);
  const known = [...(record?.before ?? []), ...run.made, ...run.proven];
  for (const id of ids) {
    const isKnown = known.includes(id) || others.some((row) => row.id === id);
    failIf(isKnown, `${id} is reported as new, but is known`);
  }
}

/** Checks that an instance reported as a leftover is not known already. */
export function checkLeftover({ world, run, call }: Scene, id: string): void {
  const text = `${id} is reported as a leftover, but`;
  const { identity, urn } = call.planned;
  const { scope } = call.planned.spec.own;
  const rows = ledgerOf(world, run).filter((row) => row.id === id);
  failIf(run.proven.includes(id), `${text} the state holds it`);
  failIf(run.made.includes(id), `${text} this run created it`);
  // Only a state that is proven to hold an instance explains it. A resource of this stack that the program does not
  // register may be this one under its old name.
  const isOther = (planned: Planned) => planned.identity === instanceOf(world, id)?.resource;
  const isSibling = identity !== instanceOf(world, id)?.resource && run.registered.some(isOther);
  const isOfOther = rows.some(
    (row) =>
      row.settled === "state" &&
      row.urn !== urn &&
      (row.scope !== scope || stackOf(row.urn) !== stackOf(urn) || isSibling),
  );
  failIf(isOfOther, `${text} belongs to another resource`);
  const isGivenUp = rows.some(
    ({ settled, stateless, stage }) =>
      settled === "dropped" || settled === "discarded" || (stateless && stage === "delivered"),
  );
  failIf(isGivenUp, `${text} was dropped on purpose`);
}

/** Checks that no POST of a settled record has created an instance that still exists. */
export function checkSettled(world: World, row: Row, how: string): void {
  for (const id of row.made) {
    const instance = instanceOf(world, id);
    const exists = instance?.alive === true && !instance.isMadeLate;
    failIf(exists, `the record ${row.key} is settled as ${how}, but ${id} exists`);
  }
}

/** Checks that an import settles a record only if its POST created no other instance that nobody named. */
export function checkImported(world: World, row: Row, id: string): void {
  const isNamed = (madeId: string) => {
    const instance = instanceOf(world, madeId);
    return instance !== undefined && (!instance.alive || instance.namedBy !== undefined);
  };
  failIf(
    isNamed(id) && row.made.some((madeId) => madeId !== id && !isNamed(madeId)),
    `the import of ${id} settles ${row.key}, whose POST also created an instance that nobody named`,
  );
}

/** Checks a reply. The engine keeps only the last reply of a resource, so it must have the known id (3). */
export function checkReply({ world, run, call }: Scene, id: string | undefined): void {
  const earlier = run.unfinished.find(({ planned }) => planned === call.planned)?.id;
  failIf(
    instanceOf(world, earlier)?.alive === true && id !== earlier,
    `the engine got the id ${earlier}, and then a reply without it`,
  );
  const row = ledgerOf(world, run).find(({ key }) => key === call.key);
  if (!row || !isPending(row) || row.owner !== run.session) return;
  const isOwn = row.session === run.session;
  failIf(isOwn && !row.sent, `the record ${row.key} stays pending, but its POST was never sent`);
  failIf(
    isOwn && id === undefined && row.id !== undefined && !run.retries,
    `the id of ${row.key} is known, but the engine gets a reply without it`,
  );
  failIf(
    row.stage === "replied" && row.id === undefined,
    `the record ${row.key} is replied, but lacks the id`,
  );
}

/** Checks that only the deleting stack has the instance that is destroyed: no other state, and no call (4). */
export function checkDestroyed({ world, run }: RunScene, id: string): void {
  const holders = world.stacks.flat().filter((entry) => entry.id === id);
  const hasCall = callsWithEngine(world).some((call) => call.id === id);
  failIf(
    holders.length > 1 || hasCall,
    `${run.session} destroys ${id}, but another state or call has it`,
  );
}
