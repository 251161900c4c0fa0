/**
 * The create protocol decides, as a pure function, what a Create call does until its instance is known: `begin` returns the
 * first transition, and `step` returns the next one after each event. `create.ts` carries the transitions out. This
 * file uses no clock, socket or disk, so that the explorer (`tests/explorer/`) can try every sequence of events.
 */
import type { Accepted, ListItem } from "../api/contract";
import { RequestError } from "../api/requestError";
import { answeredBroken, knownIdError, type PostOutcome } from "../api/postOutcome";
import { mayTakeOver, type Found, type LedgerRecord, type Identity } from "../ledger/record";
import type { Evidence } from "../evidence/listing";
import {
  isNamed,
  mayStillTell,
  nextLookAt,
  see,
  seeAfter,
  witnessOf,
  type Ids,
  type Open,
  type Subject,
  type Witness,
} from "../evidence/witness";
import { originDifference } from "../origin";
import { isNameFor } from "../instance/naming";

// ── Types ────────────────────────────────────────────────────────────────────────────────────────

/** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
export type NameKind = Identity["kind"];

/** The instance to create, and the settings that the protocol depends on. All durations are milliseconds. */
export interface CreateSpec {
  /** What the record of this create says from the start. Without `scope`, no leftover is known by its generated name. */
  identity: Identity;
  name: string;
  /** The flavor that the POST asks for. (`create.ts` follows the protocol once for each flavor, as long as one is refused.) */
  flavor: string;
  /** What messages call the configured address (`Session.addressName`). */
  addressName: string;
  /** The setting `compute:leftovers`. */
  leftovers: "warn" | "fail" | undefined;
  /** As in `Settings`. */
  guardsLeftovers?: boolean | undefined;
  /** The id of the instance that this create is to replace, if a Diff has shown it. */
  replaces: string | undefined;
  /** The ids that the state of that instance knows (`Instance.known`). */
  known: ReadonlySet<string>;
  /** Whether a person has said for this run that leftovers go on running. */
  letsRun: boolean;
  /** Whether `compute:deletePolicy` makes the Delete of a listed instance fail. */
  deleteFails: boolean;
  /** The settling time: how long after a POST a listing may lack the instance that the POST created. */
  settlingMs: number;
  pollIntervalMs: number;
  /** As in `Question`. A preview has no use for it. */
  noneOfOursMs?: number | undefined;
  /** The longest wait for the end of another run's create of the same resource. */
  patienceMs: number;
}

/** What the create does now, and what it knows. */
export type State = Work & {
  /** The clock time at which that work begins. */
  wakeAt?: number;
};

/**
 * What the create does in each phase. Arrows point to the events that may follow, and `stopped` may follow every phase but
 * `ended`.
 */
type Work =
  /** Makes the record of this resource, or finds the one that there is → `claimed` */
  | { phase: "claiming"; waiting?: Waiting }
  /** Makes this session the owner of the record → `takenOver` */
  | { phase: "takingOver"; waiting: Waiting; listedBy: number }
  /** Fetches listings that begin now, until the witness has judged → `looked`, `listingFailed` */
  | { phase: "searching"; search: Search; witness: Witness }
  /** Fetches the baseline. With `attempt`, which has a permit, a newer one → `looked`, `listingFailed` */
  | { phase: "takingBaseline"; attempt?: Attempt; firstError?: RequestError | undefined }
  /** Waits for the rate limit → `permitted` */
  | { phase: "awaitingPermit"; attempt: Attempt }
  /** Writes to the record that a POST is about to be sent, and waits until that is on the disk → `recorded` */
  | { phase: "recording"; attempt: Attempt; before: string[] }
  /** Sends the POST → `posted` */
  | { phase: "posting"; attempt: Attempt; before: string[] }
  | { phase: "ended"; result: Result };

type StateOf<P extends State["phase"]> = Extract<State, { phase: P }>;

/** The wait for the record of another run's create of this resource, at most until the clock time `until`. */
interface Waiting {
  until: number;
  record: LedgerRecord;
}

interface Attempt {
  baseline: Baseline;
  /** How many POSTs failed before a byte was sent. */
  unsentCount: number;
  /** The error of this create's first POST, if listings have proven that it created nothing. That POST is repeated once. */
  firstError: RequestError | undefined;
}

