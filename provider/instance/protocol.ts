/**
 * The create protocol: every decision between a Create call and its answer, as a pure function.
 * `begin` gives the first transition, and `step` gives the next one after each event. `create.ts`
 * carries them out. This file uses no clock, socket, disk or text, so that the explorer
 * (`tests/explorer/`) can walk every history.
 *
 * Order of the sections: types; pending creates of the resource; the baseline and its leftovers; the
 * POST; the search for an instance after an unclear answer; ends.
 */
import type { Accepted } from "../api/client";
import { answeredBroken, type PostOutcome } from "../api/postOutcome";
import type { RequestError } from "../api/errors";
import type { LedgerEntry } from "../ledger/ledger";
import { isHashedName } from "../ledger/record";
import { isPending, type LedgerRecord } from "../ledger/record";
import { isSamePlace, originDifference, type Origin } from "../origin";
import { printable } from "../redaction";
import { projectOf, isSameResource } from "../pulumiNames";
import type { Existence } from "./existence";
import { hasTag } from "./naming";

// ── Types ────────────────────────────────────────────────────────────────────────────────────────

/** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
export type NameKind = LedgerRecord["kind"];

/** The instance to create, and the settings that matter. All times are milliseconds. */
export interface CreateSpec {
  urn: string;
  /** The provider resource's own id, which tells stacks apart. */
  scope: string | undefined;
  /** `pulumi do --stateless`: all its creates share one URN, though they are different resources. */
  stateless: boolean;
  origin: Origin;
  name: string;
  nameKind: NameKind;
  /** The name as records hold it: hashed if it is secret. */
  recordedName: string;
  /** The tag in generated names of this resource; undefined if the scope is not known. */
  tag: string | undefined;
  /** Digest of the request. */
  digest: string;
  /** `compute:leftovers`. */
  leftovers: "warn" | "fail";
  /** Whether a Delete of an instance that is still listed fails (`compute:deletePolicy`). */
  deleteFails: boolean;
  settlingMs: number;
  pollIntervalMs: number;
  /** How long a Create waits for another run's create of the same resource to end. */
  patienceMs: number;
}

/**
 * What the create does now (its phase), and what it knows by now. The events that may follow stand after
 * the arrow; `stopped` may follow anywhere.
 */
export type State =
  /** Reads the ledger → `ledgerRead`. `until`: when another run's create is no longer waited for. */
  | { phase: "readingLedger"; earlier: Earlier; until?: number }
  /** Makes this session the owner of the record → `takenOver` */
  | { phase: "takingOver"; earlier: Earlier; record: LedgerRecord }
  /** Finds the record's instance, or proves it gone (G3) → `searched`, `listingFailed` */
  | { phase: "findingInstance"; earlier: Earlier; record: LedgerRecord }
  /**
   * Takes a listing that begins now, to search for a record's instance → `listed`, `listingFailed`.
   * `until`: when the settling time is over. `lacked`: a complete listing after it lacked the instance.
   */
  | {
      phase: "searchingForRecord";
      earlier: Earlier;
      record: LedgerRecord;
      until: number;
      lacked?: true;
    }
  /** Waits for a create slot, then lists → `listed`, `listingFailed` */
  | { phase: "takingBaseline"; earlier: Earlier }
  /** Takes a listing that begins now, since the baseline is too old → `listed`, `listingFailed` */
  | { phase: "renewingBaseline"; attempt: Attempt }
  /** Waits for the rate limit → `permitted` */
  | { phase: "awaitingPermit"; attempt: Attempt }
  /** Writes the record of this create, and waits until it is on the disk → `recorded` */
  | { phase: "writingRecord"; attempt: Attempt }
  /** Sends the POST of the record `key` → `posted` */
  | { phase: "posting"; attempt: Attempt; key: string }
  /**
   * Takes a listing that begins now, to search for the POST's instance → `listed`, `listingFailed`.
   * `until`: when the settling time is over. `isDoubtful`: a listing had a new instance, of any name,
   * that nothing explains.
   */
  | { phase: "searchingAfterPost"; attempt: Attempt; until: number; isDoubtful: boolean }
  /** Waits before it goes on with another state → `slept` */
  | { phase: "sleeping"; wakeAt: number; then: State }
  | { phase: "ended"; result: Result };

