/**
 * The create protocol decides, as a pure function, what happens between a Create call and its reply.
 * `begin` returns the first transition, and `step` returns the next transition after each event.
 * `create.ts` carries the transitions out. This file uses no clock, socket or disk, and prints nothing, so
 * that the explorer (`tests/explorer/`) can try every sequence of events.
 *
 * The sections follow the order of a create: pending creates of the resource (records of earlier creates), the
 * baseline (the listing before the POST) and the leftovers in it, the POST, the search for an instance after a POST
 * with an unclear outcome, and the ends.
 */
import type { Accepted } from "../api/client";
import { answeredBroken, type PostOutcome } from "../api/postOutcome";
import type { RequestError } from "../api/errors";
import type { LedgerEntry } from "../ledger/ledger";
import { isHashedName, isPending, type LedgerRecord } from "../ledger/record";
import { isSamePlace, originDifference, type Origin } from "../origin";
import { printable } from "../redaction";
import { projectOf, isSameResource } from "../pulumiNames";
import type { Existence } from "./existence";
import { hasTag } from "./naming";

// ── Types ────────────────────────────────────────────────────────────────────────────────────────

/** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
export type NameKind = LedgerRecord["kind"];

/** The instance to create, and the settings that the protocol depends on. All durations are milliseconds. */
export interface CreateSpec {
  urn: string;
  /** The id of the provider resource, which differs between stacks. Undefined if it is not known. */
  scope: string | undefined;
  /** Whether the run is `pulumi do --stateless`, whose creates share one URN but are different resources. */
  stateless: boolean;
  /** The service, token and account with which the create is made. */
  origin: Origin;
  name: string;
  nameKind: NameKind;
  /** The name as records contain it, which is hashed if it is secret. */
  recordedName: string;
  /** The tag (`tagOf`) in generated names of this resource. Undefined if the scope is not known, or if `stateless`. */
  tag: string | undefined;
  /** A keyed digest of the request, which shows whether two creates ask for the same instance. */
  digest: string;
  /** The setting `compute:leftovers`. */
  leftovers: "warn" | "fail";
  /** Whether `compute:deletePolicy` makes the Delete of a listed instance fail. */
  deleteFails: boolean;
  /** The settling time: how long after a POST a listing may lack the instance that the POST created. */
  settlingMs: number;
  pollIntervalMs: number;
  /** The longest wait for the end of another run's create of the same resource. */
  patienceMs: number;
}

/**
 * What the create does now (its phase), and what it knows by now. The arrow points to the events that may
 * follow. `stopped` may follow every phase but `ended`.
 */
export type State =
  /** Reads the ledger → `ledgerRead`. `until` is the clock time at which the wait for another run's create ends. */
  | { phase: "readingLedger"; earlier: Earlier; until?: number }
  /** Makes this session the owner of the record → `takenOver` */
  | { phase: "takingOver"; earlier: Earlier; record: LedgerRecord }
  /** Searches for the record's instance by its id → `searched`, `listingFailed` */
  | { phase: "findingInstance"; earlier: Earlier; record: LedgerRecord }
  /**
   * Fetches a listing that begins now, to search by name for a record's instance → `listed`,
   * `listingFailed`. `until` is the clock time at which the settling time is over. `wasMissing` is set once a
   * complete listing after the settling time has lacked the instance.
   */
  | {
      phase: "searchingForRecord";
      earlier: Earlier;
      record: LedgerRecord;
      until: number;
      wasMissing?: true;
    }
  /** Waits for a create slot, and then fetches the baseline → `listed`, `listingFailed` */
  | { phase: "takingBaseline"; earlier: Earlier }
  /** Fetches a newer listing, since the baseline is too old → `listed`, `listingFailed` */
  | { phase: "renewingBaseline"; attempt: Attempt }
  /** Waits for the rate limit → `permitted` */
  | { phase: "awaitingPermit"; attempt: Attempt }
  /** Writes the record of this create, and waits until it is on the disk → `recorded` */
  | { phase: "writingRecord"; attempt: Attempt }
  /** Sends the POST that the record `key` describes → `posted` */
  | { phase: "posting"; attempt: Attempt; key: string }
  /**
   * Fetches a listing that begins now, to search for the POST's instance → `listed`, `listingFailed`.
   * `until` is the clock time at which the settling time is over. `hasUnexplained` says whether a listing of this
   * search showed a new instance, of any name, that may come from this POST (`isUnexplained`).
   */
  | { phase: "searchingAfterPost"; attempt: Attempt; until: number; hasUnexplained: boolean }
  /** Waits until the clock time `wakeAt` → `slept`. Then the create enters the state `then`. */
  | { phase: "sleeping"; wakeAt: number; then: State }
  | { phase: "ended"; result: Result };

