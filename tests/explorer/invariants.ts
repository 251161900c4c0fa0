/** What must hold in every state of the world, in words that a violation is told with. */
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import { isSameResource } from "../../provider/pulumiNames";
import type { Failure } from "../../provider/instance/protocol";
import type { Model, Scene } from "./slice";
import type { Instance, Row, Run, World } from "./world";

/** A history in which a promise is broken. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export const endless = "a create never ends: it waits and looks for ever";

/** Checked in every state: each instance that we made can be found again (1), and the ledger is sound. */
export function check(m: Model, w: World): void {
  for (const it of w.instances) {
    if (it.alive && it.resource !== "a stranger's" && !isKnown(m, w, it)) {
      throw new Violation(`${it.id} runs, and nobody knows of it any more`);
    }
  }
  for (const run of w.runs) {
    if (run.calls.some(({ waits, begins }) => waits > 4 || begins > 7))
      throw new Violation(endless);
    if (run.unlocked) continue;
    for (const row of w.ledgers.flat()) {
      if (row.owner !== run.session || row.ended || !isPending(row)) continue;
      if (!run.calls.some((call) => call.key === row.key)) {
        throw new Violation(`the record ${row.key} counts as in flight, and no call drives it`);
      }
    }
  }
}

function isKnown(m: Model, w: World, it: Instance): boolean {
  if (it.letGo || it.namedBy !== undefined || it.overdue) return true;
  if (w.stacks.some((held) => held.some(({ id }) => id === it.id))) return true;
  for (const run of w.runs) {
    if (run.calls.some(({ acted, id }) => acted === it.id || id === it.id)) return true;
    if (run.unsaved?.id === it.id || run.retry?.id === it.id) return true;
  }
  if (it.machine !== undefined) {
    for (const row of w.ledgers[it.machine] ?? []) {
      if (row.id === it.id && (isPending(row) || row.stage === "delivered")) return true;
      const unanswered = row.stage === "sending" || row.stage === "unknown";
      if (unanswered && row.made.includes(it.id)) return true;
    }
  }
  // By its name: the tag of a generated one, or the explicit one. A proposed name is no trace.
  return it.kind === "generated" || (it.kind === "explicit" && !it.name.startsWith("renamed"));
}

/** The service makes an instance: no other of this resource may run that nobody was told of before (2). */
export function checkSecond(scene: Scene, made: Instance): void {
  const { m, w, run, call } = scene;
  const plan = m.plan(run);
  const spec = m.spec(run, call.resource);
  const machine = plan.machine ?? 0;
  const rows = w.ledgers[machine] ?? [];
  for (const it of w.instances) {
    if (it === made || !it.alive || it.resource !== made.resource || it.letGo) continue;
    const row = rows.find((other) => other.made.includes(it.id));
    if (row?.key === call.key && row) {
      throw new Violation(`${made.id} is made by a repeat, and ${it.id} came of the first POST`);
    }
    const isHere = row?.baseUrl === spec.origin.baseUrl;
    const isSame = row?.scope === spec.scope && isSameResource(row?.urn ?? "", spec.urn);
    // Under another provider resource it may be another stack's whose run goes on: then it is named.
    const isNamed = row?.stage === "replied" && it.namedBy === run.session;
    const isOfOtherScope = row?.urn === spec.urn && !isNamed;
    if (row && isPending(row) && isHere && !spec.stateless && (isSame || isOfOtherScope)) {
      throw new Violation(`${made.id} is made although the record of ${it.id} is open`);
    }
    const held = (w.stacks[plan.stack ?? 0] ?? []).some(({ id }) => id === it.id);
    const traceless = it.machine !== machine;
    if (
      spec.leftovers === "fail" &&
      it.settled &&
      !run.proven.includes(it.id) &&
      it.kind !== "proposed"
    ) {
      throw new Violation(`${made.id} is made although leftovers are to fail and ${it.id} is one`);
    }
    if (held && call.replaces) {
      const recorded = rows.some(
        ({ id, scope, stage }) => id === it.id && scope === spec.scope && stage === "settled",
      );
      if (plan.deletePolicy === "fail" && recorded && !call.toldPartial) {
        throw new Violation(`${made.id} is made although ${it.id} can't be deleted`);
      }
      continue;
    }
    if (it.namedBy === run.session) continue;
    // No disk tells of it, and the list does not show it yet; or the disk is gone, and the name told nothing.
    if (traceless && (!it.settled || it.kind === "proposed")) continue;
    if (call.toldPartial) continue;
    throw new Violation(`${made.id} is made for ${it.resource}, and ${it.id} was not named before`);
  }
}

/** A create takes an instance over: it must be its own, held by nobody, and what is asked for now (4). */
export function checkAdoption({ m, w, run, call }: Scene, id: string): void {
  const it = w.instances.find((instance) => instance.id === id);
  if (!it) throw new Violation(`${id}, which does not exist, is taken over`);
  if (it.resource !== m.identity(run, call.resource)) {
    throw new Violation(
      `${id} is ${it.resource === "a stranger's" ? "" : "that of "}${it.resource}, and is taken over`,
    );
  }
  if (w.stacks.some((held) => held.some((other) => other.id === id))) {
    throw new Violation(`${id} is held by a state, and is taken over`);
  }
  const others = w.runs
    .filter(({ engine }) => engine === "alive")
    .flatMap((other) => other.calls)
    .filter((other) => other !== call);
  if (others.some((other) => other.id === id)) {
    throw new Violation(`${id} is held by another call, and is taken over`);
  }
  if (it.digest !== m.spec(run, call.resource).digest) {
    throw new Violation(`${id} is not what the program asks for now, and is taken over`);
  }
}

