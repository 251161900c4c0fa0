/** Carries out what the create protocol decides for one Create call, as `create.ts` does, in the explorer's world. */
import { RequestError, type FailureKind } from "../../provider/api/errors";
import type { LedgerEntry } from "../../provider/ledger/ledger";
import type { NewRecord } from "../../provider/ledger/record";
import type {
  Event,
  Failure,
  Observation,
  Result,
  SideEffect,
  Transition,
} from "../../provider/instance/protocol";
import {
  checkAdoption,
  checkFailure,
  checkLeftover,
  checkReply,
  checkSettled,
  endless,
  Violation,
} from "./invariants";
import type { Model, Scene } from "./slice";
import { settlingMs, type Call, type Row, type Run, type World } from "./world";

const failure = (kind: FailureKind, cause: string, status?: number) =>
  new RequestError({
    kind,
    cause,
    status,
    lasting: kind === "unsendable",
    method: "POST",
    path: "/v2/instances",
  });
/** The ways in which a request of the model may fail. */
export const failures = {
  broken: failure("answered", "500", 500),
  cut: failure("unanswered", "cut"),
  refused: failure("answered", "refused", 400),
  limited: failure("answered", "429", 429),
  unreachable: failure("unreachable", "not sent"),
  unsendable: failure("unsendable", "unsendable"),
};

/** Begins a Create call. It runs up to its first wait. */
export function beginCall(
  model: Model,
  world: World,
  run: Run,
  resource: number,
  replaces: boolean,
): void {
  const call: Call = {
    resource,
    replaces,
    state: { phase: "readingLedger", earlier: { takeovers: 0 } },
    key: undefined,
    idMadeByPost: undefined,
    id: undefined,
    before: undefined,
    reportedPartial: false,
    settlingWaits: 0,
    recordsWritten: 0,
  };
  run.calls.push(call);
  const unfinished = run.unfinished.find((it) => it.resource === resource);
  call.id = unfinished?.id;
  const first = model.rules.begin(unfinished && { key: unfinished.key, id: unfinished.id });
  carryOutUntilWait({ model, world, run, call }, first);
}

/** Continues the call after the event that it waited for, up to the next wait. */
export function continueWith(scene: Scene, event: Event): void {
  const { model, run, call } = scene;
  carryOutUntilWait(scene, model.rules.step(model.spec(run, call.resource), call.state, event));
}

/** Continues the call after the wait before its state. */
export function wakeUp(scene: Scene): void {
  const { wakeAt: _, ...state } = scene.call.state;
  carryOutUntilWait(scene, { state, effects: [] });
}

/** Carries out transitions until the call waits or ends. */
function carryOutUntilWait(scene: Scene, first: Transition): void {
  const { model, run, call } = scene;
  const spec = model.spec(run, call.resource);
  let current = first;
  for (;;) {
    for (const effect of current.effects) carryOut(scene, effect);
    const { state } = current;
    call.state = state;
    if (state.wakeAt !== undefined) return;
    if (state.phase === "readingLedger") {
      const entries = ledgerEntries(scene);
      current = model.rules.step(spec, state, { kind: "ledgerRead", entries, now: 0 });
    } else if (state.phase === "writingRecord") {
      const key = writeRecord(scene, state.fields);
      const entries = ledgerEntries(scene);
      current = model.rules.step(spec, state, { kind: "recorded", key, entries });
    } else {
      if ("earlier" in state && state.earlier.takeovers > 6) throw new Violation(endless);
      if (state.phase === "ended") ended(scene, state.result);
      return;
    }
  }
}

/** Writes the record of a create, and returns its key. */
function writeRecord(scene: Scene, fields: Omit<NewRecord, "at">): string {
  const { model, run, call } = scene;
  const { session } = run;
  const count = ledger(scene).filter((row) => row.session === session).length;
  const key = `${session}-${call.resource}${count}`;
  call.recordsWritten++;
  call.key = key;
  const own = { key, session, owner: session, at: "", stage: "sending" } as const;
  const row: Row = { ...fields, ...own, young: true, sent: 0, made: [] };
  if (!model.slice.noDisk) ledger(scene).push(row);
  return key;
}

/** Keeps the accepted instance, or replies with the failure. */
function ended(scene: Scene, result: Result): void {
  const { run, call } = scene;
  if (result.kind === "accepted") {
    call.id = result.id;
    call.key = result.key;
    call.before = result.before && [...result.before.keys()];
    return;
  }
  nameInstancesOfFailure(scene, result.failure);
  checkFailure(scene, result.failure);
  const row = rowOf(scene, call.key);
  if (row) row.ended = true;
  reply(scene, undefined);
  run.retry = { resource: call.resource, replaces: call.replaces, id: undefined };
}

/**
 * Replies with the accepted instance, which is ready or unfinished. `heard` is false if the plugin knows that
 * its engine is gone, so that nobody receives the reply.
 */
export function finish(
  scene: Scene,
  { ready, heard = true }: { ready: boolean; heard?: boolean },
): void {
  const { run, call } = scene;
  const { id, key, resource, replaces } = call;
  if (id === undefined || key === undefined) throw new Error("finished without an instance");
  if (call.before) {
    const observation = observationOf(scene, shownIn(scene), true);
    const { name } = scene.model.spec(run, resource);
    const post = { key, name, before: new Set(call.before) };
    for (const extra of scene.model.rules.findNewInstances(observation, post))
      noteNamed(scene, extra);
  }
  const row = rowOf(scene, key);
  if (row) Object.assign(row, { ...(heard && { stage: "replied" }), ended: true });
  reply(scene, id);
  if (!ready) {
    run.unfinished = [
      ...run.unfinished.filter((it) => it.resource !== resource),
      { resource, key, id },
    ];
    run.retry = { resource, replaces, id };
  } else run.unsaved = { resource, id, replaces };
}

