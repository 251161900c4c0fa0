/**
 * The create protocol decides, as a pure function, what happens between a Create call and its reply: `begin` returns the
 * first transition, and `step` returns the next one after each event. `create.ts` carries the transitions out. This
 * file uses no clock, socket or disk, so that the explorer (`tests/explorer/`) can try every sequence of events.
 */
import type { Accepted, ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import { answeredBroken, knownIdError, type PostOutcome } from "../api/postOutcome";
import {
  isContested,
  isHashedName,
  isInFlight,
  isPending,
  type LedgerEntry,
  type LedgerRecord,
  type RequestedInstance,
  type SettleReason,
} from "../ledger/record";
import type { Evidence } from "../evidence/listing";
import {
  isSameName,
  mayStillTell,
  nextLookAt,
  see,
  witnessOf,
  type Ids,
  type Known,
  type Open,
  type Subject,
  type Verdict,
  type Witness,
} from "../evidence/witness";
import { isSamePlace, originDifference } from "../origin";
import { isSameResource, stackOf } from "../pulumiNames";
import { hasTag } from "./naming";

// ── Types ────────────────────────────────────────────────────────────────────────────────────────

/** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
export type NameKind = LedgerRecord["kind"];

/** The instance to create, and the settings that the protocol depends on. All durations are milliseconds. */
export interface CreateSpec {
  /** What the record of this create says from the start. Its `name` is hashed if the program made the name secret. */
  own: RequestedInstance;
  name: string;
  /** The id of this session. */
  session: string;
  /** What messages call the configured address (`Session.addressName`). */
  addressName: string;
  /** The tag (`tagOf`) in generated names of this resource. Undefined if the scope is not known, or if stateless. */
  tag: string | undefined;
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

/** What the create does now, and what it knows. */
export type State = Work & {
  /** The clock time until which the create waits before that. */
  wakeAt?: number;
};

/**
 * What the create does in each phase. Arrows point to the events that may follow, and `stopped` may follow every phase but
 * `ended`. `until` is the clock time at which the wait or the settling time is over.
 */
type Work =
  /** Reads the ledger → `ledgerRead`. With `until`, the create waits for another run's create. */
  | { phase: "readingLedger"; earlier: Earlier; until?: number }
  /**
   * Makes this session the owner of the record → `takenOver`. From `listedBy` on, each listing that begins shows the
   * instance, if the record's POST created one.
   */
  | { phase: "takingOver"; earlier: Earlier; record: LedgerRecord; listedBy: number }
  /** Fetches listings that begin now, until the witness has judged → `listed`, `listingFailed` */
  | { phase: "searching"; earlier: Earlier; search: Search; witness: Witness }
  /**
   * Fetches the baseline, or with `attempt` a newer one, since that attempt's is too old → `listed`, `listingFailed`
   */
  | { phase: "takingBaseline"; earlier: Earlier; attempt?: Attempt }
  /**
   * Waits for the rate limit → `permitted`. A create whose baseline was renewed, which ended at the clock time `renewedAt`, is
   * still the next one to send.
   */
  | { phase: "awaitingPermit"; attempt: Attempt; renewedAt?: number }
  /** Writes the record of this create, and waits until it is on the disk → `recorded` */
  | { phase: "writingRecord"; attempt: Attempt; fields: RecordFields }
  /** Sends the POST that the record `key` describes → `posted` */
  | { phase: "posting"; attempt: Attempt; key: string }
  | { phase: "ended"; result: Result };

type StateOf<P extends State["phase"]> = Extract<State, { phase: P }>;

/** What the record of a POST says, but for the time at which it is written. */
export type RecordFields = RequestedInstance & { before: string[] };

interface Earlier {
  /** How often it has tried to take over or to settle a record. */
  takeovers: number;
  /** The ids that it has proven gone. A ledger that can't be written does not know it. */
  goneIds?: readonly string[];
  /** The error of this create's first POST, if listings have proven that it created nothing. It is repeated once. */
  firstError?: RequestError;
}

interface Attempt {
  baseline: Baseline;
  earlier: Earlier;
  /** How many POSTs failed before a byte was sent. */
  unsentCount: number;
}

/** A listing from before the POST, which can't have created an instance that is in it. */
interface Baseline {
  readonly items: ReadonlyMap<string, ListItem>;
  readonly begunAt: number;
}

/** What a search is for. */
export type Search =
  /** The instance of an earlier create. With `stopFor`, an engine was given it, so it stops this create unless it is gone. */
  | { of: "record"; record: LedgerRecord; stopFor?: StopReason }
  /**
   * The instance of this create's POST, whose outcome is unclear. `mayRepeat`: the service answered that it failed, and no
   * listing has shown a new instance, of whatever name, that nothing explains.
   */
  | { of: "post"; post: SentPost; error: RequestError; mayRepeat: boolean };

/** Why the instance that a record names stops a create. With "undeletable", its Delete would fail. */
type StopReason = "replied" | "contested" | "undeletable";

/** The outcome of a state's work. */
export type Event =
  | { kind: "ledgerRead"; entries: readonly Entry[]; registered: Urns; now: number }
  /** `isTaken` says whether the record now belongs to this session. */
  | { kind: "takenOver"; isTaken: boolean }
  | { kind: "listed"; look: Look; now: number }
  | { kind: "listingFailed"; error: RequestError; now: number }
  | { kind: "permitted"; now: number }
  /** `entries` is the ledger as read after the record was written. */
  | { kind: "recorded"; key: string; entries: readonly LedgerEntry[] }
  /**
   * `look` has the latest listing from before the POST, and what is known after it. `hashedName` is the name in the answer as
   * a record has it if it is secret.
   */
  | {
      kind: "posted";
      outcome: PostOutcome;
      look: Look;
      hashedName?: string | undefined;
      now: number;
    }
  /** Ctrl-C, or the operation's time-out. It comes instead of any other event. */
  | { kind: "stopped"; why: Error };

/** A record, and the clock time from which on each listing that begins shows its instance, if its POST created one. */
export type Entry = LedgerEntry & { readonly listedBy: number };

/** URNs of the resources that the program of this run has registered so far. */
type Urns = ReadonlySet<string>;

type EventOf<K extends Event["kind"]> = Extract<Event, { kind: K }>;
type ListingEvent = EventOf<"listed" | "listingFailed">;

/** A listing, and what the session and the ledger know when it arrives. */
export interface Look {
  listing: Evidence;
  /** Ids of the instances that this session has created, or taken over. */
  ours: Ids;
  /** The ids that the engine has sent in this session. The instances may be other resources'. */
  named: Ids;
  /** Ids of the instances that a Pulumi state is proven to have held. */
  held: Ids;
  /** Ids of those that another resource of the program has now, as after a rename with an alias. */
  heldByOthers: Ids;
  /** While a record is searched for: `KnownState.vouchersOf`. */
  vouchers?: ReadonlySet<string> | undefined;
  entries: readonly Entry[];
  registered: Urns;
}

/** The side effects to carry out, in this order, and then the next state. */
export interface Transition {
  state: State;
  effects: SideEffect[];
}

/** Something that `create.ts` does between two states. It causes no event. */
export type SideEffect =
  | { do: "updateRecord"; key: string; change: RecordChange }
  /** Settles the record of an earlier create. Its instance is proven gone, or its POST has surely created none. */
  | { do: "settleRecord"; key: string; as: "gone" | "absent" }
  /** Names pending creates that may be this resource's, and that this create can't resume. */
  | { do: "reportPending"; records: LedgerRecord[] }
  | ({ do: "reportLeftovers" } & Leftovers);

interface RecordChange {
  stage?: LedgerRecord["stage"];
  id?: string;
  settled?: SettleReason;
}

/** What showed the instance: the response to this create's POST, a listing after it, or an earlier create's record. */
type InstanceSource = "answer" | "listing" | "earlierRun";

/** The leftovers in a listing, and whether the listing was not complete. */
export interface Leftovers {
  items: Leftover[];
  partial: boolean;
}

/** An instance that an earlier create of this resource may have left. It is reported, and never adopted. */
export interface Leftover {
  id: string;
  /**
   * Its name has the resource's tag or is the name to create; a completed create (`isCompleted`) made it, or one of a
   * resource that may be this one under its old name (`isAdrift`).
   */
  why: "tag" | "name" | "delivered" | "renamed";
  /**
   * The resource of another stack whose create made the instance (`hasMade`), or may have made it. `isSure` says whether it is
   * surely another stack: otherwise this stack may have had that name.
   */
  claim?: { urn: string; hasMade: boolean; isSure: boolean };
}

/** How a create ends. */
export type Result =
  /**
   * The instance of the record `key`. `unclearPost` is set after an unclear outcome, also of an earlier create: the POST may
   * have created more instances.
   */
  | {
      kind: "accepted";
      key: string;
      accepted: Accepted;
      from: InstanceSource;
      unclearPost: SentPost | undefined;
      /** When the service accepted an earlier create (ISO 8601). */
      acceptedAt?: string;
    }
  | { kind: "failed"; failure: Failure };

/** Why a create fails without an instance that it could return. */
export type Failure =
  /** Another create of this resource is pending or contested. */
  | { kind: "pending"; record: LedgerRecord; why: PendingReason }
  | ({ kind: "leftovers" } & Leftovers)
  /**
   * A state may hold this record's instance, and its Delete would fail. `why` says why the instance is not proven gone,
   * unless a listing shows it.
   */
  | { kind: "undeletable"; record: LedgerRecord; why?: Unproven }
  | { kind: "listingFailed" | "stopped"; error: Error }
  /** `firstError` is that of this create's first POST, which created nothing (`Earlier.firstError`). */
  | { kind: "refused" | "notSent"; error: Error; firstError: RequestError | undefined }
  /** The POST of the record `key` was sent, and whether it created an instance is not known. */
  | {
      kind: "unclear";
      why: UnclearReason;
      key: string;
      error: RequestError;
      firstError: RequestError | undefined;
    };

/** Why a search has neither found the instance nor proven that it is absent. */
type FailedSearch =
  /**
   * The instances with the POST's name that the POST may have created. With "several", this provider generated the
   * name. With "turnedUp", it did not, so the name of an instance is no proof.
   */
  { kind: "several" | "turnedUp"; ids: string[] } | Unproven;

/** Why listings do not prove that an instance is gone. */
type Unproven = Open | { kind: "listingFailed"; error: Error };

/** Why an earlier create of the resource stops this one: it can be neither resumed nor settled. */
export type PendingReason =
  | { kind: "inFlight" }
  | { kind: "unlockable" | "secretName" }
  /** An engine was given the instance, and did not end in order. */
  | { kind: "replied" }
  /** Another run's create of this resource was completed while this run was under way (`isContested`). */
  | { kind: "contested" }
  /** The program has registered no resource with the record's URN so far, and may have renamed that resource. */
  | { kind: "unregistered" }
  /** As `relation` says. */
  | { kind: "otherScope" }
  | { kind: "otherStack" }
  | { kind: "otherOrigin"; difference: string }
  /** The digests differ. With another token, that proves nothing, because each digest is keyed with its token. */
  | { kind: "changed"; sameToken: boolean }
  | FailedSearch;

/** Why it is still not known whether a POST with an unclear outcome created an instance. */
type UnclearReason =
  | FailedSearch
  /** Listings after the settling time prove that there is no such instance. But the POST may be carried out later. */
  | { kind: "none" }
  | { kind: "stopped"; error: Error };

/** The maximum age of a baseline when the POST is the next one to send, and when it is permitted. An older one is renewed. */
const maxBaselineAgeMs = 30_000;
/**
 * The longest wait for the rate limit with a renewed baseline. The listing may have used what the limit had left, so the POST
 * comes up to a minute later. Renewing the baseline for that would never end. A longer wait is due to a pause.
 */
const maxRenewedWaitMs = 120_000;
/** The most attempts to take over a record, and the most POSTs that fail before a byte is sent. */
const maxTries = 4;
/** The change of the record of a POST that was not sent, or that surely created nothing. */
const unsent: RecordChange = { stage: "settled", settled: "absent" };
/** The wait after the first POST that failed before a byte was sent. It doubles after each further one. */
const firstRetryMs = 500;

// ── The first transition, and the next one ───────────────────────────────────────────────────────

/** Returns the first transition. */
export function begin(): Transition {
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
    case "searching":
      return afterLook(spec, state, expect(event, "listed", "listingFailed"));
    case "takingBaseline":
      return judgeBaseline(spec, state, event);
    case "awaitingPermit":
      return afterPermit(spec, state, expect(event, "permitted").now);
    case "writingRecord":
      return afterRecord(spec, state.attempt, expect(event, "recorded"));
    case "posting":
      return afterPost(spec, state, expect(event, "posted"));
    case "ended":
      throw new Error("the create has ended");
  }
}

// ── Pending creates of this resource ─────────────────────────────────────────────────────────────

/** A resource, and the place of its provider. */
interface Asking {
  own: Pick<RequestedInstance, "baseUrl" | "tokenKind" | "urn" | "scope" | "stateless">;
}

/**
 * Returns how a record is related to this resource. Only a record of the "same" is ever resumed.
 *
 * - "otherScope": it has the same URN, stack included, under another provider resource. It may be this stack's (after an
 *   upgrade of the plugin), or that of another stack with the same name.
 * - "otherStack": it has the same provider resource, but was written under another name of the stack. The stack may have been
 *   renamed, or resources were moved between two stacks (`pulumi state move`), which then both have the provider resource.
 */
function relation(
  { own }: Asking,
  record: LedgerRecord,
): "same" | "otherScope" | "otherStack" | "none" {
  if (own.stateless || record.stateless || !isSamePlace(record, own)) return "none";
  const isSameScope = own.scope !== undefined && record.scope === own.scope;
  if (record.urn === own.urn) return isSameScope ? "same" : "otherScope";
  return isSameScope && isSameResource(record.urn, own.urn) ? "otherStack" : "none";
}

/**
 * Whether a create of this resource, or of the same URN, must be resumed or settled before a POST, or stops this create.
 * The session of another scope may live: a plugin can outlive an engine that saved nothing. But no stack is renamed during a
 * run, so a live session of another stack name is another stack's.
 */
export function isInTheWay(spec: Asking, { record, liveness }: LedgerEntry): boolean {
  const related = relation(spec, record);
  if (related === "none" || (related === "otherStack" && liveness === "alive")) return false;
  return isPending(record) || isContested(record);
}

/** Whether an engine was given the record's instance and ended in order, or a state held the instance. */
function isCompleted(spec: CreateSpec, { record }: LedgerEntry): boolean {
  const { stage, settled } = record;
  const related = relation(spec, record);
  if (related !== "same") return related !== "none" && stage === "delivered";
  return stage === "delivered" || settled === "state";
}

/** Whether the program of this run has registered the record's resource, by its present URN. */
function isRegistered({ urn }: LedgerRecord, registered: Urns): boolean {
  return [...registered].some((other) => isSameResource(other, urn));
}

/**
 * Whether a record is of this stack, but neither of this resource at this place nor of another resource that the program
 * has registered: the resource or the address was perhaps renamed.
 */
function isAdrift(spec: CreateSpec, record: LedgerRecord, registered: Urns): boolean {
  const { own } = spec;
  if (own.stateless || record.stateless || own.scope === undefined) return false;
  if (record.scope !== own.scope || stackOf(record.urn) !== stackOf(own.urn)) return false;
  if (relation(spec, record) !== "none") return false;
  return isSameResource(record.urn, own.urn) || !isRegistered(record, registered);
}

function judgeEarlier(
  spec: CreateSpec,
  { earlier, until: untilNow }: StateOf<"readingLedger">,
  { entries, registered, now }: EventOf<"ledgerRead">,
): Transition {
  const inTheWay = entries.filter((entry) => isInTheWay(spec, entry));
  const ofSameResource = inTheWay.filter(({ record }) => relation(spec, record) === "same");

  const underWay = ofSameResource.find(isInFlight);
  if (underWay) {
    const until = untilNow ?? now + spec.patienceMs;
    if (now >= until) return failPending(underWay.record, { kind: "inFlight" });
    return tryAgain({ phase: "readingLedger", earlier, until }, spec, now);
  }
  const contested = inTheWay.find(({ record }) => isContested(record));
  const given = contested ?? inTheWay.find(({ record }) => record.stage === "replied");
  const [first] = inTheWay;
  if (!first) return beforeBaseline(spec, earlier, entries, registered);

  const { record, liveness, listedBy } = given ?? first;
  if (relation(spec, record) === "otherStack") return failPending(record, { kind: "otherStack" });
  const difference = originDifference(record, spec.own, spec.addressName);
  if (difference !== undefined) {
    return failPending(record, { kind: "otherOrigin", difference });
  }
  const nextEarlier = { ...earlier, takeovers: earlier.takeovers + 1 };
  if (given) {
    const stopFor = contested ? "contested" : "replied";
    // The engine of a live session may be about to save the instance.
    if (!contested && liveness === "alive") return failPending(record, { kind: "inFlight" });
    const isFinal = contested !== undefined || liveness === "dead";
    if (!isFinal || earlier.takeovers >= maxTries) return failPending(record, { kind: stopFor });
    return next(searchFor(spec, nextEarlier, record, listedBy, stopFor));
  }
  if (relation(spec, record) === "otherScope") {
    const kind = isInFlight(first) ? "inFlight" : "otherScope";
    return failPending(record, { kind });
  }
  if (liveness === "unknown" || earlier.takeovers >= maxTries) {
    return failPending(record, { kind: "unlockable" });
  }
  return next({ phase: "takingOver", earlier: nextEarlier, record, listedBy });
}

/** Judges the pending creates of this stack that this create can't resume, and goes on to the baseline. */
function beforeBaseline(
  spec: CreateSpec,
  earlier: Earlier,
  entries: readonly LedgerEntry[],
  registered: Urns,
): Transition {
  const adrift = entries
    .map(({ record }) => record)
    .filter(
      (record) =>
        record.owner !== spec.session && isPending(record) && isAdrift(spec, record, registered),
    );
  const [first] = adrift;
  if (first && spec.leftovers === "fail") return failPending(first, { kind: "unregistered" });
  const mayBeThis = adrift.filter(
    ({ urn, digest }) => isSameResource(urn, spec.own.urn) || digest === spec.own.digest,
  );
  const reports: SideEffect[] =
    mayBeThis.length > 0 ? [{ do: "reportPending", records: mayBeThis }] : [];
  return next({ phase: "takingBaseline", earlier }, reports);
}

function afterTakeOver(
  spec: CreateSpec,
  { record, earlier, listedBy }: StateOf<"takingOver">,
  { isTaken }: EventOf<"takenOver">,
): Transition {
  // Another run was quicker, the record has changed, or a lock can't be had: judge all records again.
  if (!isTaken) return next({ phase: "readingLedger", earlier });
  const isOtherName = isHashedName(record.name) && record.name !== spec.own.name;
  if (record.id === undefined && isOtherName) return failPending(record, { kind: "secretName" });
  return next(searchFor(spec, earlier, record, listedBy));
}

/** Takes over the instance that a record's POST created, if the program still asks for the same instance. */
function resume(
  spec: CreateSpec,
  record: LedgerRecord,
  { id, name, status }: ListItem,
): Transition {
  const { key } = record;
  if (record.digest !== spec.own.digest) {
    const sameToken = record.tokenHash === spec.own.tokenHash;
    // The record gets the id, so that an import of the instance finds the record.
    return failPending({ ...record, id }, { kind: "changed", sameToken }, [update(key, { id })]);
  }
  const accepted: Accepted = { id, name, status, networks: [], ...record.accepted };
  const unclearPost = record.id === undefined ? postOf(spec, record) : undefined;
  return accept(key, accepted, "earlierRun", unclearPost, record.at);
}

/** Returns the POST of a record. If the record has only a hash of the name, it is this create's: that was compared before. */
function postOf(spec: CreateSpec, { key, name, before }: LedgerRecord): SentPost {
  return { key, name: isHashedName(name) ? spec.name : name, before: new Set(before) };
}

// ── The baseline, and the leftovers in it ────────────────────────────────────────────────────────

function judgeBaseline(
  spec: CreateSpec,
  { earlier, attempt }: StateOf<"takingBaseline">,
  event: Event,
): Transition {
  if (event.kind === "listingFailed") return fail(event);
  const { look, now } = expect(event, "listed");
  const { items, complete, begunAt } = look.listing;
  const undeletable = spec.deleteFails ? findUndeletable(spec, earlier, look) : undefined;
  if (undeletable) {
    const { record, listedBy } = undeletable;
    return next(searchFor(spec, earlier, record, listedBy, "undeletable"));
  }

  const leftovers = { items: findLeftovers(spec, look), partial: !complete };
  const isClean = leftovers.items.length === 0 && complete;
  if (!isClean && spec.leftovers === "fail") return fail({ kind: "leftovers", ...leftovers });
  const reports: SideEffect[] = isClean ? [] : [{ do: "reportLeftovers", ...leftovers }];

  const baseline = { items, begunAt };
  if (attempt) {
    const renewed = { ...attempt, baseline };
    return next({ phase: "awaitingPermit", attempt: renewed, renewedAt: now }, reports);
  }
  const first = { baseline, earlier, unsentCount: 0 };
  return next({ phase: "awaitingPermit", attempt: first }, reports);
}

/** Finds a completed create of this resource whose instance is not proven gone, and is no other resource's now. */
function findUndeletable(
  spec: CreateSpec,
  { goneIds = [] }: Earlier,
  { entries, heldByOthers }: Look,
): Entry | undefined {
  return entries.find((entry) => {
    const { id } = entry.record;
    if (!isCompleted(spec, entry) || relation(spec, entry.record) !== "same") return false;
    return id !== undefined && !goneIds.includes(id) && !heldByOthers.has(id);
  });
}

function findLeftovers(spec: CreateSpec, look: Look): Leftover[] {
  const { listing, entries, registered, ours, held } = look;
  const reasons = new Map<string, Omit<Leftover, "id">>();
  for (const { id, name } of listing.items.values()) {
    const why = reasonByName(spec, name);
    // The name is compared first, because that is cheaper than a search of all records.
    if (!why || isExplained(spec, look, id)) continue;
    const claim = findClaim(spec, look, id, why);
    reasons.set(id, { why, ...(claim && { claim }) });
  }
  for (const entry of entries) {
    const { record, listedBy } = entry;
    const { id, stage, digest } = record;
    if (id === undefined || stage !== "delivered") continue;
    // Records of another scope count, too: if the state was not saved, the provider resource has a new id now.
    const isRenamed = digest === spec.own.digest && isAdrift(spec, record, registered);
    // The program possibly registers that resource later, so a warning could be wrong. A stop costs nothing.
    if (!isCompleted(spec, entry) && !(isRenamed && spec.leftovers === "fail")) continue;
    const isTooYoung = listing.begunAt < listedBy;
    const why = isRenamed ? "renamed" : "delivered";
    const claim = claimOf(spec, record);
    if (isTooYoung || listing.items.has(id)) reasons.set(id, { why, ...(claim && { claim }) });
  }
  return [...reasons]
    .filter(([id]) => !ours.has(id) && !held.has(id))
    .map(([id, reason]) => ({ id, ...reason }));
}

/**
 * Finds another stack's create that made the instance or, if the program chose the name, that is pending and asked for the same
 * name.
 */
function findClaim(
  spec: CreateSpec,
  { entries }: Look,
  id: string,
  why: "tag" | "name",
): Leftover["claim"] {
  const { own } = spec;
  const others = entries
    .map(({ record }) => record)
    .filter((record) => isSamePlace(record, own) && !record.stateless)
    .filter(({ urn }) => stackOf(urn) !== stackOf(own.urn));
  const maker = others.find((record) => record.id === id);
  if (maker) return claimOf(spec, maker);
  const candidate = others.find(
    (record) =>
      why === "name" &&
      record.id === undefined &&
      isPending(record) &&
      isSameName(record.name, own.name) &&
      !record.before.includes(id),
  );
  return candidate && { urn: candidate.urn, hasMade: false, isSure: false };
}

/** Returns the claim of the stack whose create made the instance. Undefined if that is this stack. */
function claimOf({ own }: CreateSpec, { urn, scope }: LedgerRecord): Leftover["claim"] {
  if (stackOf(urn) === stackOf(own.urn)) return undefined;
  return { urn, hasMade: true, isSure: scope !== own.scope };
}

/** Returns why a name may be a leftover's. Another create generates another name with the same tag. */
function reasonByName(spec: CreateSpec, name: string | undefined): "tag" | "name" | undefined {
  if (spec.tag !== undefined && hasTag(name, spec.tag)) return "tag";
  return spec.own.kind !== "generated" && isSameName(name, spec.name) ? "name" : undefined;
}

/**
 * Whether a record explains the instance: a person discarded it, a Delete that said so dropped it, a stateless create
 * printed it, or a state held it for another resource. What is pending or just delivered explains nothing, because no
 * state is proven to hold it. Neither does a resource of this stack that the program does not register any more.
 */
function isExplained(spec: CreateSpec, { entries, registered }: Look, id: string): boolean {
  return entries.some(({ record }) => {
    const { settled, stage, scope } = record;
    if (record.id !== id) return false;
    if (settled === "dropped" || settled === "discarded") return true;
    if (record.stateless) return stage === "delivered";
    if (settled !== "state") return false;
    const related = relation(spec, record);
    if (related !== "none") return related === "otherStack";
    return scope !== spec.own.scope || isRegistered(record, registered);
  });
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

function afterPermit(spec: CreateSpec, state: StateOf<"awaitingPermit">, now: number): Transition {
  const { attempt } = state;
  if (isBaselineUsable(state, now)) return writeRecord(spec, attempt);
  return next({ phase: "takingBaseline", earlier: attempt.earlier, attempt });
}

/** Whether a POST may be sent now. Otherwise the baseline has to be renewed first. */
export function isBaselineUsable(
  { attempt, renewedAt }: StateOf<"awaitingPermit">,
  now: number,
): boolean {
  if (renewedAt !== undefined) return now - renewedAt <= maxRenewedWaitMs;
  return now - attempt.baseline.begunAt <= maxBaselineAgeMs;
}

function writeRecord(spec: CreateSpec, attempt: Attempt): Transition {
  const fields = { ...spec.own, before: idsNamed(spec.name, attempt.baseline.items) };
  return next({ phase: "writingRecord", attempt, fields });
}

/**
 * Each create first writes its own record, and then reads the records of others. So of two creates of one resource, at
 * least one sees the other's record. That create drops its own record, and judges the pending creates again.
 */
function afterRecord(
  spec: CreateSpec,
  attempt: Attempt,
  { key, entries }: EventOf<"recorded">,
): Transition {
  const isAlone = !entries.some((entry) => entry.record.key !== key && isInTheWay(spec, entry));
  if (isAlone) return next({ phase: "posting", attempt, key });
  return next({ phase: "readingLedger", earlier: attempt.earlier }, [update(key, unsent)]);
}

function afterPost(
  spec: CreateSpec,
  state: StateOf<"posting">,
  event: EventOf<"posted">,
): Transition {
  const { attempt, key } = state;
  const { earlier, baseline } = attempt;
  const { firstError } = earlier;
  const outcome = judgeAnswer(spec, state, event);
  const { now } = event;
  const post = { key, name: spec.name, before: baseline.items };
  switch (outcome.kind) {
    case "accepted":
      // The first POST may be carried out late, and its instance has the same name.
      return accept(key, outcome.accepted, "answer", firstError && post);
    case "rateLimited":
      return next({ phase: "awaitingPermit", attempt }, [update(key, unsent)]);
    case "notSent": {
      const error = outcome.failure;
      const dropped = [update(key, unsent)];
      const unsentCount = attempt.unsentCount + 1;
      const isLasting = error instanceof RequestError && error.lasting;
      if (isLasting || unsentCount >= maxTries) {
        return fail({ kind: "notSent", error, firstError }, dropped);
      }
      const wakeAt = now + firstRetryMs * 2 ** (unsentCount - 1);
      const again = { ...attempt, unsentCount };
      return next({ phase: "awaitingPermit", attempt: again, wakeAt }, dropped);
    }
    case "refused": {
      const refused = update(key, { stage: "refused" });
      return fail({ kind: "refused", error: outcome.failure, firstError }, [refused]);
    }
    case "unclear": {
      const error = outcome.failure;
      const mayRepeat = firstError === undefined && answeredBroken(error);
      const search: Search = { of: "post", post, error, mayRepeat };
      const listedBy = now + spec.settlingMs;
      const witness = witnessOf({ subject: post, listedBy, pollIntervalMs: spec.pollIntervalMs });
      const searching: State = { phase: "searching", earlier, search, witness };
      return next(searching, [update(key, { stage: "unknown" })]);
    }
  }
}

/** Returns the outcome of a POST. A known instance can't come from it, so an answer with its id is unclear. */
function judgeAnswer(
  spec: CreateSpec,
  { attempt, key }: StateOf<"posting">,
  { outcome, look, hashedName }: EventOf<"posted">,
): PostOutcome {
  if (outcome.kind !== "accepted") return outcome;
  const { id, name } = outcome.accepted;
  const { listing, ours, named, entries } = look;
  const known = [attempt.baseline.items, listing.items, ours, named];
  // Without another create of this name, a name that differs is just another spelling.
  const names = isSameName(name, spec.name) ? [] : [name, hashedName];
  const isOfAnother = ({ record }: LedgerEntry) => {
    if (record.key === key || !isSamePlace(record, spec.own)) return false;
    if (record.id !== undefined) return record.id === id && record.settled !== "gone";
    // The other create's own 202 may be still to come.
    return isPending(record) && names.some((spelling) => isSameName(spelling, record.name));
  };
  if (!known.some((ids) => ids.has(id)) && !entries.some(isOfAnother)) return outcome;
  return { kind: "unclear", failure: knownIdError(id) };
}

// ── The search for the instance of a record, or of this create's POST ────────────────────────────

/** The POST of the record `key`, which can't have created the instances in `before`. */
export interface SentPost {
  key: string;
  name: string;
  before: Ids;
}

/** Begins the search for a record's instance: by its id, or else by its name. */
function searchFor(
  spec: CreateSpec,
  earlier: Earlier,
  record: LedgerRecord,
  listedBy: number,
  stopFor?: StopReason,
): State {
  const { id } = record;
  const subject: Subject = id === undefined ? postOf(spec, record) : { id };
  const witness = witnessOf({ subject, listedBy, pollIntervalMs: spec.pollIntervalMs });
  const search: Search = { of: "record", record, ...(stopFor && { stopFor }) };
  return { phase: "searching", earlier, search, witness };
}

/** Goes on with the search until the witness has judged. Only what may change by waiting alone is waited for. */
function afterLook(spec: CreateSpec, state: StateOf<"searching">, event: ListingEvent): Transition {
  if (event.kind === "listingFailed") {
    const { error, now } = event;
    const { listedBy } = state.witness.question;
    if (!error.transient || now >= listedBy)
      return failSearch(state, { kind: "listingFailed", error });
    return next({ ...state, wakeAt: Math.min(listedBy, now + spec.pollIntervalMs) });
  }
  const { look } = event;
  const { listing, vouchers } = look;
  const known = { explained: explainedIn(look, keyOf(state.search)), vouchers };
  const { verdict, witness } = see(state.witness, listing, known);
  const search = searchAfter(state.search, listing, known);
  const seen = { ...state, search, witness };
  const wait = next({ ...seen, wakeAt: nextLookAt(witness, listing.endedAt) });
  switch (verdict.kind) {
    case "listed":
      return found(spec, seen, verdict) ?? wait;
    case "absent":
      return notFound(seen);
    case "open":
      return mayStillTell(verdict) ? wait : failSearch(seen, verdict);
  }
}

/** Judges listed instances. Undefined if there may be more of them. */
function found(
  spec: CreateSpec,
  state: StateOf<"searching">,
  { items, isSettled }: Extract<Verdict, { kind: "listed" }>,
): Transition | undefined {
  const { search } = state;
  const [item] = items;
  const isById = "id" in state.witness.question.subject;
  if (search.of === "record" && search.stopFor) return stopFor(search.stopFor, search.record);
  if (!isById) {
    const ids = items.map(({ id }) => id);
    const { kind } = search.of === "record" ? search.record : spec.own;
    // Only a name that this provider generated proves that the POST made the instance. Before the settling time is over,
    // a listing may lack other instances that have a name.
    if (kind !== "generated")
      return isSettled ? failSearch(state, { kind: "turnedUp", ids }) : undefined;
    if (items.length > 1) return failSearch(state, { kind: "several", ids });
  }
  if (search.of === "record") return resume(spec, search.record, item);
  const { post } = search;
  return accept(post.key, { id: item.id, name: item.name, networks: [] }, "listing", post);
}

/**
 * Goes on without the instance, which is proven absent. A POST is repeated once: if the service itself failed, and no
 * listing has shown a new instance that nothing explains. The repeat is a new beginning, with a baseline and a record.
 */
function notFound({ earlier, search }: StateOf<"searching">): Transition {
  if (search.of === "record") {
    const { key, id } = search.record;
    if (id === undefined) return settle(key, "absent", earlier);
    const goneIds = [...(earlier.goneIds ?? []), id];
    return settle(
      key,
      "gone",
      search.stopFor === "undeletable" ? { ...earlier, goneIds } : earlier,
    );
  }
  const { post, error, mayRepeat } = search;
  if (mayRepeat) return settle(post.key, "absent", { ...earlier, firstError: error });
  return failUnclear(search, earlier, { kind: "none" });
}

/** Ends the create, because the search has neither found the instance nor proven that it is absent. */
function failSearch({ search, earlier }: StateOf<"searching">, why: FailedSearch): Transition {
  if (search.of === "post") return failUnclear(search, earlier, why);
  const { record, stopFor: reason } = search;
  return reason && !("ids" in why) ? stopFor(reason, record, why) : failPending(record, why);
}

/** Ends the create, because a record's instance is not proven gone. `why` says why not, unless a listing shows it. */
function stopFor(reason: StopReason, record: LedgerRecord, why?: Unproven): Transition {
  if (reason !== "undeletable") return failPending(record, { kind: reason });
  return fail({ kind: "undeletable", record, ...(why && { why }) });
}

/** Returns the search after a listing. */
function searchAfter(search: Search, { items }: Evidence, { explained }: Known): Search {
  if (search.of === "record" || !search.mayRepeat) return search;
  const { before } = search.post;
  const isNew = (id: string) => !before.has(id) && !explained?.has(id);
  return { ...search, mayRepeat: ![...items.keys()].some(isNew) };
}

/** The key of the record of the POST whose instance is searched for. */
function keyOf(search: Search): string {
  return search.of === "record" ? search.record.key : search.post.key;
}

/** Settles a record, and judges the remaining records. */
function settle(key: string, as: "gone" | "absent", earlier: Earlier): Transition {
  return next({ phase: "readingLedger", earlier }, [{ do: "settleRecord", key, as }]);
}

/** Returns the ids of the instances that the POST of this record has not made: other records, and the session, explain them. */
function explainedIn({ ours, named, entries }: Look, key: string): ReadonlySet<string> {
  const others = entries.flatMap(({ record: { id, key: other } }) =>
    id !== undefined && other !== key ? [id] : [],
  );
  return new Set([...ours.keys(), ...named.keys(), ...others]);
}

/** Returns the ids of the instances with the POST's name that the POST may have created. */
export function findNewInstances(look: Look, post: SentPost): string[] {
  const explained = explainedIn(look, post.key);
  return idsNamed(post.name, look.listing.items).filter(
    (id) => !post.before.has(id) && !explained.has(id),
  );
}

function idsNamed(name: string, items: ReadonlyMap<string, ListItem>): string[] {
  return [...items.values()].filter((item) => isSameName(item.name, name)).map(({ id }) => id);
}

// ── Ends, and other transitions ──────────────────────────────────────────────────────────────────

function stop(state: State, error: Error): Transition {
  if (state.phase === "searching" && state.search.of === "post") {
    return failUnclear(state.search, state.earlier, { kind: "stopped", error });
  }
  // A stop in the phase `posting` comes before the first byte is sent. Once a byte is sent, the event is `posted`.
  const dropped = state.phase === "posting" ? [update(state.key, unsent)] : [];
  return fail({ kind: "stopped", error }, dropped);
}

/** Ends with the instance. */
function accept(
  key: string,
  accepted: Accepted,
  from: InstanceSource,
  unclearPost: SentPost | undefined,
  acceptedAt?: string,
): Transition {
  const result: Result = { kind: "accepted", key, accepted, from, unclearPost };
  return next({ phase: "ended", result: { ...result, ...(acceptedAt && { acceptedAt }) } });
}

function failPending(record: LedgerRecord, why: PendingReason, effects: SideEffect[] = []) {
  return fail({ kind: "pending", record, why }, effects);
}

function failUnclear(
  { post: { key }, error }: Extract<Search, { of: "post" }>,
  { firstError }: Earlier,
  why: UnclearReason,
): Transition {
  return fail({ kind: "unclear", why, key, error, firstError });
}

function fail(failure: Failure, effects: SideEffect[] = []): Transition {
  return next({ phase: "ended", result: { kind: "failed", failure } }, effects);
}

/** Enters the state after a poll interval, or at the state's `until` if that comes first. */
function tryAgain(state: State & { until: number }, spec: CreateSpec, now: number): Transition {
  return next({ ...state, wakeAt: Math.min(state.until, now + spec.pollIntervalMs) });
}

function update(key: string, change: RecordChange): SideEffect {
  return { do: "updateRecord", key, change };
}

function next(state: State, effects: SideEffect[] = []): Transition {
  return { state, effects };
}

function expect<K extends Event["kind"]>(event: Event, ...kinds: K[]): EventOf<K> {
  if (kinds.some((kind) => kind === event.kind)) return event as EventOf<K>;
  throw new Error(`expected the event "${kinds.join('" or "')}", but got "${event.kind}"`);
}