type StateOf<P extends State["phase"]> = Extract<State, { phase: P }>;

/** The last listing before the first POST. The POST can't have created an instance that is in it. */
export interface Baseline {
  /** Ids of all listed instances. */
  ids: ReadonlySet<string>;
  /** Clock time at which the listing began. */
  begunAt: number;
  /** Ids of the listed instances that have the name of the instance to create. */
  sameNamedIds: string[];
}

/** What this create knows of earlier creates of its resource. */
interface Earlier {
  /** How often this create has tried to take over a record. */
  takeovers: number;
  /** The record keys of the creates that were completed (`isCompleted`) at the first reading. Undefined before that. */
  completedKeys?: ReadonlySet<string>;
}

/** What a create knows between its baseline and the response to its POST. */
interface Attempt {
  baseline: Baseline;
  earlier: Earlier;
  /** How many POSTs failed before a byte was sent. */
  unsentCount: number;
  /** Set once a POST had an unclear outcome: whether the POST created an instance is not known. */
  unclear?: UnclearPost;
}

/** A POST with an unclear outcome. Its repeat, if it was sent, shares the record and is counted here too. */
interface UnclearPost {
  /** The key of the record. */
  key: string;
  /** The error of the last POST. */
  error: RequestError;
  /** How many POSTs were sent. */
  sentCount: number;
}

/** The outcome of a state's work. `now` is the clock time of the event. */
export type Event =
  | { kind: "ledgerRead"; entries: readonly LedgerEntry[]; now: number }
  | { kind: "slept" }
  /**
   * `isTaken` says whether the record now belongs to this session. `settledBy` is the end of the record's settling
   * time: a listing that begins later shows the instance, if the POST created one.
   */
  | { kind: "takenOver"; isTaken: boolean; settledBy: number }
  | { kind: "searched"; existence: Existence }
  | { kind: "listed"; observation: Observation; now: number }
  | { kind: "listingFailed"; error: RequestError; now: number }
  | { kind: "permitted"; now: number }
  /** `entries` is the ledger as read after the record was written. */
  | { kind: "recorded"; key: string; entries: readonly LedgerEntry[] }
  | { kind: "posted"; outcome: PostOutcome; now: number }
  /** Ctrl-C, or the operation's time-out. It comes instead of any other event. */
  | { kind: "stopped"; why: Error };

type EventOf<K extends Event["kind"]> = Extract<Event, { kind: K }>;

/** A listing, and what the session and the ledger know when it arrives. */
export interface Observation {
  items: ReadonlyMap<string, { id: string; name?: string | undefined }>;
  complete: boolean;
  /** Clock time at which the listing began. */
  begunAt: number;
  /** Whether this session has created the instance, or taken it over. */
  isOfThisSession: (id: string) => boolean;
  /** Whether the engine has sent the id in a call of this session. The instance may then be another resource's. */
  isNamedByEngine: (id: string) => boolean;
  /** Whether it is proven that a Pulumi state held the instance. */
  isInState: (id: string) => boolean;
  /** Whether the settling time of the record is not over yet. If so, a listing may lack the record's instance. */
  isSettling: (record: LedgerRecord) => boolean;
  /** The records of the ledger, as read when the listing arrived. */
  entries: readonly LedgerEntry[];
}

