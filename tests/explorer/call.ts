/** One Create call: carries out what the protocol asks for, as `create.ts` does, in the explorer's world. */
import { RequestError } from "../../provider/api/errors";
import type { LedgerEntry } from "../../provider/ledger/ledger";
import type {
  Event,
  Failure,
  Look,
  Note,
  Result,
  Step,
  Told,
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
const start = { do: "read" } as const;

/** The engine asks for a resource: the call goes up to the first thing that others may come between. */
export function beginCall(m: Model, w: World, run: Run, resource: number, replaces: boolean): void {
  const call: Call = {
    resource,
    replaces,
    state: { phase: "done" },
    ask: start,
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
  const first = known
    ? begin({ key: known.key, accepted: { id: known.id, networks: [] } })
    : begin();
  follow(scene, first);
}

/** What the call waited for has happened. */
export function happens(scene: Scene, event: Event): void {
  const { m, run, call } = scene;
  follow(scene, m.rules.step(m.order(run, call.resource), call.state, event));
}

function follow(scene: Scene, first: Step): void {
  const { m, run, call } = scene;
  const order = m.order(run, call.resource);
  let current = first;
  for (;;) {
    for (const note of current.notes) carryOut(scene, note);
    call.state = current.state;
    call.ask = current.ask;
    const { ask } = current;
    switch (ask.do) {
      case "read":
        current = m.rules.step(order, call.state, {
          kind: "read",
          entries: entries(scene),
          now: 0,
        });
        continue;
      case "begin": {
        const key = `${run.session}-${call.resource}${ledger(scene).filter((row) => row.session === run.session).length}`;
        call.begins++;
        const { scope, stateless, origin, urn, recordedName: name, kind, digest } = order;
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
          before: ask.before,
          beforeComplete: ask.beforeComplete,
          at: "",
          stage: "sending",
          young: true,
          sent: 0,
          made: [],
        };
        if (!m.slice.noDisk) ledger(scene).push(row);
        call.key = key;
        current = m.rules.step(order, call.state, { kind: "begun", key, entries: entries(scene) });
        continue;
      }
      case "end":
        return ended(scene, ask.result);
      case "take":
      case "search":
      case "enter":
      case "look":
      case "permit":
      case "post":
      case "sleep":
        if ("past" in call.state && call.state.past.takes > 6) throw new Violation(endless);
        return;
    }
  }
}

function ended(scene: Scene, result: Result): void {
  const { run, call } = scene;
  if (result.kind === "accepted") {
    call.id = result.accepted.id;
    call.key = result.key;
    call.before = result.unclear ? [...result.unclear.before] : undefined;
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
    const look = lookOf(scene, shownIn(scene), true);
    const name = scene.m.order(run, resource).name;
    for (const extra of scene.m.rules.newOfName(look, name, new Set(call.before), key))
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
  const { ask } = call;
  if (ask.do !== "take") throw new Error("nothing to take");
  const row = ledger(scene).find((it) => it.key === ask.record.key);
  const own = row?.owner === run.session;
  const free = own
    ? row.ended === true
    : row !== undefined && !m.slice.unlockable && !isDriven(w, row);
  const unchanged = row?.owner === ask.record.owner && row.stage === ask.record.stage;
  if (!row || !free || !unchanged)
    return happens(scene, { kind: "taken", ok: false, settledBy: 0 });
  row.owner = run.session;
  delete row.ended;
  call.key = row.key;
  happens(scene, { kind: "taken", ok: true, settledBy: row.young ? settlingMs : 0 });
}

// ── Notes ────────────────────────────────────────────────────────────────────────────────────────

function carryOut(scene: Scene, note: Note): void {
  const { run, call } = scene;
  const rows = ledger(scene);
  switch (note.do) {
    case "move": {
      const row = rowOf(scene, note.key);
      if (!row) return;
      row.stage = note.stage;
      if (note.stage === "sending") row.young = true;
      return;
    }
    case "accept": {
      const { key, accepted, resumed } = note;
      run.made = [...run.made, accepted.id];
      if (resumed) {
        run.takenOver = [...run.takenOver, accepted.id];
        checkAdoption(scene, accepted.id);
      }
      const row = rowOf(scene, key);
      if (!row) return;
      Object.assign(row, { stage: "accepted", id: accepted.id });
      if (!resumed) row.young = true;
      return;
    }
    case "found": {
      const row = rowOf(scene, note.key);
      if (row) row.id = note.id;
      return;
    }
    case "settle": {
      const row = rows.find((it) => it.key === note.key);
      if (row) {
        checkSettled(scene.w, row, note.how);
        Object.assign(row, { stage: "settled", settled: note.how });
      }
      call.key = undefined;
      return;
    }
    case "drop": {
      const row = rows.find((it) => it.key === note.key);
      if (row) rows.splice(rows.indexOf(row), 1);
      call.key = undefined;
      return;
    }
    case "tell":
      return tellOf(scene, note.what);
  }
}

function tellOf(scene: Scene, what: Told): void {
  switch (what.kind) {
    case "pending":
      for (const { key, id } of what.records) {
        const row = ledger(scene).find((it) => it.key === key);
        for (const made of id === undefined ? (row?.made ?? []) : [id]) tell(scene, made);
      }
      return;
    case "leftovers":
      for (const { id } of what.items) {
        checkLeftover(scene, id);
        tell(scene, id);
      }
      if (what.partial) scene.call.toldPartial = true;
      return;
    case "resumed":
    case "lookingAfterFailure":
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
      const { record, id = record.id, why } = failure;
      if (id !== undefined) tell(scene, id);
      if ("ids" in why) for (const it of why.ids) tell(scene, it);
      return;
    }
    case "leftovers":
      for (const { id } of failure.items) tell(scene, id);
      return;
    case "standing":
      return tell(scene, failure.id);
    case "unclear":
      if ("ids" in failure) for (const id of failure.ids) tell(scene, id);
      return;
    case "lookFailed":
    case "notSent":
    case "refused":
    case "stopped":
  }
}

// ── What a listing shows ─────────────────────────────────────────────────────────────────────────

/** The instances that a complete listing shows at this moment. */
export function shownIn({ m, w, run, call }: Scene): string[] {
  const { tokenHash } = m.order(run, call.resource).origin;
  return w.instances
    .filter((it) => it.alive && it.listed && it.token === tokenHash)
    .map((it) => it.id);
}

export function lookOf(scene: Scene, shown: readonly string[], complete: boolean): Look {
  const { w, run } = scene;
  const items = new Map(
    w.instances.filter((it) => shown.includes(it.id)).map(({ id, name }) => [id, { id, name }]),
  );
  return {
    items,
    complete,
    begunAt: 0,
    isMade: (id) => run.made.includes(id),
    isCarried: (id) => run.carried.includes(id),
    isHeld: (id) => run.proven.includes(id),
    mayLack: (record) => (record as Row).young,
    entries: entries(scene),
  };
}