/** A listing from before the POST. The POST has created no instance that this listing shows. */
type Baseline = Pick<Evidence, "items" | "begunAt">;

/** A search for the instance of a record. `error`: that of this create's POST. Undefined if an earlier create sent the POST. */
interface Search {
  record: LedgerRecord;
  error?: RequestError;
  firstError?: RequestError | undefined;
}

/** The outcome of a state's work. */
export type Event =
  | { kind: "claimed"; claim: Claim; now: number }
  /** `isTaken` says whether the record now belongs to this session. */
  | { kind: "takenOver"; isTaken: boolean; now: number }
  | { kind: "looked"; look: Look; now: number }
  | { kind: "listingFailed"; error: RequestError; now: number }
  | { kind: "permitted"; now: number }
  /** The record is on the disk, a warning has said that it can't be, or the create has none (`pulumi do --stateless`). */
  | { kind: "recorded" }
  /** `record` is that of the POST. */
  | { kind: "posted"; outcome: PostOutcome; look: Look; record: LedgerRecord; now: number }
  /** Ctrl-C, or the operation's time-out. It comes instead of any other event. */
  | { kind: "stopped"; why: Error };

/** What a create finds when it makes its record. */
export type Claim =
  | { kind: "made" }
  /** From `listedBy` on, each listing that begins shows the instance, if a POST of the record created one. */
  | ({ kind: "found"; listedBy: number } & Found)
  | { kind: "unreadable"; path: string };

type EventOf<K extends Event["kind"]> = Extract<Event, { kind: K }>;
type ListingEvent = EventOf<"looked" | "listingFailed">;

/** A listing, and what the session and the ledger know when it arrives. */
export interface Look {
  listing: Evidence;
  /** Ids of the instances that this session has created, or taken over. */
  ours: Ids;
  /** `KnownState.shown`. The instances may be other resources'. */
  shown: Ids;
  /** While a record is searched for: the ids in the other records of the ledger. */
  recorded?: Ids;
  /** While a record is searched for: `KnownState.vouchersOf`. */
  vouchers?: ReadonlySet<string> | undefined;
  /** While a record is searched for: `ListingSource.withoutOurs`. */
  withoutOurs?: Evidence | undefined;
}

/** The side effects to carry out, in this order, and then the next state. */
export interface Transition {
  state: State;
  effects: SideEffect[];
}

/** Something that `create.ts` does between two states. It causes no event. */
export type SideEffect =
  /** Writes the record anew as that of a create that has sent no POST. */
  { do: "clear" } | ({ do: "reportLeftovers" } & Leftovers);

/** What showed the instance: the response to this create's POST, a listing after it, or an earlier create's record. */
type InstanceSource = "answer" | "listing" | "earlierRun";

/** The leftovers in a listing, and whether the listing was not complete. */
export interface Leftovers {
  items: Leftover[];
  partial: boolean;
}

/** An instance that an earlier create of this resource may have left. A message names it; no create adopts it. */
export interface Leftover {
  id: string;
  /** As the service lists it. */
  name: string | undefined;
  /** Its name was generated for this resource, or is the name to create. */
  why: "tag" | "name";
}

/** An instance that a create ends with. */
interface Acceptance {
  accepted: Accepted;
  from: InstanceSource;
  /** The flavor that its POST asked for. */
  flavor: string | undefined;
  /** As `Instance.known`. */
  known: readonly string[];
  /** When the service accepted an earlier create (ISO 8601). */
  acceptedAt?: string | undefined;
}

/** How a create ends. */
export type Result = ({ kind: "accepted" } & Acceptance) | { kind: "failed"; failure: Failure };

/** Why a create fails without an instance that it could return. */
export type Failure =
  /** An earlier or another create of this resource is in doubt. */
  | { kind: "inDoubt"; record: LedgerRecord; why: Doubt }
  /** The file of an earlier create can't be read. */
  | { kind: "unreadable"; path: string }
  | ({ kind: "leftovers" } & Leftovers)
  /**
   * Nothing was made: the POST was refused or could not be sent, or the create stopped before it. `firstError`: as in `Attempt`.
   */
  | { kind: "postFailed" | "stopped"; error: Error; firstError?: RequestError | undefined }
  /** The POST was sent, and whether it created an instance is not known. */
  | {
      kind: "unclear";
      why: Doubt;
      record: LedgerRecord;
      error: RequestError;
      firstError: RequestError | undefined;
    };