/** The next state, and the side effects to carry out, in this order, before the work of that state. */
export interface Transition {
  state: State;
  effects: SideEffect[];
}

/** Something that `create.ts` does before the work of the next state. It causes no event. */
export type SideEffect =
  | { do: "updateRecord"; key: string; stage?: "sending" | "unknown" | "refused"; id?: string }
  /** Keeps the id of the instance, which is now known, in the record and in the session. */
  | { do: "accept"; key: string; accepted: Accepted; from: InstanceSource }
  /** Settles the record of an earlier create. Its instance is proven gone, or its POST has surely created none. */
  | { do: "settleRecord"; key: string; as: "gone" | "absent" }
  /** Settles the record of this create's own POST, which was not sent or surely created nothing. */
  | { do: "dropRecord"; key: string }
  /** Reports pending creates of this project, and how many pending creates other projects have. */
  | { do: "reportPending"; records: LedgerRecord[]; elsewhere: number }
  /** Reports leftovers. `partial` means that the searched listing was not complete. */
  | { do: "reportLeftovers"; items: Leftover[]; partial: boolean };

/**
 * Where the instance is known from: the response to this create's POST, a listing after it, or an earlier create's
 * record.
 */
type InstanceSource = "answer" | "listing" | "earlierRun";

/** An instance that an earlier create of this resource may have left. It is reported, and never adopted. */
export interface Leftover {
  id: string;
  /**
   * Its name has the resource's tag or is the name to create, or it is in the record of a completed create
   * (`isCompleted`).
   */
  why: "tag" | "name" | "delivered";
}

/** How a create ends. */
export type Result =
  /** After an unclear outcome, also of an earlier create, `before` has the ids that were listed before the POST. */
  | { kind: "accepted"; key: string; id: string; before?: ReadonlySet<string> | undefined }
  | { kind: "failed"; failure: Failure };

/** Why a create fails without an instance that it could return. */
export type Failure =
  /** Another create of this resource is pending, or was completed while this one waited. */
  | { kind: "pending"; record: LedgerRecord; why: PendingReason }
  | { kind: "leftovers"; items: Leftover[]; partial: boolean }
  /** A state may hold this record's instance, and the Delete of that instance would fail. */
  | { kind: "undeletable"; record: LedgerRecord }
  | { kind: "listingFailed" | "refused"; error: RequestError }
  | { kind: "notSent"; error: Error }
  /** A POST was sent, and whether it created an instance is not known. */
  | { kind: "unclear"; key: string; error: RequestError; why: UnclearReason }
  | { kind: "stopped"; why: Error };

/**
 * The instances, all with the name to create, that the POST may have created. With "several", this provider generated
 * the name. With "turnedUp", it did not, so the name of an instance is no proof.
 */
type Candidates = { kind: "several" | "turnedUp"; ids: string[] };

/** Why an earlier create of the resource stops this one: it can be neither resumed nor settled. */
export type PendingReason =
  | { kind: "inFlight" }
  | { kind: "replied" | "unlockable" | "secretName" | "incomplete" | "otherToken" }
  /** The record has the same URN, but another provider resource. */
  | { kind: "otherScope" }
  /** Another run's create of this resource was completed while this one waited. */
  | { kind: "overtaken" }
  | { kind: "otherOrigin"; difference: string }
  /**
   * The digests of the two requests differ. With the same token, the program asks for a different instance. With
   * another token, the digests can't be compared, because each digest is keyed with its token.
   */
  | { kind: "changed"; sameToken: boolean }
  | { kind: "unproven"; why: string }
  | { kind: "listingFailed"; error: RequestError }
  | Candidates;

/** Why it is still not known whether a POST with an unclear outcome created an instance. */
export type UnclearReason =
  | Candidates
  | { kind: "none"; complete: boolean; problem?: string; sentCount: number }
  | { kind: "stopped"; why: Error }
  /** The POST was repeated once, and the repeat surely created nothing. */
  | { kind: "repeatFailed"; error: Error };