/** What a create is refused for must be so. */
export function checkFailure({ m, w, run, call }: Scene, failure: Failure): void {
  const plan = m.plan(run);
  const rows = w.ledgers[plan.machine ?? 0] ?? [];
  const own = rows.find(({ key }) => key === call.key);
  switch (failure.kind) {
    case "pending": {
      const { why, record } = failure;
      if (plan.stateless) throw new Violation("a stateless create is refused for an earlier one");
      if (!isPending(record) && why.kind !== "overtaken") {
        throw new Violation(`the record ${record.key} is done, and stands in the way`);
      }
      if (why.kind === "turnedUp") checkTurnedUp(run, rows, record, why.ids);
      const driven = w.runs.some((other) => other.calls.some(({ key }) => key === record.key));
      if (why.kind === "inFlight" && !driven) {
        throw new Violation("a create is refused for one that has ended");
      }
      if (why.kind === "unlockable" && driven && !m.slice.unlockable && own?.key !== record.key) {
        throw new Violation("a create under way is said not to be known");
      }
      if (
        why.kind === "otherOrigin" &&
        record.baseUrl !== m.spec(run, call.resource).origin.baseUrl
      ) {
        throw new Violation("a create is refused for one at another service");
      }
      return;
    }
    case "unclear":
      if ("ids" in failure.why) checkTurnedUp(run, rows, own, failure.why.ids);
      return;
    case "refused":
      if (own && isPending(own)) throw new Violation(`${own.key} was refused, and counts as open`);
      return;
    case "undeletable":
      if (
        !w.instances.some(
          ({ id, alive, settled }) => id === failure.record.id && (alive || !settled),
        )
      ) {
        throw new Violation(`${failure.record.id} is gone, and stands in the way`);
      }
      return;
    case "leftovers":
      for (const { id } of failure.items) checkLeftover({ m, w, run, call }, id);
      return;
    case "listingFailed":
    case "notSent":
    case "stopped":
  }
}

/** What is said to have turned up must not be known otherwise. */
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
    if (isKnown) throw new Violation(`${id} is known, and is said to have turned up`);
  }
}

/** What is called a leftover must not be known otherwise. */
export function checkLeftover({ m, w, run, call }: Scene, id: string): void {
  const it = w.instances.find((other) => other.id === id);
  const rows = (w.ledgers[m.plan(run).machine ?? 0] ?? []).filter((row) => row.id === id);
  if (run.proven.includes(id))
    throw new Violation(`${id} is held by the state, and is called a leftover`);
  if (run.made.includes(id))
    throw new Violation(`${id} is made by this run, and is called a leftover`);
  // One of the same URN that no state is known to hold may be this stack's, under another provider resource.
  const { urn } = m.spec(run, call.resource);
  const isUnproven = rows.some(
    ({ stage, urn: its }) => its === urn && (stage === "delivered" || stage === "replied"),
  );
  if (rows.length > 0 && !isUnproven && it?.resource !== m.identity(run, call.resource)) {
    throw new Violation(`${id} is another resource's, and is called a leftover`);
  }
  if (rows.some(({ settled }) => settled === "dropped" || settled === "discarded")) {
    throw new Violation(`${id} was let go, and is called a leftover`);
  }
}

/** A record is settled: what it says must be so. */
export function checkSettled(w: World, row: Row, how: string): void {
  for (const id of row.made) {
    if (!w.instances.some((it) => it.id === id && it.alive && !it.overdue)) continue;
    throw new Violation(`the record ${row.key} is settled as ${how}, and ${id} runs`);
  }
}

/** A person imports what a create named: that settles no record of which another instance came, unnamed. */
export function checkImported(w: World, row: Row, id: string): void {
  const isNamed = (it: string) =>
    w.instances.some((other) => other.id === it && (!other.alive || other.namedBy !== undefined));
  if (!isNamed(id) || row.made.every((it) => it === id || isNamed(it))) return;
  throw new Violation(`${id} is imported for ${row.key}, of which another came that nobody named`);
}

/** The last reply is all that the engine keeps (3). */
export function checkReply({ m, w, run, call }: Scene, id: string | undefined): void {
  const earlier = run.unfinished.find((it) => it.resource === call.resource);
  const lives = w.instances.some((it) => it.id === earlier?.id && it.alive);
  if (earlier && lives && id !== earlier.id) {
    throw new Violation(`the engine was told of ${earlier.id}, and is then answered without it`);
  }
  for (const row of w.ledgers[m.plan(run).machine ?? 0] ?? []) {
    if (row.key !== call.key || !isPending(row) || row.owner !== run.session) continue;
    if (!row.sent && row.session === run.session)
      throw new Violation(`the record ${row.key} stays open, and nothing of it was sent`);
    if (id === undefined && row.id !== undefined && row.owner === row.session && !run.retries) {
      throw new Violation(`the id of ${row.key} is known, and the engine is answered without it`);
    }
    if (row.stage === "replied" && row.id === undefined) {
      throw new Violation(`the record ${row.key} is answered, and lacks the id`);
    }
  }
}

/** An instance is destroyed: no other may hold it (4). */
export function checkDestroyed(w: World, run: Run, id: string): void {
  const holders = w.stacks.flat().filter((it) => it.id === id);
  const driven = w.runs.some(
    ({ engine, calls }) => engine === "alive" && calls.some((call) => call.id === id),
  );
  if (holders.length > 1 || driven) {
    throw new Violation(`${id} is destroyed by ${run.session}, and another holds it`);
  }
}