/** Why it is not known whose an instance is, or whether there is one. */
export type Doubt =
  /** Another run has the record, or had it during the wait. `unknownRun`: whether that run lives is not known. */
  | { kind: "anotherRun" | "unknownRun" }
  /** The POST went to another place than this run's. */
  | { kind: "elsewhere"; difference: string }
  /** The instance exists. An engine was given it, or another provider resource or program asked for it. */
  | { kind: "given" | "changed"; id: string }
  /** These instances exist, and nothing proves that the record's POST made one of them for this resource. */
  | { kind: "perhapsOthers"; ids: string[] }
  /** Without `because`, listings prove that there is none, but the POST may still be carried out. */
  | { kind: "notFound"; because?: Open | Error };

/** The maximum age of a baseline when the POST is permitted. An older one is renewed. */
const maxBaselineAgeMs = 30_000;
/** How many POSTs may fail before a byte is sent, until the create gives up. */
const maxUnsent = 4;
/** The wait after the first POST that failed before a byte was sent. It doubles after each further one. */
const firstRetryMs = 500;

const clear: SideEffect = { do: "clear" };

// ── The first transition, and the next one ───────────────────────────────────────────────────────

/** Returns the first transition. The record comes first: whoever has the record is alone with this resource until the reply. */
export function begin(): Transition {
  return next({ phase: "claiming" });
}

/**
 * Returns the transition after an event.
 *
 * @throws Error if the event can't follow the state.
 */
export function step(spec: CreateSpec, state: State, event: Event): Transition {
  if (event.kind === "stopped") return stop(state, event.why);
  switch (state.phase) {
    case "claiming":
      return afterClaim(spec, state, expect(event, "claimed"));
    case "takingOver":
      return afterTakeOver(spec, state, expect(event, "takenOver"));
    case "searching":
      return afterLook(spec, state, expect(event, "looked", "listingFailed"));
    case "takingBaseline":
      return judgeBaseline(spec, state, event);
    case "awaitingPermit":
      return afterPermit(spec, state, expect(event, "permitted").now);
    case "recording": {
      expect(event, "recorded");
      return next({ ...state, phase: "posting" });
    }
    case "posting":
      return afterPost(spec, state, expect(event, "posted"));
    case "ended":
      throw new Error("the create has ended");
  }
}

// ── The record that an earlier create of this resource has left ──────────────────────────────────

function afterClaim(
  spec: CreateSpec,
  { waiting }: StateOf<"claiming">,
  { claim, now }: EventOf<"claimed">,
): Transition {
  // The other run has ended in order, and this run's engine has read a state from before that.
  if (claim.kind === "made" && waiting) return failInDoubt(waiting.record, { kind: "anotherRun" });
  if (claim.kind === "made") return next({ phase: "takingBaseline" });
  if (claim.kind === "unreadable") return fail({ kind: "unreadable", path: claim.path });
  const { record, listedBy } = claim;
  const until = waiting?.until ?? now + spec.patienceMs;
  const waitingFor = { until, record };
  if (mayTakeOver(claim, spec.identity.session) && elsewhereBy(spec, record) === undefined) {
    // The record could not be taken over in all that time: its lock can't be had.
    if (now > until) return failInDoubt(record, { kind: "unknownRun" });
    return next({ phase: "takingOver", waiting: waitingFor, listedBy });
  }
  if (claim.liveness !== "alive" || now >= until)
    return failInDoubt(record, whyNotTaken(spec, claim));
  const wakeAt = Math.min(until, now + spec.pollIntervalMs);
  return next({ phase: "claiming", waiting: waitingFor, wakeAt });
}

/** Returns why a record can't be taken over now. */
function whyNotTaken(spec: CreateSpec, { record, liveness }: Found): Doubt {
  if (liveness === "alive") return { kind: "anotherRun" };
  const difference = elsewhereBy(spec, record);
  if (liveness === "unknown" || difference === undefined) return { kind: "unknownRun" };
  return { kind: "elsewhere", difference };
}

