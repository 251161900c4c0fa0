/**
 * The invariants: what must hold in every state of the world. They are: every instance that we created can be
 * found again (1), no resource gets a second instance unnoticed (2), the last reply has the id if it is known (3), and
 * no instance of somebody else is taken over or destroyed (4). The explorer checks them at each step.
 */
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import { isSameResource } from "../../provider/pulumiNames";
import type { Failure } from "../../provider/instance/protocol";
import type { Model, Scene } from "./slice";
import type { Instance, Row, Run, World } from "./world";

/** Thrown if an invariant is broken. The message says which one, and how. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** The message for a create that waits or retries without end. */
export const endless = "a create never ends: it waits and lists again for ever";

/**
 * Checks every state of the world: each instance that we created can be found again (1), and a record counts as
 * in flight only while a call updates it.
 */
export function check(model: Model, world: World): void {
  for (const it of world.instances) {
    if (it.alive && it.resource !== "a stranger's" && !isKnown(model, world, it)) {
      throw new Violation(
        `${it.id} exists, and no state, call, record, name or message leads to it`,
      );
    }
  }
  for (const run of world.runs) {
    if (
      run.calls.some(({ settlingWaits, recordsWritten }) => settlingWaits > 4 || recordsWritten > 7)
    )
      throw new Violation(endless);
    if (run.unlocked) continue;
    for (const row of world.ledgers.flat()) {
      if (row.owner !== run.session || row.ended || !isPending(row)) continue;
      if (!run.calls.some((call) => call.key === row.key)) {
        throw new Violation(`the record ${row.key} counts as in flight, and no call updates it`);
      }
    }
  }
}

/** Whether anything leads to the instance: a state, a call, a record, its name, or a message. */
function isKnown(model: Model, world: World, it: Instance): boolean {
  if (it.letGo || it.namedBy !== undefined || it.isMadeLate) return true;
  if (world.stacks.some((held) => held.some(({ id }) => id === it.id))) return true;
  for (const run of world.runs) {
    if (run.calls.some(({ idMadeByPost, id }) => idMadeByPost === it.id || id === it.id))
      return true;
    if (run.unsaved?.id === it.id || run.retry?.id === it.id) return true;
  }
  if (it.recordedOnMachine !== undefined) {
    for (const row of world.ledgers[it.recordedOnMachine] ?? []) {
      if (row.id === it.id && (isPending(row) || row.stage === "delivered")) return true;
      const unanswered = row.stage === "sending" || row.stage === "unknown";
      if (unanswered && row.made.includes(it.id)) return true;
    }
  }
  // A generated name has the tag, and an explicit name is in the program. No search uses a proposed name.
  return it.kind === "generated" || (it.kind === "explicit" && !it.name.startsWith("renamed"));
}

/** Checks that a created instance is the only one of its resource, apart from those named before or given up (2). */
export function checkIsOnlyInstance(scene: Scene, made: Instance): void {
  const { model, world, run, call } = scene;
  const plan = model.plan(run);
  const { own, leftovers } = model.spec(run, call.resource);
  const machine = plan.machine ?? 0;
  const rows = world.ledgers[machine] ?? [];
  for (const it of world.instances) {
    if (it === made || !it.alive || it.resource !== made.resource || it.letGo) continue;
    const row = rows.find((other) => other.made.includes(it.id));
    if (row?.key === call.key && row) {
      throw new Violation(`${made.id} is created by a repeat, and the first POST created ${it.id}`);
    }
    const isHere = row?.baseUrl === own.baseUrl;
    const isSame = row?.scope === own.scope && isSameResource(row?.urn ?? "", own.urn);
    // A record of another provider resource may belong to another stack whose run is active. A create does not wait
    // for such a record, but names its instance.
    const isNamed = row?.stage === "replied" && it.namedBy === run.session;
    const isOfOtherScope = row?.urn === own.urn && !isNamed;
    if (row && isPending(row) && isHere && !own.stateless && (isSame || isOfOtherScope)) {
      throw new Violation(`${made.id} is created although the record of ${it.id} is pending`);
    }
    const held = (world.stacks[plan.stack ?? 0] ?? []).some(({ id }) => id === it.id);
    const isWithoutRecord = it.recordedOnMachine !== machine;
    if (
      leftovers === "fail" &&
      it.settled &&
      !run.proven.includes(it.id) &&
      it.kind !== "proposed"
    ) {
      throw new Violation(
        `${made.id} is created although leftovers is "fail" and ${it.id} is a leftover`,
      );
    }
    if (held && call.replaces) {
      const recorded = rows.some(
        ({ id, scope, stage }) => id === it.id && scope === own.scope && stage === "settled",
      );
      if (plan.deletePolicy === "fail" && recorded && !call.reportedPartial) {
        throw new Violation(`${made.id} is created although ${it.id} can't be deleted`);
      }
      continue;
    }
    if (it.namedBy === run.session) continue;
    // This machine has no record of it, and listings need not show it yet, or no search uses its name.
    if (isWithoutRecord && (!it.settled || it.kind === "proposed")) continue;
    if (call.reportedPartial) continue;
    throw new Violation(
      `${made.id} is created for ${it.resource}, and ${it.id} was not named before`,
    );
  }
}