/** The maximum age of a baseline at the time when the rate limit permits the POST. An older one is renewed. */
const maxBaselineAgeMs = 30_000;
/**
 * In one create, the maximum number of attempts to take over a record, and of POSTs that fail before a byte is sent.
 */
const maxTries = 4;
/** The wait after the first POST that failed before a byte was sent. It doubles after each further one. */
const firstRetryMs = 500;

// ── The first transition, and the next one ───────────────────────────────────────────────────────

/**
 * Returns the first transition.
 *
 * @param unfinished The instance that an earlier Create call of this session left unfinished for this resource, if any.
 */
export function begin(unfinished?: { key: string; id: string }): Transition {
  // The engine repeats the Create, because an error hook asked for that. The instance exists already, so there is
  // no new POST.
  if (unfinished) return next({ phase: "ended", result: { kind: "accepted", ...unfinished } });
  return next({ phase: "readingLedger", earlier: { takeovers: 0 } });
}

/**
 * Returns the transition after an event.
 *
 * @throws Error if the event can't follow the state.
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

/**
 * Whether a record belongs to this resource of this stack at this service. No other record is ever resumed. A
 * create that is stateless, or whose scope is not known, resumes no record.
 */
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
 * Whether a record has the same URN, which contains the name of the stack, but not surely the same provider resource.
 * The record may be one of this stack (after an upgrade of the plugin) or of another stack with the same name.
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

/** Whether an engine received the instance's id, and has saved the instance or may still save it. */
function isWithEngine({ record, live }: LedgerEntry): boolean {
  return record.stage === "delivered" || (record.stage === "replied" && live);
}

/**
 * Whether a create is pending, and must be resumed or settled, or stops this create, before a POST for this resource.
 */
function isInTheWay(spec: CreateSpec, entry: LedgerEntry): boolean {
  const { record } = entry;
  if (!isPending(record)) return false;
  return (
    isOfSameResource(spec, record) ||
    // The record is in the way even if its session lives: that plugin may have outlived an engine that saved nothing.
    (isOfOtherScope(spec, record) && !isWithEngine(entry))
  );
}

/**
 * Whether a state holds the record's instance, or is about to. The record is of this resource, or has the same
 * URN under another provider resource.
 */
function isCompleted(spec: CreateSpec, entry: LedgerEntry): boolean {
  const { stage, settled } = entry.record;
  if (isOfOtherScope(spec, entry.record)) return isWithEngine(entry);
  const isKept = stage === "delivered" || (stage === "settled" && settled === "state");
  return isKept && isOfSameResource(spec, entry.record);
}

/** Decides what to do about earlier creates of this resource before a new one. */
function judgeEarlier(
  spec: CreateSpec,
  state: StateOf<"readingLedger">,
  { entries, now }: EventOf<"ledgerRead">,
): Transition {
  const completed = entries.filter((entry) => isCompleted(spec, entry));
  const { takeovers, completedKeys = new Set(completed.map(({ record }) => record.key)) } =
    state.earlier;
  const earlier = { takeovers, completedKeys };
  const pending = entries.filter((entry) => isInTheWay(spec, entry));
  const ofSameResource = pending.filter(({ record }) => isOfSameResource(spec, record));

  const underWay = ofSameResource.find(({ inFlight }) => inFlight);
  if (underWay) {
    const until = state.until ?? now + spec.patienceMs;
    if (now >= until) return failPending(underWay.record, { kind: "inFlight" });
    return tryAgain({ phase: "readingLedger", earlier, until }, spec, now);
  }
  const ofOtherScope = pending.find(({ record }) => isOfOtherScope(spec, record));
  if (ofOtherScope) {
    const kind = ofOtherScope.inFlight ? "inFlight" : "otherScope";
    return failPending(ofOtherScope.record, { kind });
  }
  const replied = ofSameResource.find(({ record }) => record.stage === "replied");
  if (replied) return failPending(replied.record, { kind: "replied" });

  const [first] = ofSameResource;
  if (first) {
    const { record, unlockable } = first;
    const difference = originDifference(record, spec.origin);
    if (difference !== undefined) return failPending(record, { kind: "otherOrigin", difference });
    if (unlockable || takeovers >= maxTries) return failPending(record, { kind: "unlockable" });
    const nextEarlier = { completedKeys, takeovers: takeovers + 1 };
    return next({ phase: "takingOver", earlier: nextEarlier, record });
  }
  return next({ phase: "takingBaseline", earlier }, reportPending(spec, entries));
}