/** Removes the call, which has replied. */
function reply(scene: Scene, id: string | undefined): void {
  const { run, call } = scene;
  checkReply(scene, id);
  run.calls = run.calls.filter((it) => it !== call);
}

// ── The ledger ───────────────────────────────────────────────────────────────────────────────────

/** The records on the machine of this run. */
export function ledger({ model, world, run }: Omit<Scene, "call">): Row[] {
  const rows = world.ledgers[model.plan(run).machine ?? 0];
  if (!rows) throw new Error("no such machine");
  return rows;
}

/** The record of this key if this session owns it. */
function rowOf(scene: Scene, key: string | undefined): Row | undefined {
  const row = ledger(scene).find((it) => it.key === key);
  return row?.owner === scene.run.session ? row : undefined;
}

/** Whether the session that owns a record lives and holds its lock. */
function isOwnerAlive({ runs }: World, row: Row): boolean {
  return runs.some((run) => run.session === row.owner && !run.unlocked);
}

function ledgerEntries(scene: Scene): LedgerEntry[] {
  const { model, world, run } = scene;
  return ledger(scene).map((record) => {
    const own = record.owner === run.session;
    const unlockable = !own && model.slice.unlockable === true;
    const live = !unlockable && isOwnerAlive(world, record);
    const inFlight = live && !record.ended;
    return { record: { ...record }, inFlight, live, unlockable };
  });
}

/** Does what `Ledger.take` does, and continues the call. */
export function takeOver(scene: Scene): void {
  const { model, world, run, call } = scene;
  const { state } = call;
  if (state.phase !== "takingOver") throw new Error("nothing to take");
  const row = ledger(scene).find((it) => it.key === state.record.key);
  const own = row?.owner === run.session;
  const isFree = own
    ? row.ended === true
    : row !== undefined && !model.slice.unlockable && !isOwnerAlive(world, row);
  const isUnchanged = row?.owner === state.record.owner && row.stage === state.record.stage;
  if (!row || !isFree || !isUnchanged)
    return continueWith(scene, { kind: "takenOver", isTaken: false, settledBy: 0 });
  row.owner = run.session;
  delete row.ended;
  call.key = row.key;
  continueWith(scene, { kind: "takenOver", isTaken: true, settledBy: row.young ? settlingMs : 0 });
}

// ── Side effects ────────────────────────────────────────────────────────────────────────────────────────

function carryOut(scene: Scene, effect: SideEffect): void {
  const { run, call } = scene;
  const rows = ledger(scene);
  switch (effect.do) {
    case "updateRecord": {
      const row = rowOf(scene, effect.key);
      if (!row) return;
      Object.assign(row, effect.change);
      if (row.stage === "sending") row.young = true;
      // The record of a POST that made nothing tells no worlds apart.
      if (row.stage !== "settled") return;
      rows.splice(rows.indexOf(row), 1);
      call.key = undefined;
      return;
    }
    case "accept": {
      const { key, accepted, from } = effect;
      run.made = [...run.made, accepted.id];
      if (from !== "answer") {
        run.takenOver = [...run.takenOver, accepted.id];
        checkAdoption(scene, accepted.id);
      }
      const row = rowOf(scene, key);
      if (!row) return;
      Object.assign(row, { stage: "accepted", id: accepted.id });
      if (from === "answer") row.young = true;
      return;
    }
    case "settleRecord": {
      const row = rows.find((it) => it.key === effect.key);
      if (row) {
        checkSettled(scene.world, row, effect.as);
        Object.assign(row, { stage: "settled", settled: effect.as });
      }
      call.key = undefined;
      return;
    }
    case "reportPending":
      for (const { key, id } of effect.records) {
        const row = rows.find((it) => it.key === key);
        for (const made of id === undefined ? (row?.made ?? []) : [id]) noteNamed(scene, made);
      }
      return;
    case "reportLeftovers":
      for (const { id } of effect.items) {
        checkLeftover(scene, id);
        noteNamed(scene, id);
      }
      if (effect.partial) call.reportedPartial = true;
      return;
  }
}

function noteNamed({ world, run }: Scene, id: string): void {
  const instance = world.instances.find((it) => it.id === id);
  if (instance) instance.namedBy = run.session;
}

/** Notes the instances that the error message of a failed create names. */
function nameInstancesOfFailure(scene: Scene, failure: Failure): void {
  if ("record" in failure) noteNamed(scene, failure.record.id ?? "");
  if ("items" in failure) for (const { id } of failure.items) noteNamed(scene, id);
  if ("why" in failure && "ids" in failure.why)
    for (const id of failure.why.ids) noteNamed(scene, id);
}

// ── What a listing shows ─────────────────────────────────────────────────────────────────────────

/** Returns the ids of the instances that a complete listing surely shows now. */
export function shownIn({ model, world, run, call }: Scene): string[] {
  const { tokenHash } = model.spec(run, call.resource).own;
  return world.instances
    .filter((it) => it.alive && it.listed && it.token === tokenHash)
    .map((it) => it.id);
}

/** Returns a listing that shows these instances, with what the session and the ledger know now. */
export function observationOf(
  scene: Scene,
  shown: readonly string[],
  complete: boolean,
): Observation {
  const { world, run } = scene;
  const items = new Map(
    world.instances.filter((it) => shown.includes(it.id)).map(({ id, name }) => [id, { id, name }]),
  );
  return {
    items,
    complete,
    begunAt: 0,
    isOfThisSession: (id) => run.made.includes(id),
    isNamedByEngine: (id) => run.namedByEngine.includes(id),
    isInState: (id) => run.proven.includes(id),
    isSettling: (record) => (record as Row).young,
    entries: ledgerEntries(scene),
  };
}