/** Checks a take-over: the instance must be of this resource, in no state or other call, and as requested now (4). */
export function checkAdoption({ model, world, run, call }: Scene, id: string): void {
  const it = world.instances.find((instance) => instance.id === id);
  if (!it) throw new Violation(`${id} is taken over, but does not exist`);
  if (it.resource !== model.identity(run, call.resource)) {
    throw new Violation(
      `${id} is taken over, but belongs to ${it.resource === "a stranger's" ? "a stranger" : it.resource}`,
    );
  }
  if (world.stacks.some((held) => held.some((other) => other.id === id))) {
    throw new Violation(`${id} is taken over, but a state holds it`);
  }
  const others = world.runs
    .filter(({ engine }) => engine === "alive")
    .flatMap((other) => other.calls)
    .filter((other) => other !== call);
  if (others.some((other) => other.id === id)) {
    throw new Violation(`${id} is taken over, but another call has it`);
  }
  if (it.digest !== model.spec(run, call.resource).own.digest) {
    throw new Violation(`${id} is taken over, but the program asks for other inputs now`);
  }
}

/** Checks that the reason of a failed create is true. */
export function checkFailure({ model, world, run, call }: Scene, failure: Failure): void {
  const plan = model.plan(run);
  const rows = world.ledgers[plan.machine ?? 0] ?? [];
  const own = rows.find(({ key }) => key === call.key);
  switch (failure.kind) {
    case "pending": {
      const { why, record } = failure;
      if (plan.stateless || record.stateless)
        throw new Violation("a stateless create stops another create, or is stopped by one");
      if (!isPending(record) && why.kind !== "overtaken") {
        throw new Violation(`the record ${record.key} is settled, but stops the create`);
      }
      if (why.kind === "turnedUp") checkTurnedUp(run, rows, record, why.ids);
      const hasCall = world.runs.some((other) => other.calls.some(({ key }) => key === record.key));
      if (why.kind === "inFlight" && !hasCall) {
        throw new Violation("a record counts as in flight, but its create has ended");
      }
      if (
        why.kind === "unlockable" &&
        hasCall &&
        !model.slice.unlockable &&
        own?.key !== record.key
      ) {
        throw new Violation(
          "a record counts as impossible to take over, but its create is under way",
        );
      }
      if (
        why.kind === "otherOrigin" &&
        record.baseUrl !== model.spec(run, call.resource).own.baseUrl
      ) {
        throw new Violation("a create is refused because of a record at another service");
      }
      return;
    }
    case "unclear":
      if ("ids" in failure.why) checkTurnedUp(run, rows, own, failure.why.ids);
      return;
    case "refused":
      if (own && isPending(own))
        throw new Violation(`the POST of ${own.key} was refused, but its record is pending`);
      return;
    case "undeletable":
      if (
        !world.instances.some(
          ({ id, alive, settled }) => id === failure.record.id && (alive || !settled),
        )
      ) {
        throw new Violation(`${failure.record.id} is gone, but stops the create`);
      }
      return;
    case "leftovers":
      for (const { id } of failure.items) checkLeftover({ model, world, run, call }, id);
      return;
    case "listingFailed":
    case "notSent":
    case "stopped":
  }
}