/** Reports the pending creates of sessions not known to be alive, if any of these creates belongs to this project. */
function reportPending({ urn }: CreateSpec, entries: readonly LedgerEntry[]): SideEffect[] {
  const abandoned = entries.filter(({ record, live }) => isPending(record) && !live);
  const project = projectOf(urn);
  const records = abandoned
    .map(({ record }) => record)
    .filter((record) => projectOf(record.urn) === project);
  if (records.length === 0) return [];
  return [{ do: "reportPending", records, elsewhere: abandoned.length - records.length }];
}

/** Returns the transition after the attempt to take over a record. */
function afterTakeOver(
  spec: CreateSpec,
  { record, earlier }: StateOf<"takingOver">,
  { isTaken, settledBy: until }: EventOf<"takenOver">,
): Transition {
  // Another run was quicker, the record has changed, or files can't be locked: judge all records again.
  if (!isTaken) return next({ phase: "readingLedger", earlier });
  if (record.id !== undefined) return next({ phase: "findingInstance", earlier, record });
  if (isHashedName(record.name) && record.name !== spec.recordedName) {
    return failPending(record, { kind: "secretName" });
  }
  return next({ phase: "searchingForRecord", earlier, record, until });
}

/** Returns the transition after the search for the instance whose id is in a record. */
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

/** Judges a listing in the search by name for the instance of a record without an id. There may be no instance. */
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
  const { observation, now } = expect(event, "listed");
  const name = isHashedName(record.name) ? spec.name : record.name;
  const before = new Set(record.before);
  const found = searchByName(
    { key: record.key, name, nameKind: record.kind, before },
    until,
    observation,
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
      if (!observation.complete) return failPending(record, { kind: "incomplete" });
      if (record.tokenHash !== spec.origin.tokenHash) {
        return failPending(record, { kind: "otherToken" });
      }
      // One listing may be wrong, so a second complete listing must lack the instance, too. The same rule decides
      // whether a listed instance is gone ("nothing is forgotten on weak evidence", G3).
      if (!state.wasMissing) {
        const wakeAt = now + spec.pollIntervalMs;
        return next({ phase: "sleeping", wakeAt, then: { ...state, wasMissing: true } });
      }
      return next({ phase: "readingLedger", earlier }, [
        { do: "settleRecord", key: record.key, as: "absent" },
      ]);
  }
}

/** Takes over the instance that a record's POST created, if the program still asks for the same instance. */
function resume(
  spec: CreateSpec,
  record: LedgerRecord,
  { id, name, status }: { id: string; name?: string | undefined; status?: string | undefined },
): Transition {
  const { key } = record;
  if (record.digest !== spec.digest) {
    const sameToken = record.tokenHash === spec.origin.tokenHash;
    // The record gets the id, so that an import of the instance settles the record.
    return failPending({ ...record, id }, { kind: "changed", sameToken }, [
      { do: "updateRecord", key, id },
    ]);
  }
  const accepted: Accepted = { id, name, status, networks: [], ...record.accepted };
  const before = record.id === undefined ? new Set(record.before) : undefined;
  return accept(key, accepted, "earlierRun", before);
}

// ── The baseline ─────────────────────────────────────────────────────────────────────────────────

