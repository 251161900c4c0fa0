/** One Create call: carries out what the protocol asks for, as `create.ts` does, in the explorer's world. */
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

const asked = { method: "POST", path: "/v2/instances" };
export const broken = new RequestError({ kind: "answered", status: 500, cause: "500", ...asked });
export const cut = new RequestError({ kind: "unanswered", cause: "cut", ...asked });
export const refused = new RequestError({
  kind: "answered",
  status: 400,
  cause: "refused",
  ...asked,
});
export const limited = new RequestError({ kind: "answered", status: 429, cause: "429", ...asked });
export const unreachable = new RequestError({ kind: "unreachable", cause: "not sent", ...asked });
export const unsendable = new RequestError({
  kind: "unsendable",
  cause: "unsendable",
  lasting: true,
  ...asked,
});
export const canceled = new Error("canceled");

/** The engine asks for a resource: the call goes up to the first thing that others may come between. */
export function beginCall(m: Model, w: World, run: Run, resource: number, replaces: boolean): void {
  const call: Call = {
    resource,
    replaces,
    state: { phase: "readingLedger", earlier: { takeovers: 0 } },
    key: undefined,
    acted: undefined,
    id: undefined,
    before: undefined,
    toldPartial: false,
    waits: 0,
    begins: 0,
  };
  run.calls.push(call);
  const scene = { m, w, run, call };
  const known = run.unfinished.find((it) => it.resource === resource);
  if (known) call.id = known.id;
  const { begin } = m.rules;
  const first = known ? begin({ key: known.key, id: known.id }) : begin();
  follow(scene, first);
}

/** What the call waited for has happened. */
export function happens(scene: Scene, event: Event): void {
  const { m, run, call } = scene;
  follow(scene, m.rules.step(m.spec(run, call.resource), call.state, event));
}