type StateOf<P extends State["phase"]> = Extract<State, { phase: P }>;

/** What the last listing before the first POST showed. */
export interface Baseline {
  ids: ReadonlySet<string>;
  begunAt: number;
  /** Ids of the instances that have the name. */
  sameNamed: string[];
}

/** What this create knows of earlier creates of its resource. */
interface Earlier {
  takeovers: number;
  /** Keys of the creates that were completed at the first read; undefined before it. */
  completed?: ReadonlySet<string>;
}

/** What a create knows from its baseline to the answer. */
interface Attempt {
  baseline: Baseline;
  earlier: Earlier;
  /** How many POSTs failed before a byte was sent. */
  unsent: number;
  unclear?: UnclearPost;
}

/** A POST with an unclear answer, or two with one record: the last error, and how many were sent. */
interface UnclearPost {
  key: string;
  error: RequestError;
  sent: number;
}

/** What came of a state's work. `now` is clock time. */
export type Event =
  | { kind: "ledgerRead"; entries: readonly LedgerEntry[]; now: number }
  | { kind: "slept" }
  /** `settledBy`: clock time at which every listing has an instance that the record's POST made. */
  | { kind: "takenOver"; ok: boolean; settledBy: number }
  | { kind: "searched"; existence: Existence }
  | { kind: "listed"; observed: Observation; now: number }
  | { kind: "listingFailed"; error: RequestError; now: number }
  | { kind: "permitted"; now: number }
  /** `entries`: the ledger, read after the record was written. */
  | { kind: "recorded"; key: string; entries: readonly LedgerEntry[] }
  | { kind: "posted"; outcome: PostOutcome; now: number }
  /** In place of any other event: Ctrl-C, or the operation's time-out. */
  | { kind: "stopped"; why: Error };

type EventOf<K extends Event["kind"]> = Extract<Event, { kind: K }>;

/** A listing, and what the session and the ledger know when it arrives. */
export interface Observation {
  items: ReadonlyMap<string, { id: string; name?: string | undefined }>;
  complete: boolean;
  /** Clock time. */
  begunAt: number;
  /** Whether this session created the instance or took it over. */
  isOfThisSession: (id: string) => boolean;
  /** Whether a call of this session named the id. That proves no state, but may be another resource. */
  isNamedByEngine: (id: string) => boolean;
  /** Whether it is proven that a state held the instance. */
  isInState: (id: string) => boolean;
  /** Whether the record is so young that a listing may lack its instance. */
  isSettling: (record: LedgerRecord) => boolean;
  /** The records of the ledger. */
  entries: readonly LedgerEntry[];
}

/** The next state, and the side effects that come before its work, in their order. */
export interface Transition {
  state: State;
  effects: SideEffect[];
}

/** What a transition has done before the state's own work. It has no outcome. */
export type SideEffect =
  | { do: "updateRecord"; key: string; stage?: "sending" | "unknown" | "refused"; id?: string }
  | { do: "accept"; key: string; accepted: Accepted; from: InstanceSource }
  | { do: "settleRecord"; key: string; as: "gone" | "absent" }
  /** Nothing was sent for this record. */
  | { do: "dropRecord"; key: string }
  /** Records of this project that this create does not deal with, and the number of all others. */
  | { do: "reportPending"; records: LedgerRecord[]; elsewhere: number }
  | { do: "reportLeftovers"; items: Leftover[]; partial: boolean };

/** What an instance is known from: this call's own 202, a listing, or the record of an earlier run. */
type InstanceSource = "answer" | "listing" | "earlierRun";

/** An instance that an earlier create of this resource may have left: never adopted, but reported. */
export interface Leftover {
  id: string;
  /** It carries the resource's tag, has the explicit name, or a record says that it was delivered. */
  why: "tag" | "name" | "delivered";
}