/** Checks that instances reported as new are not known already. */
function checkTurnedUp(
  run: Run,
  rows: Row[],
  record: LedgerRecord | undefined,
  ids: readonly string[],
): void {
  for (const id of ids) {
    const isKnown =
      record?.before.includes(id) ||
      run.made.includes(id) ||
      run.proven.includes(id) ||
      rows.some((row) => row.id === id && row.key !== record?.key);
    if (isKnown) throw new Violation(`${id} is reported as new, but is known`);
  }
}

/** Checks that an instance reported as a leftover is not known already. */
export function checkLeftover({ model, world, run, call }: Scene, id: string): void {
  const it = world.instances.find((other) => other.id === id);
  const rows = (world.ledgers[model.plan(run).machine ?? 0] ?? []).filter((row) => row.id === id);
  if (run.proven.includes(id))
    throw new Violation(`${id} is reported as a leftover, but the state holds it`);
  if (run.made.includes(id))
    throw new Violation(`${id} is reported as a leftover, but this run created it`);
  // If no state is known to hold an instance of the same URN, it may be this stack's, under another provider resource.
  const { urn } = model.spec(run, call.resource).own;
  const isUnproven = rows.some(
    ({ stage, urn: its }) => its === urn && (stage === "delivered" || stage === "replied"),
  );
  if (rows.length > 0 && !isUnproven && it?.resource !== model.identity(run, call.resource)) {
    throw new Violation(`${id} is reported as a leftover, but belongs to another resource`);
  }
  if (rows.some(({ settled }) => settled === "dropped" || settled === "discarded")) {
    throw new Violation(`${id} is reported as a leftover, but was dropped on purpose`);
  }
}

/** Checks that no POST of a settled record has created an instance that still exists. */
export function checkSettled(world: World, row: Row, how: string): void {
  for (const id of row.made) {
    if (!world.instances.some((it) => it.id === id && it.alive && !it.isMadeLate)) continue;
    throw new Violation(`the record ${row.key} is settled as ${how}, but ${id} exists`);
  }
}

/** Checks that an import settles a record only if its POST created no other instance that nobody named. */
export function checkImported(world: World, row: Row, id: string): void {
  const isNamed = (it: string) =>
    world.instances.some(
      (other) => other.id === it && (!other.alive || other.namedBy !== undefined),
    );
  if (!isNamed(id) || row.made.every((it) => it === id || isNamed(it))) return;
  throw new Violation(
    `the import of ${id} settles ${row.key}, whose POST also created an instance that nobody named`,
  );
}

/** Checks a reply. The engine keeps only the last reply of a resource, so it must have the known id (3). */
export function checkReply({ model, world, run, call }: Scene, id: string | undefined): void {
  const earlier = run.unfinished.find((it) => it.resource === call.resource);
  const lives = world.instances.some((it) => it.id === earlier?.id && it.alive);
  if (earlier && lives && id !== earlier.id) {
    throw new Violation(`the engine got the id ${earlier.id}, and then a reply without it`);
  }
  for (const row of world.ledgers[model.plan(run).machine ?? 0] ?? []) {
    if (row.key !== call.key || !isPending(row) || row.owner !== run.session) continue;
    if (!row.sent && row.session === run.session)
      throw new Violation(`the record ${row.key} stays pending, but its POST was never sent`);
    if (id === undefined && row.id !== undefined && row.owner === row.session && !run.retries) {
      throw new Violation(`the id of ${row.key} is known, but the engine gets a reply without it`);
    }
    if (row.stage === "replied" && row.id === undefined) {
      throw new Violation(`the record ${row.key} is replied, but lacks the id`);
    }
  }
}

/** Checks that only the deleting stack has the instance that is destroyed: no other state, and no call (4). */
export function checkDestroyed(world: World, run: Run, id: string): void {
  const holders = world.stacks.flat().filter((it) => it.id === id);
  const hasCall = world.runs.some(
    ({ engine, calls }) => engine === "alive" && calls.some((call) => call.id === id),
  );
  if (holders.length > 1 || hasCall) {
    throw new Violation(`${run.session} destroys ${id}, but another state or call has it`);
  }
}
