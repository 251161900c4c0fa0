/** Carries out what the create protocol decides for one Create call, as `create.ts` and the ledger do, in the explorer's world. */
import { RequestError, type FailureKind } from "../../provider/api/requestError";
import { unsent, type Found, type Liveness } from "../../provider/ledger/record";
import type {
  Claim,
  Event,
  Failure,
  Look,
  Result,
  SideEffect,
  Transition,
} from "../../provider/create/protocol";
import {
  checkAdoption,
  checkCleared,
  checkFailure,
  checkIsOwn,
  checkLeftover,
  checkReply,
} from "./invariants";
import { settlingMs } from "./slice";
import {
  instanceOf,
  ledgerOf,
  tenantOf,
  type Asked,
  type Call,
  type Heard,
  type Row,
  type Run,
  type RunScene,
  type Scene,
  type World,
} from "./world";

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

/** Begins a Create call. It runs up to its first wait. An unfinished instance of an earlier call is known (`create.ts`). */
export function beginCall(scene: RunScene, { planned, replaces }: Asked): void {
  const { model, run } = scene;
  const unfinished = run.unfinished.find((instance) => instance.planned === planned);
  const call: Call = {
    planned,
    replaces,
    state: { phase: "claiming" },
    idMadeByPost: undefined,
    id: unfinished?.id,
    known: unfinished?.known ?? [],
    reportedPartial: false,
    hasWaited: false,
    settlingWaits: 0,
    recordsWritten: 0,
    sent: 0,
  };
  run.calls.push(call);
  hear(run, { what: "hold", urn: planned.urn, id: "", isUnfinished: true });
  if (unfinished) call.state = { phase: "ended", result: known };
  else carryOutUntilWait({ ...scene, call }, model.rules.begin());
}

/** Stands for the result of an earlier call. */
const known: Result = {
  kind: "accepted",
  accepted: { id: "", networks: [] },
  from: "answer",
  flavor: undefined,
  known: [],
};

/** Continues the call after the event that it waited for, up to the next wait. */
export function continueWith(scene: Scene, event: Event): void {
  const { model, call, run } = scene;
  const { spec, identity } = call.planned;
  const before = run.before[identity];
  const known = new Set(before?.known);
  const asked = { ...spec, replaces: before?.id, known };
  carryOutUntilWait(scene, model.rules.step(asked, call.state, event));
}

/** Continues the call after the wait before its state. */
export function wakeUp(scene: Scene): void {
  const { wakeAt: _, ...state } = scene.call.state;
  carryOutUntilWait(scene, { state, effects: [] });
}

/** Carries out transitions until the call waits or ends. */
function carryOutUntilWait(scene: Scene, { state, effects }: Transition): void {
  for (const effect of effects) carryOut(scene, effect);
  scene.call.state = state;
  scene.call.hasWaited ||= state.phase === "claiming" && state.waiting !== undefined;
  if (state.wakeAt !== undefined) return;
  if (state.phase === "claiming") {
    continueWith(scene, { kind: "claimed", claim: claim(scene), now: 0 });
  } else if (state.phase === "recording") {
    const { call } = scene;
    call.recordsWritten++;
    const row = rowOf(scene);
    if (row)
      Object.assign(row, { at: "", by: scene.run.session, before: state.before, young: true });
    continueWith(scene, { kind: "recorded" });
  } else if (state.phase === "ended") ended(scene, state.result);
}

/** Keeps the accepted instance, or replies with the failure. */
function ended(scene: Scene, result: Result): void {
  const { run, call } = scene;
  const row = rowOf(scene);
  if (result.kind === "accepted") {
    const { from } = result;
    const { id } = result.accepted;
    call.id = id;
    call.known = result.known;
    checkIsOwn(scene, id);
    run.made = [...run.made, id];
    if (from !== "answer") checkAdoption(scene, id);
    if (row) Object.assign(row, { id, ...(from === "answer" && { young: true }) });
    return;
  }
  nameInstancesOfFailure(scene, result.failure);
  checkFailure(scene, result.failure);
  // A create that ends before a POST leaves nothing in doubt.
  if (row && row.at === undefined) remove(scene, row);
  reply(scene, undefined);
  run.retry = { planned: call.planned, replaces: call.replaces, id: undefined, known: [] };
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
  const { id, planned, replaces, known } = call;
  if (id === undefined) throw new Error("finished without an instance");
  const row = rowOf(scene);
  if (row && heard) row.givenBy = run.session;
  hear(run, { what: "hold", urn: planned.urn, id, isUnfinished: !ready, known });
  const instance = instanceOf(scene.world, id);
  if (instance && ready) instance.isReady = true;
  reply(scene, id);
  if (ready) run.unsaved = { planned, replaces, id, known };
  else {
    const others = run.unfinished.filter((instance) => instance.planned !== planned);
    run.unfinished = [...others, { planned, id, known }];
    run.retry = { planned, replaces, id, known };
  }
}

/** Notes what the process of the program's provider resource has seen. */
export function hear(run: Run, heard: Omit<Heard, "provider">): void {
  const { provider } = run.plan;
  const after = run.heard.findLastIndex(({ urn }) => urn <= heard.urn);
  run.heard = run.heard.toSpliced(after + 1, 0, { provider, ...heard });
}

/** Removes the call, which has replied. */
function reply(scene: Scene, id: string | undefined): void {
  const { run, call } = scene;
  checkReply(scene, id);
  run.calls = run.calls.filter((other) => other !== call);
}

// ── The ledger ───────────────────────────────────────────────────────────────────────────────────