/** How a create ends. */
export type Result =
  /** `before`, after an unclear answer: ids of the baseline, which the POST can't have made. */
  | { kind: "accepted"; key: string; id: string; before?: ReadonlySet<string> | undefined }
  | { kind: "failed"; failure: Failure };

/** Why a create fails without an instance. */
export type Failure =
  /** An earlier create of this resource is pending. */
  | { kind: "pending"; record: LedgerRecord; why: PendingReason }
  | { kind: "leftovers"; items: Leftover[]; partial: boolean }
  /** A state held this record's instance, or was given it to keep, and its Delete would fail. */
  | { kind: "undeletable"; record: LedgerRecord }
  | { kind: "listingFailed" | "refused"; error: RequestError }
  | { kind: "notSent"; error: Error }
  /** A POST was sent, and whether it made an instance is not known. */
  | { kind: "unclear"; key: string; error: RequestError; why: UnclearReason }
  | { kind: "stopped"; why: Error };

/** Instances of the name that the POST may have made: several, or one whose name is no proof. */
type Candidates = { kind: "several" | "turnedUp"; ids: string[] };

/** Why a pending create can be neither resumed nor settled. */
export type PendingReason =
  | { kind: "inFlight" | "replied" | "unlockable" | "secretName" | "incomplete" | "otherToken" }
  /** The record has the same URN under another provider resource. */
  | { kind: "otherScope" }
  /** Another run's create of this resource was completed while this one waited. */
  | { kind: "overtaken" }
  | { kind: "otherOrigin"; difference: string }
  /** The program now asks for something else, as far as the same token can tell. */
  | { kind: "changed"; sameToken: boolean }
  | { kind: "unproven"; why: string }
  | { kind: "listingFailed"; error: RequestError }
  | Candidates;

/** What the search after an unclear POST came to. */
export type UnclearReason =
  | Candidates
  | { kind: "none"; complete: boolean; problem?: string; sent: number }
  | { kind: "stopped"; why: Error }
  /** The one repeat surely made nothing. */
  | { kind: "repeatFailed"; error: Error };

/** The oldest baseline with which a POST may be sent. */
const maxBaselineAgeMs = 30_000;
/** How often a record is taken over, or a POST fails before a byte was sent, until the create fails. */
const maxTries = 4;
const firstRetryMs = 500;

// ── The first transition, and the next one ───────────────────────────────────────────────────────

/** @param unfinished The instance that an earlier call of this session created for this resource. */
export function begin(unfinished?: { key: string; id: string }): Transition {
  // An error hook asks again: go on waiting for that instance.
  if (unfinished) return next({ phase: "ended", result: { kind: "accepted", ...unfinished } });
  return next({ phase: "readingLedger", earlier: { takeovers: 0 } });
}

/**
 * The transition after an event.
 *
 * @throws Error for an event that the state can't have.
 */
export function step(spec: CreateSpec, state: State, event: Event): Transition {
  if (event.kind === "stopped") return stop(state, event.why);
  switch (state.phase) {
    case "readingLedger":
      return judgeEarlier(spec, state, expect(event, "ledgerRead"));
    case "takingOver":
      return afterTakeOver(spec, state, expect(event, "takenOver"));
    case "findingInstance":
      return afterFindInstance(spec, state, event);
    case "searchingForRecord":
      return searchForRecord(spec, state, event);
    case "takingBaseline":
    case "renewingBaseline":
      return judgeBaseline(spec, state, event);
    case "awaitingPermit":
      return afterPermit(state.attempt, expect(event, "permitted").now);
    case "writingRecord":
      return afterRecord(spec, state.attempt, expect(event, "recorded"));
    case "posting":
      return afterPost(spec, state, expect(event, "posted"));
    case "searchingAfterPost":
      return searchAfterPost(spec, state, event);
    case "sleeping":
      return next(state.then);
    case "ended":
      throw new Error("the create has ended");
  }
}

// ── Pending creates of this resource ─────────────────────────────────────────────────────────────