/** Judges the baseline, the listing before the POST. Its instances can't come from the POST, but may be leftovers. */
function judgeBaseline(
  spec: CreateSpec,
  state: StateOf<"takingBaseline" | "renewingBaseline">,
  event: Event,
): Transition {
  if (event.kind === "listingFailed") return fail(event);
  const { observation } = expect(event, "listed");
  const { items, complete, begunAt } = observation;
  const undeletable = spec.deleteFails ? findUndeletable(spec, observation) : undefined;
  if (undeletable) return fail({ kind: "undeletable", record: undeletable });

  const leftovers = { items: findLeftovers(spec, observation), partial: !complete };
  const isClean = leftovers.items.length === 0 && complete;
  if (!isClean && spec.leftovers === "fail") return fail({ kind: "leftovers", ...leftovers });
  const reports: SideEffect[] = isClean ? [] : [{ do: "reportLeftovers", ...leftovers }];

  const sameNamed = [...items.values()].filter(({ name }) => isSameName(name, spec.name));
  const baseline: Baseline = {
    ids: new Set(items.keys()),
    begunAt,
    sameNamedIds: sameNamed.map(({ id }) => id),
  };
  if (state.phase === "renewingBaseline") {
    return writeRecord({ ...state.attempt, baseline }, reports);
  }
  const attempt = { baseline, earlier: state.earlier, unsentCount: 0 };
  return next({ phase: "awaitingPermit", attempt }, reports);
}

/** Returns the record of a completed create of this resource whose instance exists, or is too young to be listed. */
function findUndeletable(spec: CreateSpec, observation: Observation): LedgerRecord | undefined {
  return observation.entries
    .filter((entry) => isCompleted(spec, entry) && isOfSameResource(spec, entry.record))
    .map(({ record }) => record)
    .find(
      (record) =>
        record.id !== undefined &&
        (observation.items.has(record.id) || observation.isSettling(record)),
    );
}

/** Returns the instances that earlier creates of this resource may have left. */
function findLeftovers(spec: CreateSpec, observation: Observation): Leftover[] {
  const { items, entries, isOfThisSession, isInState, isSettling } = observation;
  // Records with another scope count, too: if the state was not saved, the provider resource has a new id in the
  // next run.
  const delivered = entries
    .filter((entry) => isCompleted(spec, entry) && entry.record.stage !== "settled")
    .flatMap(({ record }) => (record.id === undefined ? [] : { ...record, id: record.id }));
  const deliveredIds = new Set(delivered.map(({ id }) => id));
  const unlisted = delivered.filter((record) => isSettling(record) && !items.has(record.id));

  const leftovers: Leftover[] = unlisted
    .filter(({ id }) => !isOfThisSession(id) && !isInState(id))
    .map(({ id }) => ({ id, why: "delivered" }));
  for (const { id, name } of items.values()) {
    if (isOfThisSession(id) || isInState(id)) continue;
    const why = deliveredIds.has(id) ? "delivered" : reasonByName(spec, name);
    // The name is compared first, because that is cheaper than a search of all records.
    if (why === "delivered" || (why && !isExplained(spec, entries, id)))
      leftovers.push({ id, why });
  }
  return leftovers;
}

/**
 * Returns why a listed name may be a leftover's: it has this resource's tag, or is the name to create (if not
 * generated).
 */
function reasonByName(spec: CreateSpec, name: string | undefined): "tag" | "name" | undefined {
  if (spec.tag !== undefined && hasTag(name, spec.tag)) return "tag";
  return spec.nameKind !== "generated" && isSameName(name, spec.name) ? "name" : undefined;
}

/** Whether a record says that the instance is another resource's, or was dropped or discarded on purpose. */
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

/** Returns the transition after the rate limit has permitted the POST. */
function afterPermit(attempt: Attempt, now: number): Transition {
  const { baseline, unclear } = attempt;
  // After an unclear POST, a new baseline might contain the instance of that POST. So the first baseline stays.
  const isOld = !unclear && now - baseline.begunAt > maxBaselineAgeMs;
  return isOld ? next({ phase: "renewingBaseline", attempt }) : writeRecord(attempt);
}

