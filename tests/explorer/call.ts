/** Carries out what the create protocol decides for one Create call, as `create.ts` does, in the explorer's world. */
import { RequestError, type FailureKind } from "../../provider/api/errors";
import { isPending } from "../../provider/ledger/record";
import { stackOf } from "../../provider/pulumiNames";
import type {
  Entry,
  Event,
  Failure,
  Look,
  RecordFields,
  Result,
  SideEffect,
  Transition,
} from "../../provider/instance/protocol";
import {
  checkAdoption,
  checkFailure,
  checkIsOwn,
  checkLeftover,
  checkReply,
  checkSettled,
  endless,
  failIf,
} from "./invariants";
import { settlingMs, type Planned } from "./slice";
import {
  instanceOf,
  ledgerOf,
  tenantOf,
  type Asked,
  type Call,
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
  register(run, planned);
  const unfinished = run.unfinished.find((instance) => instance.planned === planned);
  const call: Call = {
    planned,
    replaces,
    state: { phase: "readingLedger", earlier: { takeovers: 0 } },
    key: unfinished?.key,
    idMadeByPost: undefined,
    id: unfinished?.id,
    unclearPost: undefined,
    reportedPartial: false,
    settlingWaits: 0,
    recordsWritten: 0,
    sent: 0,
  };
  run.calls.push(call);
  if (unfinished) call.state = { phase: "ended", result: known };
  else carryOutUntilWait({ ...scene, call }, model.rules.begin());
}

/** Stands for the result of an earlier call. */
const known: Result = {
  kind: "accepted",
  key: "",
  accepted: { id: "", networks: [] },
  from: "answer",
  unclearPost: undefined,
};

/** Notes that the engine has called Check for the resource. */
export function register(run: Run, planned: Planned): void {
  if (!run.registered.includes(planned)) run.registered = [...run.registered, planned];
}

/** Continues the call after the event that it waited for, up to the next wait. */
export function continueWith(scene: Scene, event: Event): void {
  const { model, call } = scene;
  carryOutUntilWait(scene, model.rules.step(call.planned.spec, call.state, event));
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
  if (state.wakeAt !== undefined) return;
  if (state.phase === "readingLedger") {
    const entries = ledgerEntries(scene);
    continueWith(scene, { kind: "ledgerRead", entries, registered: registeredIn(scene), now: 0 });
  } else if (state.phase === "writingRecord") {
    const key = writeRecord(scene, state.fields);
    continueWith(scene, { kind: "recorded", key, entries: ledgerEntries(scene) });
  } else {
    failIf("earlier" in state && state.earlier.takeovers > 6, endless);
    if (state.phase === "ended") ended(scene, state.result);
  }
}

/** The URNs of the resources for which the engine has called Check. */
function registeredIn({ run }: Scene): Set<string> {
  return new Set(run.registered.map(({ urn }) => urn));
}

/** Writes the record of a create, and returns its key. */
function writeRecord({ model, world, run, call }: Scene, fields: RecordFields): string {
  const { session } = run;
  const rows = ledgerOf(world, run);
  const count = rows.filter((row) => row.session === session).length;
  const key = `${session}-${run.plan.program.indexOf(call.planned)}${count}`;
  call.recordsWritten++;
  call.key = key;
  const own = { key, session, owner: session, at: "", stage: "sending" } as const;
  if (!model.slice.noDisk) rows.push({ ...fields, ...own, young: true, sent: 0, made: [] });
  return key;
}

/** Keeps the accepted instance, or replies with the failure. */
function ended(scene: Scene, result: Result): void {
  const { run, call } = scene;
  if (result.kind === "accepted") {
    const { key, from, unclearPost } = result;
    const { id } = result.accepted;
    call.id = id;
    call.key = key;
    checkIsOwn(scene, id);
    run.made = [...run.made, id];
    if (from !== "answer") {
      run.takenOver = [...run.takenOver, id];
      checkAdoption(scene, id);
    }
    const row = rowOf(scene, key);
    if (row)
      Object.assign(row, { stage: "accepted", id, ...(from === "answer" && { young: true }) });
    call.unclearPost = unclearPost && { ...unclearPost, before: [...unclearPost.before.keys()] };
    return;
  }
  nameInstancesOfFailure(scene, result.failure);
  checkFailure(scene, result.failure);
  const row = rowOf(scene, call.key);
  if (row) row.ended = true;
  reply(scene, undefined);
  run.retry = { planned: call.planned, replaces: call.replaces, id: undefined };
}