/** Whether a record is of this very resource of this stack. No other record is ever resumed. */
function isOfSameResource(spec: CreateSpec, record: LedgerRecord): boolean {
  return (
    !spec.stateless &&
    spec.scope !== undefined &&
    record.scope === spec.scope &&
    isSameResource(record.urn, spec.urn) &&
    isSamePlace(record, spec.origin)
  );
}

/**
 * Whether a record has the same URN, stack included, under another provider resource. It may be this
 * stack's (after an upgrade of the plugin) or that of another stack with the same name.
 */
function isOfOtherScope(spec: CreateSpec, record: LedgerRecord): boolean {
  return (
    !spec.stateless &&
    !record.stateless &&
    record.urn === spec.urn &&
    (spec.scope === undefined || record.scope !== spec.scope) &&
    isSamePlace(record, spec.origin)
  );
}

/** Whether an engine was given the instance, and has saved it or may yet save it. */
function isWithEngine({ record, live }: LedgerEntry): boolean {
  return record.stage === "delivered" || (record.stage === "replied" && live);
}

/** Whether a create is pending, and must be dealt with before a POST for this resource. */
function isInTheWay(spec: CreateSpec, entry: LedgerEntry): boolean {
  const { record } = entry;
  if (!isPending(record)) return false;
  return (
    isOfSameResource(spec, record) ||
    // Also if its session lives: a plugin may outlive an engine that has saved nothing.
    (isOfOtherScope(spec, record) && !isWithEngine(entry))
  );
}

/** Whether a create of this resource has given its instance to a state to keep. */
function isCompleted(spec: CreateSpec, entry: LedgerEntry): boolean {
  const { stage, settled } = entry.record;
  if (isOfOtherScope(spec, entry.record)) return isWithEngine(entry);
  const isKept = stage === "delivered" || (stage === "settled" && settled === "state");
  return isKept && isOfSameResource(spec, entry.record);
}

function judgeEarlier(
  spec: CreateSpec,
  state: StateOf<"readingLedger">,
  { entries, now }: EventOf<"ledgerRead">,
): Transition {
  const completedNow = entries.filter((entry) => isCompleted(spec, entry));
  const { takeovers, completed = new Set(completedNow.map(({ record }) => record.key)) } =
    state.earlier;
  const earlier = { takeovers, completed };
  const pending = entries.filter((entry) => isInTheWay(spec, entry));
  const same = pending.filter(({ record }) => isOfSameResource(spec, record));

  const busy = same.find(({ inFlight }) => inFlight);
  if (busy) {
    const until = state.until ?? now + spec.patienceMs;
    if (now >= until) return failPending(busy.record, { kind: "inFlight" });
    return tryAgain({ phase: "readingLedger", earlier, until }, spec, now);
  }
  const other = pending.find(({ record }) => isOfOtherScope(spec, record));
  if (other) return failPending(other.record, { kind: other.inFlight ? "inFlight" : "otherScope" });
  const replied = same.find(({ record }) => record.stage === "replied");
  if (replied) return failPending(replied.record, { kind: "replied" });

  const [first] = same;
  if (first) {
    const { record, unlockable } = first;
    const difference = originDifference(record, spec.origin);
    if (difference !== undefined) return failPending(record, { kind: "otherOrigin", difference });
    if (unlockable || takeovers >= maxTries) return failPending(record, { kind: "unlockable" });
    const counted = { completed, takeovers: takeovers + 1 };
    return next({ phase: "takingOver", earlier: counted, record });
  }
  return next({ phase: "takingBaseline", earlier }, reportPending(spec, entries));
}

/** Reports pending creates of dead sessions if any is of this project. */
function reportPending({ urn }: CreateSpec, entries: readonly LedgerEntry[]): SideEffect[] {
  const left = entries.filter(({ record, live }) => isPending(record) && !live);
  const project = projectOf(urn);
  const records = left.map(({ record }) => record).filter((it) => projectOf(it.urn) === project);
  if (records.length === 0) return [];
  return [{ do: "reportPending", records, elsewhere: left.length - records.length }];
}

