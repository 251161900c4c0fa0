/** Carries out what the create protocol decides for one Create call, as `create.ts` does, in the explorer's world. */
import { RequestError } from "../../provider/api/errors";
import type { LedgerEntry } from "../../provider/ledger/ledger";
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

/** The request that every error below names. */
const postRequest = { method: "POST", path: "/v2/instances" };
// The ways in which a request of the model may fail.
export const broken = new RequestError({
  kind: "answered",
  status: 500,
  cause: "500",
  ...postRequest,
});
export const cut = new RequestError({ kind: "unanswered", cause: "cut", ...postRequest });
export const refused = new RequestError({
  kind: "answered",
  status: 400,
  cause: "refused",
  ...postRequest,
});
export const limited = new RequestError({
  kind: "answered",
  status: 429,
  cause: "429",
  ...postRequest,
});
export const unreachable = new RequestError({
  kind: "unreachable",
  cause: "not sent",
  ...postRequest,
});
export const unsendable = new RequestError({
  kind: "unsendable",
  cause: "unsendable",
  lasting: true,
  ...postRequest,
});
export const canceled = new Error("canceled");

/** Begins a Create call of the engine. The call runs up to its first wait. */
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
  const scene = { model, world, run, call };
  const unfinished = run.unfinished.find((it) => it.resource === resource);
  if (unfinished) call.id = unfinished.id;
  const { begin } = model.rules;
  const first = unfinished ? begin({ key: unfinished.key, id: unfinished.id }) : begin();
  carryOutUntilWait(scene, first);
}

/** Continues the call after the event that it waited for, up to the next wait. */
export function continueWith(scene: Scene, event: Event): void {
  const { model, run, call } = scene;
  carryOutUntilWait(scene, model.rules.step(model.spec(run, call.resource), call.state, event));
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
    switch (state.phase) {
      case "readingLedger":
        current = model.rules.step(spec, state, {
          kind: "ledgerRead",
          entries: ledgerEntries(scene),
          now: 0,
        });
        continue;
      case "writingRecord": {
        const key = `${run.session}-${call.resource}${ledger(scene).filter((row) => row.session === run.session).length}`;
        call.recordsWritten++;
        const row: Row = {
          ...state.fields,
          key,
          session: run.session,
          owner: run.session,
          at: "",
          stage: "sending",
          young: true,
          sent: 0,
          made: [],
        };
        if (!model.slice.noDisk) ledger(scene).push(row);
        call.key = key;
        current = model.rules.step(spec, state, {
          kind: "recorded",
          key,
          entries: ledgerEntries(scene),
        });
        continue;
      }
      case "ended":
        return ended(scene, state.result);
      case "takingOver":
      case "findingInstance":
      case "searchingForRecord":
      case "takingBaseline":
      case "renewingBaseline":
      case "awaitingPermit":
      case "posting":
      case "searchingAfterPost":
      case "sleeping":
        if ("earlier" in state && state.earlier.takeovers > 6) throw new Violation(endless);
        return;
    }
  }
}

/** The protocol has ended: keeps the accepted instance, or replies with the failure. */
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

/** Removes the call, which has replied with this id, or without an id. */
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

/** Returns the ledger as the protocol sees it. */
function ledgerEntries(scene: Scene): LedgerEntry[] {
  const { model, world, run } = scene;
  return ledger(scene).map((record) => {
    const own = record.owner === run.session;
    const unlockable = !own && model.slice.unlockable === true;
    const live = !unlockable && isOwnerAlive(world, record);
    const inFlight = live && !record.ended;
    return { record: { ...record }, inFlight, live, unlockable, own };
  });
}

/** Does what `Ledger.take` does for the record that the call wants to take over, and continues the call. */
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
      if (effect.change.stage === "sending") row.young = true;
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
    case "dropRecord": {
      const row = rows.find((it) => it.key === effect.key);
      if (row) rows.splice(rows.indexOf(row), 1);
      call.key = undefined;
      return;
    }
    case "reportPending":
      for (const { key, id } of effect.records) {
        const row = ledger(scene).find((it) => it.key === key);
        for (const made of id === undefined ? (row?.made ?? []) : [id]) noteNamed(scene, made);
      }
      return;
    case "reportLeftovers":
      for (const { id } of effect.items) {
        checkLeftover(scene, id);
        noteNamed(scene, id);
      }
      if (effect.partial) scene.call.reportedPartial = true;
      return;
  }
}

/** Notes that this run named the instance to a person. */
function noteNamed({ world, run }: Scene, id: string): void {
  const instance = world.instances.find((it) => it.id === id);
  if (instance) instance.namedBy = run.session;
}

/** Notes the instances that the error message of a failed create names. */
function nameInstancesOfFailure(scene: Scene, failure: Failure): void {
  switch (failure.kind) {
    case "pending": {
      const { record, why } = failure;
      if (record.id !== undefined) noteNamed(scene, record.id);
      if ("ids" in why) for (const it of why.ids) noteNamed(scene, it);
      return;
    }
    case "leftovers":
      for (const { id } of failure.items) noteNamed(scene, id);
      return;
    case "undeletable":
      return noteNamed(scene, failure.record.id ?? "");
    case "unclear":
      if ("ids" in failure.why) for (const id of failure.why.ids) noteNamed(scene, id);
      return;
    case "listingFailed":
    case "notSent":
    case "refused":
    case "stopped":
  }
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