/**
 * Replies with the accepted instance, which is ready or unfinished. `heard` is false if the plugin knows that
 * its engine is gone, so that nobody receives the reply.
 */
export function finish(
  scene: Scene,
  { ready, heard = true }: { ready: boolean; heard?: boolean },
): void {
  const { model, run, call } = scene;
  const { id, key, planned, replaces } = call;
  if (id === undefined || key === undefined) throw new Error("finished without an instance");
  const { unclearPost } = call;
  if (unclearPost) {
    const look = lookAt(scene, shownIn(scene), true);
    const post = { ...unclearPost, before: new Set(unclearPost.before) };
    for (const extra of model.rules.findNewInstances(look, post)) noteNamed(scene, extra);
  }
  const row = rowOf(scene, key);
  if (row) Object.assign(row, { ...(heard && { stage: "replied" }), ended: true });
  reply(scene, id);
  if (ready) run.unsaved = { planned, replaces, id };
  else {
    const others = run.unfinished.filter((instance) => instance.planned !== planned);
    run.unfinished = [...others, { planned, key, id }];
    run.retry = { planned, replaces, id };
  }
}

/** Removes the call, which has replied. */
function reply(scene: Scene, id: string | undefined): void {
  const { run, call } = scene;
  checkReply(scene, id);
  run.calls = run.calls.filter((other) => other !== call);
}

// ── The ledger ───────────────────────────────────────────────────────────────────────────────────

/** The record of this key if this session owns it. */
function rowOf({ world, run }: Scene, key: string | undefined): Row | undefined {
  return ledgerOf(world, run).find((row) => row.key === key && row.owner === run.session);
}

/** Whether the session that owns a record lives and holds its lock. */
export function isOwnerAlive({ runs }: World, row: Row): boolean {
  return runs.some((run) => run.session === row.owner && !run.unlocked);
}

/** Whether the record is of the run's stack. */
function isOfStack({ urn, stateless }: Row, { plan }: Run): boolean {
  return !stateless && plan.program.some(({ spec: { own } }) => stackOf(urn) === stackOf(own.urn));
}

/**
 * Does what `Ledger` does at each reading and at the end of a run: the records of another run of the stack that was under
 * way together with this one are contested. Returns them.
 */
function contestOverlapping({ world, run }: RunScene): Row[] {
  const overlapping = ledgerOf(world, run).filter((row) => {
    if (row.owner === run.session || !isOfStack(row, run)) return false;
    const hasEndedSince =
      (row.deliveredAt ?? "") >= run.session.slice(1) && !run.seenAfterEnd.includes(row.key);
    return hasEndedSince || (isPending(row) && isOwnerAlive(world, row));
  });
  for (const row of overlapping) {
    run.metAnother = true;
    const isProvenHere = row.settled === "state" && run.proven.includes(row.id ?? "");
    if (row.stage === "settled" && row.settled === "state" && !isProvenHere) {
      Object.assign(row, { stage: "delivered", contested: true });
      delete row.settled;
    } else if (row.stage !== "settled" && row.stage !== "refused") row.contested = true;
  }
  return overlapping;
}

/** Does what `Ledger` does at the end of a run: the time of its marks counts for a third run that is under way. */
export function contestAtEnd(scene: RunScene): void {
  const { runs, begun } = scene.world;
  const { session } = scene.run;
  for (const row of contestOverlapping(scene)) {
    const isThird = (other: Run) => other.session !== session && other.session !== row.owner;
    if (!row.contested || row.stage === "settled" || !runs.some(isThird)) continue;
    row.contests = { ...row.contests, [session]: begun };
  }
}