/** Goes on to write the record, or to send the POST if it is a repeated one, which has a record already. */
function writeRecord(attempt: Attempt, effects: SideEffect[] = []): Transition {
  const key = attempt.unclear?.key;
  if (key === undefined) return next({ phase: "writingRecord", attempt }, effects);
  return next({ phase: "posting", attempt, key }, [{ do: "updateRecord", key, stage: "sending" }]);
}

/**
 * Each create first writes its own record, and then reads the records of others. So of two creates of one
 * resource, at least one sees the other's record. That create drops its own record, and judges the pending
 * creates again.
 */
function afterRecord(
  spec: CreateSpec,
  attempt: Attempt,
  { key, entries }: EventOf<"recorded">,
): Transition {
  const { earlier } = attempt;
  const dropped: SideEffect[] = [{ do: "dropRecord", key }];
  // Two runs of one stack are active at once after `pulumi cancel`, or if a plugin outlives its engine. The
  // engine that asked for this create does not know of the other run's instance, so this create stops.
  const overtaking = entries.find(
    (entry) => isCompleted(spec, entry) && !earlier.completedKeys?.has(entry.record.key),
  );
  if (overtaking) return failPending(overtaking.record, { kind: "overtaken" }, dropped);
  const isAlone = !entries.some((entry) => entry.record.key !== key && isInTheWay(spec, entry));
  if (isAlone) return next({ phase: "posting", attempt, key });
  return next({ phase: "readingLedger", earlier }, dropped);
}

/** Returns the transition after the POST has an outcome. */
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
      const unsentCount = attempt.unsentCount + 1;
      const isLasting = "lasting" in error && error.lasting === true;
      if (isLasting || unsentCount >= maxTries) return fail({ kind: "notSent", error }, dropped);
      const wakeAt = now + firstRetryMs * 2 ** (unsentCount - 1);
      const then: State = { phase: "awaitingPermit", attempt: { ...attempt, unsentCount } };
      return next({ phase: "sleeping", wakeAt, then }, dropped);
    }
    case "refused": {
      const error = outcome.failure;
      if (unclear) return failUnclear(unclear, { kind: "repeatFailed", error });
      return fail({ kind: "refused", error }, [{ do: "updateRecord", key, stage: "refused" }]);
    }
    case "unclear": {
      const sentCount = (unclear?.sentCount ?? 0) + 1;
      const search: State = {
        phase: "searchingAfterPost",
        attempt: { ...attempt, unclear: { key, error: outcome.failure, sentCount } },
        until: now + spec.settlingMs,
        hasUnexplained: false,
      };
      return next(search, [{ do: "updateRecord", key, stage: "unknown" }]);
    }
  }
}

// ── The search for an instance after an unclear outcome ──────────────────────────────────────────

/**
 * Judges a listing in the search for the instance of a POST with an unclear outcome.
 *
 * @throws Error if no POST had an unclear outcome, which is a defect.
 */
function searchAfterPost(
  spec: CreateSpec,
  state: StateOf<"searchingAfterPost">,
  event: Event,
): Transition {
  const { attempt, until } = state;
  const { unclear, baseline } = attempt;
  if (!unclear) throw new Error("a search without an unclear POST");
  const { key, error, sentCount } = unclear;
  if (event.kind === "listingFailed") {
    if (event.error.transient && event.now < until) return tryAgain(state, spec, event.now);
    const problem = event.error.message;
    return failUnclear(unclear, { kind: "none", complete: false, problem, sentCount });
  }
  const { observation, now } = expect(event, "listed");
  const hasUnexplained =
    state.hasUnexplained ||
    [...observation.items.keys()].some((id) => isUnexplained(observation, id, baseline.ids, key));
  const { name, nameKind } = spec;
  const found = searchByName({ key, name, nameKind, before: baseline.ids }, until, observation);
  switch (found.kind) {
    case "created":
      return accept(key, { id: found.id, name: found.name, networks: [] }, "listing", baseline.ids);
    case "several":
    case "turnedUp":
      return failUnclear(unclear, found);
    case "tooEarly":
      return tryAgain({ ...state, hasUnexplained }, spec, now);
    case "none":
      // The POST is repeated once, if the service itself failed (`answeredBroken`), this listing is complete, and no
      // listing of the search showed a new instance.
      if (sentCount === 1 && observation.complete && !hasUnexplained && answeredBroken(error)) {
        return next({ phase: "awaitingPermit", attempt });
      }
      return failUnclear(unclear, { kind: "none", complete: observation.complete, sentCount });
  }
}