/** Returns how the place of a POST differs from the configured one. Undefined if it does not, or none was sent. */
function elsewhereBy(
  { identity, addressName }: CreateSpec,
  record: LedgerRecord,
): string | undefined {
  return record.at === undefined ? undefined : originDifference(record, identity, addressName);
}

function afterTakeOver(
  spec: CreateSpec,
  { waiting, listedBy }: StateOf<"takingOver">,
  { isTaken, now }: EventOf<"takenOver">,
): Transition {
  const { record } = waiting;
  // Another run was quicker, or a lock can't be had.
  if (!isTaken) return next({ phase: "claiming", waiting, wakeAt: now + spec.pollIntervalMs });
  return record.at === undefined ? beginAnew() : next(searchFor(spec, { record }, listedBy));
}

/** Makes the record that of this create, which has sent no POST. */
function beginAnew(firstError?: RequestError): Transition {
  return next({ phase: "takingBaseline", firstError }, [clear]);
}

// ── The search for the instance of a record ──────────────────────────────────────────────────────

/**
 * Searches by the id in the record and, where this provider generated the name, by that name, too: a service may answer with an
 * id that it never lists. Any other name is searched for only without an id, since another resource's instance may have it.
 */
function searchFor(spec: CreateSpec, search: Search, listedBy: number): State {
  const { pollIntervalMs, noneOfOursMs } = spec;
  const subject = subjectOf(spec, search.record);
  const witness = witnessOf({ subject, listedBy, pollIntervalMs, noneOfOursMs });
  return { phase: "searching", search, witness };
}

function subjectOf(spec: CreateSpec, { id, kind, name, before }: LedgerRecord): Subject {
  if (id !== undefined && kind !== "generated") return { id };
  return { id, name: name ?? spec.name, before: new Set(before) };
}

/** Goes on with the search until the witness has judged. It waits only as long as waiting may change the verdict. */
function afterLook(spec: CreateSpec, state: StateOf<"searching">, event: ListingEvent): Transition {
  if (event.kind === "listingFailed") {
    const { error, now } = event;
    const { listedBy } = state.witness.question;
    if (!error.transient || now >= listedBy)
      return failSearch(state, { kind: "notFound", because: error });
    return next({ ...state, wakeAt: Math.min(listedBy, now + spec.pollIntervalMs) });
  }
  const { listing, vouchers, withoutOurs, shown } = event.look;
  const explained = explainedIn(event.look);
  const known = { explained, ours: explained, vouchers };
  const { verdict, witness } = seeAfter({ withoutOurs }, state.witness, listing, known);
  const seen = { ...state, witness };
  switch (verdict.kind) {
    case "listed":
      return found(spec, seen, { items: verdict.items, shown });
    case "absent":
      return notFound(seen);
    case "open":
      if (!mayStillTell(verdict)) return failSearch(seen, { kind: "notFound", because: verdict });
      return next({ ...seen, wakeAt: nextLookAt(witness, listing.endedAt) });
  }
}

/** Returns the ids of the instances that a name must not match: the session, or another record, explains them. */
function explainedIn({ ours, shown, recorded }: Look): ReadonlySet<string> {
  return new Set([...ours.keys(), ...shown.keys(), ...(recorded?.keys() ?? [])]);
}

/** The listed instances that may be a record's, and `Look.shown`. */
interface Candidates {
  items: readonly ListItem[];
  shown: Pick<Ids, "has">;
}

/** Takes the instance over, or ends the create. */
function found(spec: CreateSpec, state: StateOf<"searching">, seen: Candidates): Transition {
  const { record, error } = state.search;
  const { items } = seen;
  const item = record.id === undefined ? items[0] : items.find(({ id }) => id === record.id);
  const why = whyNotResumed(spec.identity, record, seen);
  if (why || !item) return failSearch(state, why ?? { kind: "perhapsOthers", ids: idsOf(items) });
  const accepted: Accepted = { networks: [], ...record.accepted, ...item };
  const { flavor, at: acceptedAt } = record;
  const known = knownAfter(spec, record.before);
  return error
    ? accept({ accepted, from: "listing", flavor, known })
    : accept({ accepted, from: "earlierRun", flavor, known, acceptedAt });
}

/**
 * Returns why a create does not take over the instance of a record, if listings show these candidates. Undefined if it does. (What
 * `settle` passes as the digest is the record's own.)
 */