function follow(scene: Scene, first: Transition): void {
  const { m, run, call } = scene;
  const spec = m.spec(run, call.resource);
  let current = first;
  for (;;) {
    for (const effect of current.effects) carryOut(scene, effect);
    const { state } = current;
    call.state = state;
    switch (state.phase) {
      case "readingLedger":
        current = m.rules.step(spec, state, {
          kind: "ledgerRead",
          entries: entries(scene),
          now: 0,
        });
        continue;
      case "writingRecord": {
        const { sameNamedIds } = state.attempt.baseline;
        const key = `${run.session}-${call.resource}${ledger(scene).filter((row) => row.session === run.session).length}`;
        call.begins++;
        const { scope, stateless, origin, urn, recordedName: name, nameKind: kind, digest } = spec;
        const row: Row = {
          ...origin,
          ...(scope === undefined ? {} : { scope }),
          ...(stateless ? { stateless } : {}),
          key,
          session: run.session,
          owner: run.session,
          urn,
          name,
          kind,
          digest,
          before: sameNamedIds,
          at: "",
          stage: "sending",
          young: true,
          sent: 0,
          made: [],
        };
        if (!m.slice.noDisk) ledger(scene).push(row);
        call.key = key;
        current = m.rules.step(spec, state, {
          kind: "recorded",
          key,
          entries: entries(scene),
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

function ended(scene: Scene, result: Result): void {
  const { run, call } = scene;
  if (result.kind === "accepted") {
    call.id = result.id;
    call.key = result.key;
    call.before = result.before && [...result.before];
    return;
  }
  tellFailure(scene, result.failure);
  checkFailure(scene, result.failure);
  const row = rowOf(scene, call.key);
  if (row) row.ended = true;
  reply(scene, undefined);
  run.retry = { resource: call.resource, replaces: call.replaces, id: undefined };
}

/**
 * The accepted instance got ready, or did not: the reply is written. `heard`: the plugin does not know
 * that its engine is gone.
 */
export function finish(scene: Scene, ready: boolean, heard = true): void {
  const { run, call } = scene;
  const { id, key, resource, replaces } = call;
  if (id === undefined || key === undefined) throw new Error("finished without an instance");
  if (call.before) {
    const observed = observationOf(scene, shownIn(scene), true);
    const name = scene.m.spec(run, resource).name;
    for (const extra of scene.m.rules.findNewInstances(observed, name, new Set(call.before), key))
      tell(scene, extra);
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

function reply(scene: Scene, id: string | undefined): void {
  const { run, call } = scene;
  checkReply(scene, id);
  run.calls = run.calls.filter((it) => it !== call);
}

// ── The ledger ───────────────────────────────────────────────────────────────────────────────────

export function ledger({ m, w, run }: Omit<Scene, "call">): Row[] {
  const rows = w.ledgers[m.plan(run).machine ?? 0];
  if (!rows) throw new Error("no such machine");
  return rows;
}

function rowOf(scene: Scene, key: string | undefined): Row | undefined {
  const row = ledger(scene).find((it) => it.key === key);
  return row?.owner === scene.run.session ? row : undefined;
}

/** Whether the session that drives a record lives and holds its lock. */
function isDriven({ runs }: World, row: Row): boolean {
  return runs.some((run) => run.session === row.owner && !run.unlocked);
}

function entries(scene: Scene): LedgerEntry[] {
  const { m, w, run } = scene;
  return ledger(scene).map((record) => {
    const own = record.owner === run.session;
    const unlockable = !own && m.slice.unlockable === true;
    const live = !unlockable && isDriven(w, record);
    const inFlight = live && !record.ended;
    return { record: { ...record }, inFlight, live, unlockable, own };
  });
}

/** `Ledger.take`, and what the driver adds to it. */
export function take(scene: Scene): void {
  const { m, w, run, call } = scene;
  const { state } = call;
  if (state.phase !== "takingOver") throw new Error("nothing to take");
  const row = ledger(scene).find((it) => it.key === state.record.key);
  const own = row?.owner === run.session;
  const free = own
    ? row.ended === true
    : row !== undefined && !m.slice.unlockable && !isDriven(w, row);
  const unchanged = row?.owner === state.record.owner && row.stage === state.record.stage;
  if (!row || !free || !unchanged)
    return happens(scene, { kind: "takenOver", isTaken: false, settledBy: 0 });
  row.owner = run.session;
  delete row.ended;
  call.key = row.key;
  happens(scene, { kind: "takenOver", isTaken: true, settledBy: row.young ? settlingMs : 0 });
}

// ── Side effects ────────────────────────────────────────────────────────────────────────────────────────

function carryOut(scene: Scene, effect: SideEffect): void {
  const { run, call } = scene;
  const rows = ledger(scene);
  switch (effect.do) {
    case "updateRecord": {
      const row = rowOf(scene, effect.key);
      if (!row) return;
      const { id, stage } = effect;
      Object.assign(row, { ...(id !== undefined && { id }), ...(stage && { stage }) });
      if (stage === "sending") row.young = true;
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
        checkSettled(scene.w, row, effect.as);
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
        for (const made of id === undefined ? (row?.made ?? []) : [id]) tell(scene, made);
      }
      return;
    case "reportLeftovers":
      for (const { id } of effect.items) {
        checkLeftover(scene, id);
        tell(scene, id);
      }
      if (effect.partial) scene.call.toldPartial = true;
      return;
  }
}

/** A person has read of this instance, in this run. */
function tell({ w, run }: Scene, id: string): void {
  const instance = w.instances.find((it) => it.id === id);
  if (instance) instance.namedBy = run.session;
}

function tellFailure(scene: Scene, failure: Failure): void {
  switch (failure.kind) {
    case "pending": {
      const { record, why } = failure;
      if (record.id !== undefined) tell(scene, record.id);
      if ("ids" in why) for (const it of why.ids) tell(scene, it);
      return;
    }
    case "leftovers":
      for (const { id } of failure.items) tell(scene, id);
      return;
    case "undeletable":
      return tell(scene, failure.record.id ?? "");
    case "unclear":
      if ("ids" in failure.why) for (const id of failure.why.ids) tell(scene, id);
      return;
    case "listingFailed":
    case "notSent":
    case "refused":
    case "stopped":
  }
}

// ── What a listing shows ─────────────────────────────────────────────────────────────────────────

/** The instances that a complete listing shows at this moment. */
export function shownIn({ m, w, run, call }: Scene): string[] {
  const { tokenHash } = m.spec(run, call.resource).origin;
  return w.instances
    .filter((it) => it.alive && it.listed && it.token === tokenHash)
    .map((it) => it.id);
}

export function observationOf(
  scene: Scene,
  shown: readonly string[],
  complete: boolean,
): Observation {
  const { w, run } = scene;
  const items = new Map(
    w.instances.filter((it) => shown.includes(it.id)).map(({ id, name }) => [id, { id, name }]),
  );
  return {
    items,
    complete,
    begunAt: 0,
    isOfThisSession: (id) => run.made.includes(id),
    isNamedByEngine: (id) => run.namedByEngine.includes(id),
    isInState: (id) => run.proven.includes(id),
    isSettling: (record) => (record as Row).young,
    entries: entries(scene),
  };
}