function afterTakeOver(
  spec: CreateSpec,
  { record, earlier }: StateOf<"takingOver">,
  { ok, settledBy: until }: EventOf<"takenOver">,
): Transition {
  // Another run was quicker, or the record has changed: judge all of them again.
  if (!ok) return next({ phase: "readingLedger", earlier });
  if (record.id !== undefined) return next({ phase: "findingInstance", earlier, record });
  if (isHashedName(record.name) && record.name !== spec.recordedName) {
    return failPending(record, { kind: "secretName" });
  }
  return next({ phase: "searchingForRecord", earlier, record, until });
}

/** After the search for a record's id. */
function afterFindInstance(
  spec: CreateSpec,
  { record, earlier }: StateOf<"findingInstance">,
  event: Event,
): Transition {
  if (event.kind === "listingFailed") return failPending(record, event);
  const { existence } = expect(event, "searched");
  switch (existence.kind) {
    case "found":
      return resume(spec, record, existence.item);
    case "gone":
      return next({ phase: "readingLedger", earlier }, [
        { do: "settleRecord", key: record.key, as: "gone" },
      ]);
    case "unproven":
      return failPending(record, existence);
  }
}

/** Searches by name for the instance of a record without an id, which may have made none. */
function searchForRecord(
  spec: CreateSpec,
  state: StateOf<"searchingForRecord">,
  event: Event,
): Transition {
  const { record, until, earlier } = state;
  if (event.kind === "listingFailed") {
    if (event.error.transient && event.now < until) return tryAgain(state, spec, event.now);
    return failPending(record, event);
  }
  const { observed, now } = expect(event, "listed");
  const name = isHashedName(record.name) ? spec.name : record.name;
  const before = new Set(record.before);
  const found = searchByName(
    { key: record.key, name, nameKind: record.kind, before },
    until,
    observed,
  );
  switch (found.kind) {
    case "created":
      return resume(spec, record, found);
    case "several":
      return failPending(record, found);
    case "turnedUp":
      return failPending(found.ids.length === 1 ? { ...record, id: found.ids[0] } : record, found);
    case "tooEarly":
      return tryAgain(state, spec, now);
    case "none":
      if (!observed.complete) return failPending(record, { kind: "incomplete" });
      if (record.tokenHash !== spec.origin.tokenHash) {
        return failPending(record, { kind: "otherToken" });
      }
      // As for G3, one listing may be wrong: a second one must lack the instance, too.
      if (!state.lacked) {
        const wakeAt = now + spec.pollIntervalMs;
        return next({ phase: "sleeping", wakeAt, then: { ...state, lacked: true } });
      }
      return next({ phase: "readingLedger", earlier }, [
        { do: "settleRecord", key: record.key, as: "absent" },
      ]);
  }
}

/** Takes over the instance that a record's POST made, if the program still asks for the same. */
function resume(
  spec: CreateSpec,
  record: LedgerRecord,
  { id, name, status }: { id: string; name?: string | undefined; status?: string | undefined },
): Transition {
  const { key } = record;
  if (record.digest !== spec.digest) {
    const sameToken = record.tokenHash === spec.origin.tokenHash;
    // With its id in the record, an import of the instance settles the record.
    return failPending({ ...record, id }, { kind: "changed", sameToken }, [
      { do: "updateRecord", key, id },
    ]);
  }
  const accepted: Accepted = { id, name, status, networks: [], ...record.accepted };
  const before = record.id === undefined ? new Set(record.before) : undefined;
  return accept(key, accepted, "earlierRun", before);
}

// ── The baseline ─────────────────────────────────────────────────────────────────────────────────