/** The file of a URN, if the machine of the run has one. */
export function fileOf({ model, world, run }: RunScene, urn: string): Row | undefined {
  const { fileNameOf } = model.rules;
  const name = fileNameOf(urn);
  return ledgerOf(model, world, run).find((row) => fileNameOf(row.urn) === name);
}

/** The record of the call's resource, if its session owns it, and may still write. */
export function rowOf(scene: Scene): Row | undefined {
  const { run, call } = scene;
  const row = fileOf(scene, call.planned.urn);
  return row?.session === run.session && !run.unlocked ? row : undefined;
}

export function remove({ model, world, run }: RunScene, row: Row): void {
  const rows = ledgerOf(model, world, run);
  rows.splice(rows.indexOf(row), 1);
}

/** Whether the session that owns a record lives and holds its lock. */
function isOwnerAlive({ runs }: World, row: Row): boolean {
  return runs.some((run) => run.session === row.session && !run.unlocked);
}

/** The record of a row, and whether its owner is alive. */
export function foundIn({ model, world, run }: RunScene, row: Row): Found {
  const isUnknown = row.session !== run.session && model.slice.unlockable === true;
  const liveness: Liveness = isOwnerAlive(world, row) ? "alive" : "dead";
  return { record: { ...row }, liveness: isUnknown ? "unknown" : liveness };
}

/** Does what `Ledger.claim` does. */
function claim(scene: Scene): Claim {
  const { model, world, run, call } = scene;
  const { urn, spec } = call.planned;
  const row = fileOf(scene, urn);
  if (row) {
    const listedBy = row.young ? settlingMs : 0;
    return { kind: "found", listedBy, ...foundIn(scene, row) };
  }
  const fresh = { ...unsent(spec.identity), young: false, sent: false, made: [] };
  ledgerOf(model, world, run).push(fresh);
  return { kind: "made" };
}

/** Does what `Ledger.takeOver` does, and continues the call. */
export function takeOver(scene: Scene): void {
  const { model, run, call } = scene;
  const { state } = call;
  if (state.phase !== "takingOver") throw new Error("nothing to take");
  const { session, at, id } = state.waiting.record;
  const row = fileOf(scene, call.planned.urn);
  const isUnchanged = row?.session === session && row.at === at && row.id === id;
  const isTaken = isUnchanged && model.rules.mayTakeOver(foundIn(scene, row), run.session);
  if (isTaken) row.session = run.session;
  continueWith(scene, { kind: "takenOver", isTaken, now: 0 });
}

// ── Side effects ────────────────────────────────────────────────────────────────────────────────────────

function carryOut(scene: Scene, effect: SideEffect): void {
  const { world, call } = scene;
  switch (effect.do) {
    case "clear": {
      const row = rowOf(scene);
      if (!row) return;
      checkCleared(world, row);
      for (const key of ["at", "by", "id", "givenBy", "accepted"] as const) delete row[key];
      const fresh = unsent(call.planned.spec.identity);
      Object.assign(row, fresh, { young: false, sent: false, made: [] });
      return;
    }
    case "reportLeftovers":
      for (const { id } of effect.items) {
        checkLeftover(scene, id);
        noteNamed(scene, id);
      }
      call.reportedPartial ||= effect.partial;
      return;
  }
}

export function noteNamed({ world, run }: RunScene, id: string | undefined): void {
  const instance = instanceOf(world, id);
  if (instance) instance.namedBy = run.session;
}

/** Notes the instances that the error message of a failed create names. */
function nameInstancesOfFailure(scene: Scene, failure: Failure): void {
  if ("record" in failure) {
    noteNamed(scene, failure.record.id);
    if ("id" in failure.why) noteNamed(scene, failure.why.id);
    if ("ids" in failure.why) for (const id of failure.why.ids) noteNamed(scene, id);
  }
  if ("items" in failure) for (const { id } of failure.items) noteNamed(scene, id);
}

// ── What a listing shows ─────────────────────────────────────────────────────────────────────────

/** Returns the ids of the instances that a complete listing surely shows now. */
export function shownIn({ world, call }: Scene): string[] {
  const tenant = tenantOf(call.planned.spec.identity.tokenHash);
  return world.instances
    .filter((instance) => instance.alive && instance.listed && instance.tenant === tenant)
    .map(({ id }) => id);
}

/** Returns a listing that shows these instances, with what the session and the ledger know now. */
export function lookAt(scene: Scene, shown: readonly string[], complete: boolean): Look {
  const { world, run } = scene;
  const items = world.instances.filter(({ id }) => shown.includes(id));
  return {
    listing: {
      items: new Map(items.map(({ id, name }) => [id, { id, name }])),
      complete,
      completeStatuses: new Set(),
      unreadable: 0,
      begunAt: 0,
      endedAt: 0,
    },
    ours: new Set(run.made),
    shown: new Set(run.shown),
    ...whileSearching(scene),
  };
}

/** Returns what a search gets besides: the ids in other records, and what `KnownState.vouchersOf` returns. */
function whileSearching({ model, world, run, call }: Scene): Partial<Look> {
  const { state, planned } = call;
  if (state.phase !== "searching") return {};
  const others = ledgerOf(model, world, run).filter(({ urn }) => urn !== planned.urn);
  const recorded = new Set(others.flatMap(({ id }) => id ?? []));
  const { tokenHash, id } = state.search.record;
  if (tokenHash === planned.spec.identity.tokenHash) return { recorded };
  const isOfToken = (other: string) =>
    other !== id && instanceOf(world, other)?.tokenHash === tokenHash;
  return { recorded, vouchers: new Set(run.shown.filter(isOfToken)) };
}