export function whyNotResumed(
  identity: Pick<Identity, "scope" | "digest">,
  record: LedgerRecord,
  { items, shown }: Candidates,
): Doubt | undefined {
  const ids = idsOf(items);
  const id = record.id ?? ids[0] ?? "";
  if (!ids.includes(id)) return { kind: "perhapsOthers", ids };
  // Another resource may have it, as after an import under another name.
  if (record.givenBy !== undefined || shown.has(id)) return { kind: "given", id };
  // Only a name that this provider generated proves that the POST made the instance.
  if (record.id === undefined && record.kind !== "generated") return { kind: "perhapsOthers", ids };
  if (record.id === undefined && ids.length > 1) return { kind: "perhapsOthers", ids };
  // Another stack's create, or this one's before a destroy or an upgrade of the plugin.
  if (record.scope !== identity.scope) return { kind: "changed", id };
  if (record.digest !== identity.digest) return { kind: "changed", id };
  return undefined;
}

/**
 * Goes on without the instance, which is proven absent. This create's own POST is repeated once, if the service itself answered
 * that it failed. After a broken connection, the service may still carry it out. The repeat is a new beginning, with a new
 * baseline.
 */
function notFound(state: StateOf<"searching">): Transition {
  const { error, firstError } = state.search;
  if (error === undefined) return beginAnew();
  if (firstError === undefined && answeredBroken(error)) return beginAnew(error);
  return failSearch(state, { kind: "notFound" });
}

/** Ends the create. The record stays. */
function failSearch({ search }: StateOf<"searching">, why: Doubt): Transition {
  const { record, error, firstError } = search;
  if (!error) return failInDoubt(record, why);
  return fail({ kind: "unclear", why, record, error, firstError });
}

// ── The baseline, and the leftovers in it ────────────────────────────────────────────────────────

function judgeBaseline(
  spec: CreateSpec,
  { attempt, firstError }: StateOf<"takingBaseline">,
  event: Event,
): Transition {
  if (event.kind === "listingFailed")
    return fail({ kind: "stopped", error: event.error, firstError });
  const { look } = expect(event, "looked");
  const leftovers = findLeftovers(spec, look);
  if (stopsCreate(spec, leftovers)) return fail({ kind: "leftovers", ...leftovers });
  const isClean = leftovers.items.length === 0 && !leftovers.partial;
  const reports: SideEffect[] = isClean ? [] : [{ do: "reportLeftovers", ...leftovers }];

  const { items, begunAt } = look.listing;
  const baseline = { items, begunAt };
  if (attempt) return next(recording(spec, { ...attempt, baseline }), reports);
  const first = { baseline, firstError, unsentCount: 0 };
  return next({ phase: "awaitingPermit", attempt: first }, reports);
}

/**
 * Finds the listed instances that an earlier create of this resource may have left. An instance that the state knows is no leftover: an
 * earlier create has asked about it. An instance that the engine has shown is a leftover only if it has the tag of this resource, and its
 * Delete would fail. Otherwise a resource has the instance, or this create replaces it.
 */
function findLeftovers(spec: CreateSpec, { listing, ours, shown }: Look): Leftovers {
  const items = [...listing.items.values()].flatMap(({ id, name }): Leftover[] => {
    const why = whyLeftover(spec, name);
    const isReplaced = shown.has(id) && !(why === "tag" && spec.deleteFails);
    return why && !ours.has(id) && !isReplaced && !spec.known.has(id) ? [{ id, name, why }] : [];
  });
  return { items, partial: !listing.complete };
}

/**
 * Returns the instances about which the next create of the resource does not ask (`Instance.known`):
 * - the instance that this create replaces
 * - the instances of `before` (`LedgerRecord.before`) that were let run
 * - the instances that the state knew, unless a complete listing lacks them
 */
function knownAfter(
  { identity, known, replaces, letsRun }: CreateSpec,
  before: readonly string[],
  listing?: Evidence,
): string[] {
  // Other stacks may share a name that a program chose.
  const passed = identity.kind === "generated" || letsRun ? before : [];
  const left = [...known].filter((id) => !listing?.complete || listing.items.has(id));
  return [...new Set([...left, replaces ?? [], passed].flat())];
}