/** Searches a listing for the instance that a POST may have created. */
function searchByName(
  post: { key: string; name: string; nameKind: NameKind; before: ReadonlySet<string> },
  settledBy: number,
  observation: Observation,
):
  | { kind: "created"; id: string; name: string | undefined }
  | { kind: "tooEarly" | "none" }
  | Candidates {
  const ids = findNewInstances(observation, post.name, post.before, post.key);
  const [id] = ids;
  // Only a name that this provider generated proves that the POST made the instance.
  if (id !== undefined && post.nameKind === "generated") {
    if (ids.length > 1) return { kind: "several", ids };
    return { kind: "created", id, name: observation.items.get(id)?.name };
  }
  // Before the settling time is over, a listing may lack the instance, and other instances that have its name.
  if (observation.begunAt < settledBy) return { kind: "tooEarly" };
  return id === undefined ? { kind: "none" } : { kind: "turnedUp", ids };
}

/** Returns the ids of the instances of this name that the POST of the record `key` may have created. */
export function findNewInstances(
  observation: Observation,
  name: string,
  before: ReadonlySet<string>,
  key: string,
): string[] {
  return [...observation.items.values()]
    .filter(
      (item) => isSameName(item.name, name) && isUnexplained(observation, item.id, before, key),
    )
    .map(({ id }) => id);
}

/** Whether an instance is new since the baseline, and neither the session nor a record other than `key` explains it. */
function isUnexplained(
  { isOfThisSession, isNamedByEngine, entries }: Observation,
  id: string,
  before: ReadonlySet<string>,
  key: string,
): boolean {
  if (before.has(id) || isOfThisSession(id) || isNamedByEngine(id)) return false;
  return !entries.some(({ record }) => record.id === id && record.key !== key);
}

/** Whether a listed name is `name`, in whatever case, like hostnames. Listed names have been through `printable`. */
function isSameName(listed: string | undefined, name: string): boolean {
  return listed?.toLowerCase() === printable(name).toLowerCase();
}

// ── Ends, and other transitions ──────────────────────────────────────────────────────────────────

/** Ends the create after Ctrl-C or the time-out. */
function stop(state: State, why: Error): Transition {
  if (state.phase === "sleeping") return stop(state.then, why);
  const unclear = "attempt" in state ? state.attempt.unclear : undefined;
  if (unclear) return failUnclear(unclear, { kind: "stopped", why });
  // A stop in the phase `posting` comes before the first byte is sent. Once a byte is sent, the event is `posted`.
  const isUnsent = state.phase === "posting";
  return fail({ kind: "stopped", why }, isUnsent ? [{ do: "dropRecord", key: state.key }] : []);
}

/** Ends the create with an instance. */
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

/** Enters the state `then` after a poll interval, or at the state's `until` if that comes first. */
function tryAgain(then: State & { until: number }, spec: CreateSpec, now: number): Transition {
  const wakeAt = Math.min(then.until, now + spec.pollIntervalMs);
  return next({ phase: "sleeping", wakeAt, then });
}

function next(state: State, effects: SideEffect[] = []): Transition {
  return { state, effects };
}

function expect<K extends Event["kind"]>(event: Event, kind: K): EventOf<K> {
  if (event.kind !== kind) throw new Error(`expected the event "${kind}", but got "${event.kind}"`);
  return event as EventOf<K>;
}