/** Judges the listing before the POST. Its instances are not the POST's, but may be leftovers. */
function judgeBaseline(
  spec: CreateSpec,
  state: StateOf<"takingBaseline" | "renewingBaseline">,
  event: Event,
): Transition {
  if (event.kind === "listingFailed") return fail(event);
  const { observed } = expect(event, "listed");
  const { items, complete, begunAt } = observed;
  const undeletable = spec.deleteFails ? findUndeletable(spec, observed) : undefined;
  if (undeletable) return fail({ kind: "undeletable", record: undeletable });

  const found = { items: findLeftovers(spec, observed), partial: !complete };
  const isClean = found.items.length === 0 && complete;
  if (!isClean && spec.leftovers === "fail") return fail({ kind: "leftovers", ...found });
  const reports: SideEffect[] = isClean ? [] : [{ do: "reportLeftovers", ...found }];

  const sameNamed = [...items.values()].filter(({ name }) => isSameName(name, spec.name));
  const baseline: Baseline = {
    ids: new Set(items.keys()),
    begunAt,
    sameNamed: sameNamed.map(({ id }) => id),
  };
  if (state.phase === "renewingBaseline") {
    return writeRecord({ ...state.attempt, baseline }, reports);
  }
  const attempt = { baseline, earlier: state.earlier, unsent: 0 };
  return next({ phase: "awaitingPermit", attempt }, reports);
}

/** A completed create of this resource whose instance exists, or is too young to be listed. */
function findUndeletable(spec: CreateSpec, observed: Observation): LedgerRecord | undefined {
  return observed.entries
    .filter((entry) => isCompleted(spec, entry) && isOfSameResource(spec, entry.record))
    .map(({ record }) => record)
    .find(
      (record) =>
        record.id !== undefined && (observed.items.has(record.id) || observed.isSettling(record)),
    );
}

function findLeftovers(spec: CreateSpec, observed: Observation): Leftover[] {
  const { items, entries, isOfThisSession, isInState, isSettling } = observed;
  // Also those under another provider resource: a state that was never saved has lost its id.
  const delivered = entries
    .filter((entry) => isCompleted(spec, entry) && entry.record.stage !== "settled")
    .flatMap(({ record }) => (record.id === undefined ? [] : { ...record, id: record.id }));
  const deliveredIds = new Set(delivered.map(({ id }) => id));
  const unlisted = delivered.filter((record) => isSettling(record) && !items.has(record.id));

  const found: Leftover[] = unlisted
    .filter(({ id }) => !isOfThisSession(id) && !isInState(id))
    .map(({ id }) => ({ id, why: "delivered" }));
  for (const { id, name } of items.values()) {
    if (isOfThisSession(id) || isInState(id)) continue;
    const why = deliveredIds.has(id) ? "delivered" : likeness(spec, name);
    // The name is compared first: that is cheaper than a search of all records.
    if (why === "delivered" || (why && !isExplained(spec, entries, id))) found.push({ id, why });
  }
  return found;
}

/** How a listed name is like this resource's. */
function likeness(spec: CreateSpec, name: string | undefined): "tag" | "name" | undefined {
  if (spec.tag !== undefined && hasTag(name, spec.tag)) return "tag";
  return spec.nameKind !== "generated" && isSameName(name, spec.name) ? "name" : undefined;
}