/** The tag of a generated name, unlike the whole name, is the same in each create of the resource. */
function whyLeftover(
  { identity, name }: CreateSpec,
  listed: string | undefined,
): Leftover["why"] | undefined {
  if (identity.kind !== "generated") return isNamed(listed, name) ? "name" : undefined;
  return identity.scope !== undefined && isNameFor(listed, identity.urn, identity.scope)
    ? "tag"
    : undefined;
}

/** What of a create decides whether leftovers stop it. */
export type StopSpec = Pick<CreateSpec, "leftovers" | "guardsLeftovers" | "deleteFails"> & {
  identity: Pick<Identity, "tokenKind">;
};

/**
 * Whether leftovers stop the create. By default, a leftover stops it if the leftover is billed, is surely this resource's, and would
 * go on running beside the new instance. (Several stacks may share a name that a program chose.)
 */
export function stopsCreate(
  spec: StopSpec,
  { items, partial }: { items: readonly Pick<Leftover, "why">[]; partial: boolean },
): boolean {
  if (spec.leftovers === "warn") return false;
  if (spec.leftovers === "fail") return items.length > 0 || partial;
  const isBilled = spec.identity.tokenKind === "live";
  const isGuarded = spec.deleteFails || spec.guardsLeftovers === true;
  return isBilled && isGuarded && items.some(({ why }) => why === "tag");
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

/** Records the POST, or renews a baseline that is too old. The permit is kept meanwhile. */
function afterPermit(
  spec: CreateSpec,
  { attempt }: StateOf<"awaitingPermit">,
  now: number,
): Transition {
  if (now - attempt.baseline.begunAt <= maxBaselineAgeMs) return next(recording(spec, attempt));
  return next({ phase: "takingBaseline", attempt });
}

function recording(spec: CreateSpec, attempt: Attempt): State {
  const items = [...attempt.baseline.items.values()];
  const before = idsOf(items.filter(({ name }) => whyLeftover(spec, name) !== undefined));
  return { phase: "recording", attempt, before };
}

function afterPost(
  spec: CreateSpec,
  { attempt, before }: StateOf<"posting">,
  event: EventOf<"posted">,
): Transition {
  const { firstError } = attempt;
  const { now, record, look } = event;
  const outcome = judgeAnswer(attempt, event);
  switch (outcome.kind) {
    case "accepted": {
      const { accepted } = outcome;
      const known = knownAfter(spec, before, look.listing);
      return accept({ accepted, from: "answer", flavor: spec.flavor, known });
    }
    case "rateLimited":
      return next({ phase: "awaitingPermit", attempt }, [clear]);
    case "refused":
      return fail({ kind: "postFailed", error: outcome.failure, firstError }, [clear]);
    case "notSent": {
      const error = outcome.failure;
      const unsentCount = attempt.unsentCount + 1;
      const isLasting = error instanceof RequestError && error.lasting;
      if (isLasting || unsentCount >= maxUnsent)
        return fail({ kind: "postFailed", error, firstError }, [clear]);
      const wakeAt = now + firstRetryMs * 2 ** (unsentCount - 1);
      const again = { ...attempt, unsentCount };
      return next({ phase: "awaitingPermit", attempt: again, wakeAt }, [clear]);
    }
    case "unclear": {
      const search = { record, error: outcome.failure, firstError };
      return next(searchFor(spec, search, now + spec.settlingMs));
    }
  }
}

/** Returns the outcome of a POST. A known instance can't come from it, so an answer with its id is unclear. */
function judgeAnswer({ baseline }: Attempt, { outcome, look }: EventOf<"posted">): PostOutcome {
  if (outcome.kind !== "accepted") return outcome;
  const { id } = outcome.accepted;
  const known = [baseline.items, look.listing.items, look.ours, look.shown];
  if (!known.some((ids) => ids.has(id))) return outcome;
  return { kind: "unclear", failure: knownIdError(id) };
}

// ── A preview ────────────────────────────────────────────────────────────────────────────────────

/** What a preview says of a create: what the `up` will refuse, or what it will find. */
export type Preview =
  | { kind: "refused"; failure: Failure }
  /** The `up` goes on with the instance of an earlier create. */
  | { kind: "resumed"; id: string }
  /** The `up` waits for another run's create. */
  | { kind: "anotherRun"; record: LedgerRecord }
  /** The `up` names them. */
  | ({ kind: "leftovers" } & Leftovers)
  /** The `up` stops for them, unless another run is under way and has just made them. */
  | ({ kind: "perhapsStopped" } & Leftovers)
  | { kind: "clean" };

/** What a preview has. */
interface PreviewParts {
  spec: CreateSpec;
  /** What the file of the resource says, if there is one. */
  claim: Exclude<Claim, { kind: "made" }> | undefined;
  look: Look;
  /** Whether all inputs are known, so that the digest counts. */
  isProgramKnown: boolean;
}

/** Returns what one listing shows of a create. */
export function preview(parts: PreviewParts): Preview {
  const { spec, claim, look, isProgramKnown } = parts;
  const ofRecord = claim && previewRecord(parts, claim);
  if (ofRecord) return ofRecord;
  // As long as inputs are not known, the `up` may replace nothing.
  const deleteFails = spec.deleteFails && isProgramKnown;
  const leftovers = findLeftovers({ ...spec, deleteFails }, look);
  const isStopped = stopsCreate(spec, leftovers);
  if (isStopped && spec.leftovers === "fail")
    return { kind: "refused", failure: { kind: "leftovers", ...leftovers } };
  if (leftovers.items.length === 0) return { kind: "clean" };
  // The state that this preview has read may be older than what another run has made since.
  return { kind: isStopped ? "perhapsStopped" : "leftovers", ...leftovers };
}

/** Returns what a record means for the `up`. Undefined if the `up` may take the record over, and no instance of it is listed. */
function previewRecord(
  { spec, look, isProgramKnown }: PreviewParts,
  claim: Exclude<Claim, { kind: "made" }>,
): Preview | undefined {
  if (claim.kind === "unreadable") return { kind: "refused", failure: claim };
  const { record } = claim;
  if (claim.liveness === "alive") return { kind: "anotherRun", record };
  const refuse = (why: Doubt): Preview => ({
    kind: "refused",
    failure: { kind: "inDoubt", record, why },
  });
  if (!mayTakeOver(claim, spec.identity.session) || elsewhereBy(spec, record) !== undefined)
    return refuse(whyNotTaken(spec, claim));
  if (record.at === undefined) return undefined;
  const subject = subjectOf(spec, record);
  const witness = witnessOf({ subject, listedBy: claim.listedBy, pollIntervalMs: 0 });
  const { verdict } = see(witness, look.listing, { explained: explainedIn(look) });
  if (verdict.kind !== "listed") return undefined;
  const identity = isProgramKnown ? spec.identity : { ...spec.identity, digest: record.digest };
  const why = whyNotResumed(identity, record, { items: verdict.items, shown: look.shown });
  return why ? refuse(why) : { kind: "resumed", id: record.id ?? verdict.items[0].id };
}

// ── Ends, and other transitions ──────────────────────────────────────────────────────────────────

function stop(state: State, error: Error): Transition {
  if (state.phase === "searching" && state.search.error)
    return failSearch(state, { kind: "notFound", because: error });
  // A stop in the phase `posting` comes before the first byte is sent. Once a byte is sent, the event is `posted`.
  const isUnsent = state.phase === "recording" || state.phase === "posting";
  return fail({ kind: "stopped", error }, isUnsent ? [clear] : []);
}

/** Ends with the instance. */
function accept(acceptance: Acceptance): Transition {
  return next({ phase: "ended", result: { kind: "accepted", ...acceptance } });
}

function failInDoubt(record: LedgerRecord, why: Doubt): Transition {
  return fail({ kind: "inDoubt", record, why });
}

function fail(failure: Failure, effects: SideEffect[] = []): Transition {
  return next({ phase: "ended", result: { kind: "failed", failure } }, effects);
}

function idsOf(items: readonly ListItem[]): string[] {
  return items.map(({ id }) => id);
}

function next(state: State, effects: SideEffect[] = []): Transition {
  return { state, effects };
}

function expect<K extends Event["kind"]>(event: Event, ...kinds: K[]): EventOf<K> {
  if (kinds.some((kind) => kind === event.kind)) return event as EventOf<K>;
  throw new Error(`expected the event "${kinds.join('" or "')}", but got "${event.kind}"`);
}