function ledgerEntries(scene: Scene): Entry[] {
  const { model, world, run } = scene;
  contestOverlapping(scene);
  return ledgerOf(world, run).map((record) => {
    const unlockable = record.owner !== run.session && model.slice.unlockable === true;
    const liveness = isOwnerAlive(world, record) ? "alive" : "dead";
    const listedBy = record.young ? settlingMs : 0;
    return { record: { ...record }, liveness: unlockable ? "unknown" : liveness, listedBy };
  });
}

/** Does what `Ledger.take` does, and continues the call. */
export function takeOver(scene: Scene): void {
  const { model, world, run, call } = scene;
  const { state } = call;
  if (state.phase !== "takingOver") throw new Error("nothing to take");
  const { key, owner, stage } = state.record;
  const row = ledgerOf(world, run).find((row) => row.key === key);
  const isUnchanged = row?.owner === owner && row.stage === stage;
  const isFree =
    owner === run.session
      ? row?.ended === true
      : row !== undefined && !model.slice.unlockable && !isOwnerAlive(world, row);
  if (!row || !isFree || !isUnchanged)
    return continueWith(scene, { kind: "takenOver", isTaken: false });
  row.owner = run.session;
  delete row.ended;
  delete row.contested;
  delete row.contests;
  call.key = row.key;
  continueWith(scene, { kind: "takenOver", isTaken: true });
}

// ── Side effects ────────────────────────────────────────────────────────────────────────────────────────

function carryOut(scene: Scene, effect: SideEffect): void {
  const { world, run, call } = scene;
  const rows = ledgerOf(world, run);
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
    case "settleRecord": {
      const row = rows.find((row) => row.key === effect.key);
      if (row) {
        checkSettled(world, row, effect.as);
        Object.assign(row, { stage: "settled", settled: effect.as });
      }
      call.key = undefined;
      return;
    }
    case "reportPending":
      for (const { key, id } of effect.records) {
        const made = rows.find((row) => row.key === key)?.made ?? [];
        for (const instanceId of id === undefined ? made : [id]) noteNamed(scene, instanceId);
      }
      return;
    case "reportLeftovers":
      for (const { id } of effect.items) {
        checkLeftover(scene, id);
        noteNamed(scene, id);
      }
      call.reportedPartial ||= effect.partial;
      return;
  }
}

function noteNamed({ world, run }: Scene, id: string | undefined): void {
  const instance = instanceOf(world, id);
  if (instance) instance.namedBy = run.session;
}

/** Notes the instances that the error message of a failed create names. */
function nameInstancesOfFailure(scene: Scene, failure: Failure): void {
  if ("record" in failure) noteNamed(scene, failure.record.id);
  if ("items" in failure) for (const { id } of failure.items) noteNamed(scene, id);
  if ("why" in failure && "ids" in failure.why)
    for (const id of failure.why.ids) noteNamed(scene, id);
}

// ── What a listing shows ─────────────────────────────────────────────────────────────────────────

/** Returns the ids of the instances that a complete listing surely shows now. */
export function shownIn({ world, call }: Scene): string[] {
  const tenant = tenantOf(call.planned.spec.own.tokenHash);
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
    named: new Set(run.namedByEngine),
    held: new Set(run.proven),
    heldByOthers: new Set(),
    vouchers: vouchersFor(scene),
    entries: ledgerEntries(scene),
    registered: registeredIn(scene),
  };
}

/** Does what `KnownState.vouchersOf` does for the record that the call searches for. */
function vouchersFor({ world, run, call }: Scene): ReadonlySet<string> | undefined {
  const { state } = call;
  if (state.phase !== "searching" || state.search.of !== "record") return undefined;
  const { tokenHash, id } = state.search.record;
  if (tokenHash === call.planned.spec.own.tokenHash) return undefined;
  const isOfToken = (other: string) =>
    other !== id && instanceOf(world, other)?.tokenHash === tokenHash;
  return new Set(run.namedByEngine.filter(isOfToken));
}