/** Whether a record says that the instance is another resource's, or that it was let go on purpose. */
function isExplained(spec: CreateSpec, entries: readonly LedgerEntry[], id: string): boolean {
  return entries.some(
    ({ record }) =>
      record.id === id &&
      (!isOfSameResource(spec, record) ||
        record.settled === "dropped" ||
        record.settled === "discarded"),
  );
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

function afterPermit(attempt: Attempt, now: number): Transition {
  const { baseline, unclear } = attempt;
  // After an unclear POST, a new baseline might show its instance: the first baseline stays.
  const isOld = !unclear && now - baseline.begunAt > maxBaselineAgeMs;
  return isOld ? next({ phase: "renewingBaseline", attempt }) : writeRecord(attempt);
}

/** The record comes before the POST. A repeated POST has its record already. */
function writeRecord(attempt: Attempt, effects: SideEffect[] = []): Transition {
  const key = attempt.unclear?.key;
  if (key === undefined) return next({ phase: "writingRecord", attempt }, effects);
  return next({ phase: "posting", attempt, key }, [{ do: "updateRecord", key, stage: "sending" }]);
}

/**
 * Each create writes its own record, and reads the others afterwards. So of two creates of one resource,
 * at least one sees the other's record. It drops its own, and judges the pending creates again.
 */
function afterRecord(
  spec: CreateSpec,
  attempt: Attempt,
  { key, entries }: EventOf<"recorded">,
): Transition {
  const { earlier } = attempt;
  const dropped: SideEffect[] = [{ do: "dropRecord", key }];
  // Two runs of one stack meet after `pulumi cancel`, or if a plugin outlives its engine. The engine
  // that asked for this create does not know of the other run's instance.
  const overtaking = entries.find(
    (entry) => isCompleted(spec, entry) && !earlier.completed?.has(entry.record.key),
  );
  if (overtaking) return failPending(overtaking.record, { kind: "overtaken" }, dropped);
  const isAlone = !entries.some((entry) => entry.record.key !== key && isInTheWay(spec, entry));
  if (isAlone) return next({ phase: "posting", attempt, key });
  return next({ phase: "readingLedger", earlier }, dropped);
}

function afterPost(
  spec: CreateSpec,
  { attempt, key }: StateOf<"posting">,
  { outcome, now }: EventOf<"posted">,
): Transition {
  const { unclear, baseline } = attempt;
  const dropped: SideEffect[] = unclear ? [] : [{ do: "dropRecord", key }];
  switch (outcome.kind) {
    case "accepted":
      return accept(key, outcome.accepted, "answer", unclear && baseline.ids);
    case "rateLimited":
      return next({ phase: "awaitingPermit", attempt }, dropped);
    case "notSent": {
      const error = outcome.failure;
      if (unclear) return failUnclear(unclear, { kind: "repeatFailed", error });
      const unsent = attempt.unsent + 1;
      const isLasting = "lasting" in error && error.lasting === true;
      if (isLasting || unsent >= maxTries) return fail({ kind: "notSent", error }, dropped);
      const wakeAt = now + firstRetryMs * 2 ** (unsent - 1);
      const then: State = { phase: "awaitingPermit", attempt: { ...attempt, unsent } };
      return next({ phase: "sleeping", wakeAt, then }, dropped);
    }
    case "refused": {
      const error = outcome.failure;
      if (unclear) return failUnclear(unclear, { kind: "repeatFailed", error });
      return fail({ kind: "refused", error }, [{ do: "updateRecord", key, stage: "refused" }]);
    }
    case "unclear": {
      const sent = (unclear?.sent ?? 0) + 1;
      const search: State = {
        phase: "searchingAfterPost",
        attempt: { ...attempt, unclear: { key, error: outcome.failure, sent } },
        until: now + spec.settlingMs,
        isDoubtful: false,
      };
      return next(search, [{ do: "updateRecord", key, stage: "unknown" }]);
    }
  }
}

// ── The search for an instance after an unclear answer ───────────────────────────────────────────

function searchAfterPost(
  spec: CreateSpec,
  state: StateOf<"searchingAfterPost">,
  event: Event,
): Transition {
  const { attempt, until } = state;
  const { unclear, baseline } = attempt;
  if (!unclear) throw new Error("a search without an unclear POST");
  const { key, error, sent } = unclear;
  if (event.kind === "listingFailed") {
    if (event.error.transient && event.now < until) return tryAgain(state, spec, event.now);
    const problem = event.error.message;
    return failUnclear(unclear, { kind: "none", complete: false, problem, sent });
  }
  const { observed, now } = expect(event, "listed");
  const isDoubtful =
    state.isDoubtful ||
    [...observed.items.keys()].some((id) => isUnexplained(observed, id, baseline.ids, key));
  const { name, nameKind } = spec;
  const found = searchByName({ key, name, nameKind, before: baseline.ids }, until, observed);
  switch (found.kind) {
    case "created":
      return accept(key, { id: found.id, name: found.name, networks: [] }, "listing", baseline.ids);
    case "several":
    case "turnedUp":
      return failUnclear(unclear, found);
    case "tooEarly":
      return tryAgain({ ...state, isDoubtful }, spec, now);
    case "none":
      // The one repeat: the service said that it failed, and complete listings show nothing new.
      if (sent === 1 && observed.complete && !isDoubtful && answeredBroken(error)) {
        return next({ phase: "awaitingPermit", attempt });
      }
      return failUnclear(unclear, { kind: "none", complete: observed.complete, sent });
  }
}

/** What a listing shows of the instance that a POST may have made. */
function searchByName(
  post: { key: string; name: string; nameKind: NameKind; before: ReadonlySet<string> },
  settledBy: number,
  observed: Observation,
):
  | { kind: "created"; id: string; name: string | undefined }
  | { kind: "tooEarly" | "none" }
  | Candidates {
  const ids = findNewInstances(observed, post.name, post.before, post.key);
  const [id] = ids;
  // Only a name that this provider generated proves that the POST made the instance.
  if (id !== undefined && post.nameKind === "generated") {
    if (ids.length > 1) return { kind: "several", ids };
    return { kind: "created", id, name: observed.items.get(id)?.name };
  }
  // Before the settling time is over, a listing may lack the instance, or others of its name.
  if (observed.begunAt < settledBy) return { kind: "tooEarly" };
  return id === undefined ? { kind: "none" } : { kind: "turnedUp", ids };
}

/** Ids of the instances of this name that the POST of the record `key` may have made. */
export function findNewInstances(
  observed: Observation,
  name: string,
  before: ReadonlySet<string>,
  key: string,
): string[] {
  return [...observed.items.values()]
    .filter((it) => isSameName(it.name, name) && isUnexplained(observed, it.id, before, key))
    .map(({ id }) => id);
}

/** Whether an instance is new since the baseline, and nothing but the record `key` explains it. */
function isUnexplained(
  { isOfThisSession, isNamedByEngine, entries }: Observation,
  id: string,
  before: ReadonlySet<string>,
  key: string,
): boolean {
  if (before.has(id) || isOfThisSession(id) || isNamedByEngine(id)) return false;
  return !entries.some(({ record }) => record.id === id && record.key !== key);
}

/** Hostnames have no case. A listed name has been through `printable`. */
function isSameName(listed: string | undefined, name: string): boolean {
  return listed?.toLowerCase() === printable(name).toLowerCase();
}

// ── Ends, and other transitions ──────────────────────────────────────────────────────────────────

function stop(state: State, why: Error): Transition {
  if (state.phase === "sleeping") return stop(state.then, why);
  const unclear = "attempt" in state ? state.attempt.unclear : undefined;
  if (unclear) return failUnclear(unclear, { kind: "stopped", why });
  // Stopped before a byte of the POST was sent: otherwise the event is `posted`.
  const isUnsent = state.phase === "posting";
  return fail({ kind: "stopped", why }, isUnsent ? [{ do: "dropRecord", key: state.key }] : []);
}

function accept(
  key: string,
  accepted: Accepted,
  from: InstanceSource,
  before: ReadonlySet<string> | undefined,
): Transition {
  const result: Result = { kind: "accepted", key, id: accepted.id, before };
  return next({ phase: "ended", result }, [{ do: "accept", key, accepted, from }]);
}

function failPending(
  record: LedgerRecord,
  why: PendingReason,
  effects: SideEffect[] = [],
): Transition {
  return fail({ kind: "pending", record, why }, effects);
}

function failUnclear({ key, error }: UnclearPost, why: UnclearReason): Transition {
  return fail({ kind: "unclear", key, error, why });
}

function fail(failure: Failure, effects: SideEffect[] = []): Transition {
  return next({ phase: "ended", result: { kind: "failed", failure } }, effects);
}

/** Does the same again after a poll interval, or at its own end if that is sooner. */
function tryAgain(then: State & { until: number }, spec: CreateSpec, now: number): Transition {
  const wakeAt = Math.min(then.until, now + spec.pollIntervalMs);
  return next({ phase: "sleeping", wakeAt, then });
}

function next(state: State, effects: SideEffect[] = []): Transition {
  return { state, effects };
}

function expect<K extends Event["kind"]>(event: Event, kind: K): EventOf<K> {
  if (event.kind !== kind) throw new Error(`"${event.kind}" came where "${kind}" was asked for`);
  return event as EventOf<K>;
}
