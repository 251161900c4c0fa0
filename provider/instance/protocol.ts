/**
 * The create protocol: everything that is decided between a Create call and its answer, as a pure
 * function. `begin` gives the first step and `step` the one after each event; `create.ts` carries out
 * what they ask for. There is no clock, socket, disk or text in here, so that the explorer
 * (`tests/explorer/`) can walk every history.
 *
 * Top to bottom: pending creates of this resource, the baseline with its leftovers, the POST, the look
 * for an instance whose POST was not answered clearly.
 */
import type { Accepted } from "../api/client";
import { answeredBroken, type PostOutcome } from "../api/postOutcome";
import type { RequestError } from "../api/errors";
import type { LedgerEntry } from "../ledger/ledger";
import { isHashedName, isPending, type LedgerRecord } from "../ledger/record";
import { originDifference, type Origin } from "../origin";
import { printable } from "../redaction";
import { projectOf, sameResource } from "../urn";
import { hasTag } from "./naming";

/** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
export type NameKind = LedgerRecord["kind"];

/** What is to be created, and under which settings. Times are in milliseconds of one clock. */
export interface Order {
  urn: string;
  /** The provider resource's own id: whose run this is. */
  scope: string | undefined;
  /** `pulumi do --stateless`: all creates share a URN and nothing else. */
  stateless: boolean;
  origin: Origin;
  name: string;
  kind: NameKind;
  /** The name as records hold it: hashed where it is secret. */
  recordedName: string;
  /** What generated names of this resource carry; undefined where the scope is not known. */
  tag: string | undefined;
  /** Digest of what is asked for. */
  digest: string;
  /** `compute:leftovers`. */
  leftovers: "warn" | "fail";
  /** Whether a Delete of an instance that is still listed fails (`compute:deletePolicy`). */
  deleteFails: boolean;
  settlingMs: number;
  pollIntervalMs: number;
  /** How long a Create waits for the call of another run of this stack to end. */
  patienceMs: number;
}

/** A listing, with what this process knows at that moment. */
export interface Look {
  items: ReadonlyMap<string, { id: string; name?: string | undefined }>;
  complete: boolean;
  begunAt: number;
  /** Made or resumed by this session. */
  isMade: (id: string) => boolean;
  /** Carried by any call of this session: weak evidence of a state, but never a candidate. */
  isCarried: (id: string) => boolean;
  /** Proven to be held by a state. */
  isHeld: (id: string) => boolean;
  /** Whether the settling time of this record is not over, so that the listing may lack its instance. */
  mayLack: (record: LedgerRecord) => boolean;
  entries: readonly LedgerEntry[];
}

export type Event =
  | { kind: "read"; entries: readonly LedgerEntry[]; now: number }
  | { kind: "slept"; now: number }
  /** `settledBy`: the clock time by which an instance of that record's POST is in every listing. */
  | { kind: "taken"; ok: boolean; settledBy: number }
  | { kind: "found"; id: string; name?: string | undefined; status?: string | undefined }
  | { kind: "gone" }
  | { kind: "unproven"; why: string }
  | { kind: "looked"; look: Look; now: number }
  | { kind: "lookFailed"; failure: RequestError; now: number }
  | { kind: "permitted"; now: number }
  /** `entries`: the ledger, read after the record was written. */
  | { kind: "begun"; key: string; entries: readonly LedgerEntry[] }
  | { kind: "posted"; outcome: PostOutcome; now: number }
  /** Ctrl-C, or the operation's time-out. */
  | { kind: "stopped"; why: Error };

/** The one thing that is done next; its outcome is the next event. */
export type Ask =
  /** Read the ledger → `read`. */
  | { do: "read" }
  | { do: "sleep"; until: number }
  /** Make this session the owner of a record → `taken`. */
  | { do: "take"; record: LedgerRecord }
  /** Find the instance, or prove it gone (G3) → `found`, `gone`, `unproven` or `lookFailed`. */
  | { do: "search"; record: LedgerRecord }
  /** Wait for a slot, and take the baseline → `looked` or `lookFailed`. */
  | { do: "enter" }
  /** Take a listing begun now → `looked` or `lookFailed`. */
  | { do: "look" }
  /** Wait for the rate limit → `permitted`. */
  | { do: "permit" }
  /** Write the record and wait until it is on the disk → `begun`. */
  | { do: "begin"; before: string[]; beforeComplete: boolean }
  /** Send the POST → `posted`. */
  | { do: "post" }
  | { do: "end"; result: Result };

/** What is done on the way and not waited for. */
export type Note =
  | { do: "move"; key: string; stage: "sending" | "unknown" | "refused" }
  | { do: "accept"; key: string; accepted: Accepted; resumed: boolean }
  /** The instance of a record that stays open. */
  | { do: "found"; key: string; id: string }
  | { do: "settle"; key: string; how: "gone" | "absent" }
  | { do: "drop"; key: string }
  | { do: "tell"; what: Told };

export type Told =
  /** Records of earlier runs that this create does not deal with. */
  | { kind: "pending"; records: LedgerRecord[]; elsewhere: number }
  | { kind: "leftovers"; items: Leftover[]; partial: boolean }
  | { kind: "resumed"; id: string; name: string | undefined }
  | { kind: "lookingAfterFailure" };

export interface Leftover {
  id: string;
  why: "tag" | "name" | "delivered";
}

export type Result =
  | {
      kind: "accepted";
      key: string;
      accepted: Accepted;
      /** Not from this call's own 202. */
      resumed: boolean;
      /** A POST was not answered clearly: ids that can't come of it, for a last look. */
      unclear?: { before: ReadonlySet<string> };
    }
  | { kind: "failed"; failure: Failure };

export type Failure =
  /** A record of an earlier create stands in the way. */
  | { kind: "pending"; record: LedgerRecord; why: PendingReason; id?: string }
  | { kind: "leftovers"; items: Leftover[]; partial: boolean }
  /** A delete would fail, and a state held this instance, or was given it to keep. */
  | { kind: "standing"; record: LedgerRecord; id: string }
  | { kind: "lookFailed"; failure: RequestError }
  | { kind: "notSent"; failure: Error }
  | { kind: "refused"; failure: RequestError }
  | ({ kind: "unclear"; failure: RequestError; key: string } & Unclear)
  | { kind: "stopped"; why: Error };

export type PendingReason =
  | { is: "inFlight" }
  /** Another run's create of this resource, which came to its end while this one waited. */
  | { is: "overtaken" }
  | { is: "otherScope" }
  | { is: "replied" }
  | { is: "unlockable" }
  | { is: "elsewhere"; difference: string }
  | { is: "changed"; sameToken: boolean }
  | { is: "unproven"; why: string }
  | { is: "secretName" }
  | { is: "incomplete" }
  | { is: "otherToken" }
  | { is: "several"; ids: string[] }
  | { is: "turnedUp"; ids: string[] }
  | { is: "lookFailed"; failure: RequestError };

export type Unclear =
  | { end: "several"; ids: string[] }
  | { end: "turnedUp"; ids: string[] }
  | { end: "none"; complete: boolean; problem: string | undefined; sent: number }
  | { end: "stopped"; why: Error }
  /** The one repeat surely made nothing. */
  | { end: "repeatFailed"; repeat: Error };

/** How old a baseline may be when the POST leaves. */
const baselineMs = 30_000;
/** A POST of which not one byte left is tried this often. */
const mostTries = 4;
const firstRetryMs = 500;

interface Baseline {
  ids: ReadonlySet<string>;
  complete: boolean;
  begunAt: number;
  /** Those of the name. */
  named: string[];
}

/** What this create knows of earlier ones of its resource. */
interface Past {
  /** How often it has tried to take a record over. */
  takes: number;
  /** Keys of the records that were delivered or held by a state at the first read; undefined before. */
  kept?: ReadonlySet<string>;
}

/** From the first permit to the answer. */
interface Attempt {
  baseline: Baseline;
  past: Past;
  /** POSTs of which nothing left this machine. */
  unsent: number;
  /** POSTs whose outcome is not known, with the record and the failure of the last one. */
  open?: { key: string; failure: RequestError; sent: number };
}

export type State =
  | { phase: "reading"; until?: number; past: Past }
  | { phase: "waiting"; until: number; past: Past }
  | { phase: "taking"; record: LedgerRecord; past: Past }
  | { phase: "searching"; record: LedgerRecord; past: Past }
  | {
      phase: "seeking";
      record: LedgerRecord;
      until: number;
      past: Past;
      /** A complete listing after the settling time has lacked it. */
      lacked?: true;
    }
  | { phase: "entering"; past: Past }
  | { phase: "pausing"; attempt: Attempt }
  | { phase: "permit"; attempt: Attempt }
  | { phase: "renewing"; attempt: Attempt }
  | { phase: "beginning"; attempt: Attempt }
  | { phase: "posting"; attempt: Attempt; key: string }
  | { phase: "looking"; attempt: Attempt; until: number; doubt: boolean }
  | { phase: "done" };

export interface Step {
  state: State;
  notes: Note[];
  ask: Ask;
}

/** `unfinished`: what an earlier call of this session for this resource made, and answered as unfinished. */
export function begin(unfinished?: { key: string; accepted: Accepted }): Step {
  // An error hook asks again: go on with the known id, and fail with it if at all.
  if (unfinished) return end({ kind: "accepted", ...unfinished, resumed: true });
  return { state: { phase: "reading", past: { takes: 0 } }, notes: [], ask: { do: "read" } };
}

export function step(order: Order, state: State, event: Event): Step {
  if (event.kind === "stopped") return stopped(state, event.why);
  switch (state.phase) {
    case "reading":
      return judgeEarlier(order, state, expect(event, "read"));
    case "waiting":
      return next({ ...state, phase: "reading" }, { do: "read" });
    case "taking":
      return taken(order, state, expect(event, "taken"));
    case "searching":
      return searched(order, state, event);
    case "seeking":
      if (event.kind === "slept") return next(state, { do: "look" });
      return soughtUnanswered(order, state, event);
    case "entering":
      return judgeBaseline(order, state, event);
    case "pausing":
      return next({ phase: "permit", attempt: state.attempt }, { do: "permit" });
    case "permit":
      return permitted(state.attempt, expect(event, "permitted").now);
    case "renewing":
      return renewed(order, state.attempt, event);
    case "beginning":
      return begun(order, state.attempt, expect(event, "begun"));
    case "posting":
      return posted(order, state, expect(event, "posted"));
    case "looking":
      if (event.kind === "slept") return next(state, { do: "look" });
      return lookedAfterPost(order, state, event);
    case "done":
      throw new Error("the create has ended");
  }
}

// ── Pending creates of this resource ─────────────────────────────────────────────────────────────

/** Whether a record is of this very resource of this stack: then, and only then, it may be resumed. */
function isOurs(order: Order, record: LedgerRecord): boolean {
  return (
    !order.stateless &&
    order.scope !== undefined &&
    record.scope === order.scope &&
    sameResource(record.urn, order.urn) &&
    isHere(order, record)
  );
}

/**
 * The same whole URN under another provider resource's id: this stack's (after an upgrade of the plugin) or
 * another one's, which can't be told apart, so never resumed.
 */
function isRival(order: Order, record: LedgerRecord): boolean {
  return (
    !order.stateless &&
    !record.stateless &&
    record.urn === order.urn &&
    (order.scope === undefined || record.scope !== order.scope) &&
    isHere(order, record)
  );
}

function isHere({ origin }: Order, { baseUrl, tokenKind }: LedgerRecord): boolean {
  return baseUrl === origin.baseUrl && tokenKind === origin.tokenKind;
}

function judgeEarlier(
  order: Order,
  state: Extract<State, { phase: "reading" }>,
  { entries, now }: Extract<Event, { kind: "read" }>,
): Step {
  const open = entries.filter(({ record }) => isPending(record));
  const ours = open.filter(({ record }) => isOurs(order, record));
  const { takes, kept = new Set(endedOf(order, entries).map(({ key }) => key)) } = state.past;
  const past = { takes, kept };

  const busy = ours.find((entry) => entry.inFlight);
  if (busy) {
    const until = state.until ?? now + order.patienceMs;
    if (now >= until) return stands(busy.record, { is: "inFlight" });
    const pause = Math.min(until, now + order.pollIntervalMs);
    return next({ phase: "waiting", until, past }, { do: "sleep", until: pause });
  }
  // Also one in flight: a plugin may have outlived an engine that has saved nothing.
  const rival = open.find((entry) => isRival(order, entry.record) && !isGiven(entry));
  if (rival) return stands(rival.record, { is: rival.inFlight ? "inFlight" : "otherScope" });
  const replied = ours.find(({ record }) => record.stage === "replied");
  if (replied) return stands(replied.record, { is: "replied" });

  const [left] = ours;
  if (left) {
    const { record } = left;
    const difference = originDifference(record, order.origin);
    if (difference !== undefined) return stands(record, { is: "elsewhere", difference });
    if (left.unlockable || takes >= mostTries) return stands(record, { is: "unlockable" });
    const after = { takes: takes + 1, kept };
    return next({ phase: "taking", record, past: after }, { do: "take", record });
  }
  return next({ phase: "entering", past }, { do: "enter" }, notice(order, open));
}

/** Creates of this very resource whose instance a state held, or was given to keep. */
function keptOf(order: Order, entries: readonly LedgerEntry[]): LedgerRecord[] {
  return entries
    .map((entry) => entry.record)
    .filter(
      ({ stage, settled }) => stage === "delivered" || (stage === "settled" && settled === "state"),
    )
    .filter((record) => isOurs(order, record));
}

/** An engine was given its instance, and may have saved it or may yet do so. */
function isGiven({ record, live }: LedgerEntry): boolean {
  return record.stage === "delivered" || (record.stage === "replied" && live);
}

function givenRivals(order: Order, entries: readonly LedgerEntry[]): LedgerRecord[] {
  return entries
    .filter((entry) => isGiven(entry) && isRival(order, entry.record))
    .map(({ record }) => record);
}

function endedOf(order: Order, entries: readonly LedgerEntry[]): LedgerRecord[] {
  return [...keptOf(order, entries), ...givenRivals(order, entries)];
}

/**
 * A create of another run that came to its end since this one began: the engine that asked for this one
 * knows nothing of its instance. Two runs of one stack meet where one has lost the stack's lock
 * (`pulumi cancel`), or where a plugin has outlived its engine.
 */
function overtaking(
  order: Order,
  { kept }: Past,
  entries: readonly LedgerEntry[],
): LedgerRecord | undefined {
  return endedOf(order, entries).find(({ key }) => !kept?.has(key));
}

/** Pending creates that this one does not deal with: those of its project, and the number of the others. */
function notice(order: Order, open: readonly LedgerEntry[]): Note[] {
  const left = open.filter((entry) => !entry.live).map((entry) => entry.record);
  const project = projectOf(order.urn);
  const records = left.filter((record) => projectOf(record.urn) === project);
  const elsewhere = left.length - records.length;
  if (records.length === 0) return [];
  return [{ do: "tell", what: { kind: "pending", records, elsewhere } }];
}

function taken(
  order: Order,
  { record, past }: Extract<State, { phase: "taking" }>,
  { ok, settledBy }: Extract<Event, { kind: "taken" }>,
): Step {
  // Another run was quicker, or it has moved on: look at all of them again.
  if (!ok) return next({ phase: "reading", past }, { do: "read" });
  if (record.id !== undefined) {
    return next({ phase: "searching", record, past }, { do: "search", record });
  }
  if (isHashedName(record.name) && record.name !== order.recordedName) {
    return stands(record, { is: "secretName" });
  }
  return next({ phase: "seeking", record, until: settledBy, past }, { do: "look" });
}

/** A record with an id. */
function searched(
  order: Order,
  { record, past }: Extract<State, { phase: "searching" }>,
  event: Event,
): Step {
  if (event.kind === "found") return resume(order, record, event);
  if (event.kind === "gone") {
    return next({ phase: "reading", past }, { do: "read" }, [
      { do: "settle", key: record.key, how: "gone" },
    ]);
  }
  if (event.kind === "unproven") return stands(record, { is: "unproven", why: event.why });
  return stands(record, { is: "lookFailed", failure: expect(event, "lookFailed").failure });
}

/** A record without an id: the POST may have made an instance, or may not. */
function soughtUnanswered(
  order: Order,
  state: Extract<State, { phase: "seeking" }>,
  event: Event,
): Step {
  const { record, until, past } = state;
  if (event.kind === "lookFailed") {
    const { failure, now } = event;
    if (!failure.transient || now >= until) return stands(record, { is: "lookFailed", failure });
    return next(state, { do: "sleep", until: Math.min(until, now + order.pollIntervalMs) });
  }
  const { look, now } = expect(event, "looked");
  const name = isHashedName(record.name) ? order.name : record.name;
  const ids = newOfName(look, name, new Set(record.before), record.key);
  const [id] = ids;
  if (id !== undefined && record.kind === "generated") {
    if (ids.length > 1) return stands(record, { is: "several", ids });
    return resume(order, record, { id, name: look.items.get(id)?.name });
  }
  // What turns up under a name that others may give is not the last of it: all of them are to be named.
  if (look.begunAt < until) {
    return next(state, { do: "sleep", until: Math.min(until, now + order.pollIntervalMs) });
  }
  if (id !== undefined) {
    return stands(record, { is: "turnedUp", ids }, ids.length === 1 ? id : undefined);
  }
  if (!look.complete) return stands(record, { is: "incomplete" });
  if (record.tokenHash !== order.origin.tokenHash) return stands(record, { is: "otherToken" });
  // As for what is gone (G3): one list may lie, and what it leaves out would be made again.
  if (!state.lacked) {
    return next({ ...state, lacked: true }, { do: "sleep", until: now + order.pollIntervalMs });
  }
  return next({ phase: "reading", past }, { do: "read" }, [
    { do: "settle", key: record.key, how: "absent" },
  ]);
}

function resume(
  order: Order,
  record: LedgerRecord,
  item: { id: string; name?: string | undefined; status?: string | undefined },
): Step {
  if (record.digest !== order.digest) {
    const sameToken = record.tokenHash === order.origin.tokenHash;
    // With its id in the record, an import of it settles that.
    return stands(record, { is: "changed", sameToken }, item.id, [
      { do: "found", key: record.key, id: item.id },
    ]);
  }
  const accepted: Accepted = {
    id: item.id,
    name: item.name,
    status: item.status,
    networks: [],
    ...record.accepted,
  };
  const { key } = record;
  const unclear = record.id === undefined ? { before: new Set(record.before) } : undefined;
  return end({ kind: "accepted", key, accepted, resumed: true, ...(unclear && { unclear }) }, [
    { do: "accept", key, accepted, resumed: true },
    { do: "tell", what: { kind: "resumed", id: item.id, name: item.name ?? undefined } },
  ]);
}

// ── The baseline ─────────────────────────────────────────────────────────────────────────────────

function judgeBaseline(
  order: Order,
  { past }: Extract<State, { phase: "entering" }>,
  event: Event,
): Step {
  if (event.kind === "lookFailed") return failed({ kind: "lookFailed", failure: event.failure });
  const { look } = expect(event, "looked");
  const refusal = whyNoPost(order, look);
  if (refusal) return failed(refusal);
  const attempt = { baseline: baselineOf(order, look), past, unsent: 0 };
  return next({ phase: "permit", attempt }, { do: "permit" }, nameLeftovers(order, look));
}

function nameLeftovers(order: Order, look: Look): Note[] {
  const items = leftovers(order, look);
  const partial = !look.complete;
  if (items.length === 0 && !partial) return [];
  return [{ do: "tell", what: { kind: "leftovers", items, partial } }];
}

function whyNoPost(order: Order, look: Look): Failure | undefined {
  if (order.deleteFails) {
    const standing = keptOf(order, look.entries).find(
      (record) => record.id !== undefined && (look.items.has(record.id) || look.mayLack(record)),
    );
    if (standing) return { kind: "standing", record: standing, id: standing.id ?? "" };
  }
  if (order.leftovers === "warn") return undefined;
  const items = leftovers(order, look);
  const partial = !look.complete;
  return items.length > 0 || partial ? { kind: "leftovers", items, partial } : undefined;
}

/** Instances that may be left of this resource: never adopted, but named before a POST. */
function leftovers(order: Order, look: Look): Leftover[] {
  // A rival's, too: a state that was never saved has lost the id of its provider resource with it.
  const own = keptOf(order, look.entries).filter(({ stage }) => stage === "delivered");
  const records = [...own, ...givenRivals(order, look.entries)];
  const delivered = new Set(records.map(({ id }) => id));
  const unlisted = records.filter((record) => look.mayLack(record)).map(({ id = "" }) => id);
  const found: Leftover[] = unlisted
    .filter((id) => !look.items.has(id) && !look.isMade(id) && !look.isHeld(id))
    .map((id) => ({ id, why: "delivered" }));
  for (const { id, name } of look.items.values()) {
    if (look.isMade(id) || look.isHeld(id)) continue;
    const why = delivered.has(id) ? "delivered" : likeness(order, name);
    // The likeness first: it rules most of them out, and is cheaper than a search of the records.
    if (why && (why === "delivered" || !isAnothers(order, look, id))) found.push({ id, why });
  }
  return found;
}

function likeness(order: Order, name: string | undefined): "tag" | "name" | undefined {
  if (order.tag !== undefined && hasTag(name, order.tag)) return "tag";
  return order.kind !== "generated" && sameName(name, order.name) ? "name" : undefined;
}

/** Whether a record shows it to be another resource's, or that a Delete or a person has let it go. */
function isAnothers(order: Order, { entries }: Look, id: string): boolean {
  return entries.some(
    ({ record }) =>
      record.id === id &&
      (!isOurs(order, record) || record.settled === "dropped" || record.settled === "discarded"),
  );
}

function baselineOf(order: Order, look: Look): Baseline {
  const named = [...look.items.values()].filter(({ name }) => sameName(name, order.name));
  return {
    ids: new Set(look.items.keys()),
    complete: look.complete,
    begunAt: look.begunAt,
    named: named.map(({ id }) => id),
  };
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

function permitted(attempt: Attempt, now: number): Step {
  // After an unclear POST an instance of its name may be its own: no later listing is a baseline.
  const isOld = !attempt.open && now - attempt.baseline.begunAt > baselineMs;
  if (isOld) return next({ phase: "renewing", attempt }, { do: "look" });
  return beginRecord(attempt);
}

function renewed(order: Order, attempt: Attempt, event: Event): Step {
  if (event.kind === "lookFailed") return failed({ kind: "lookFailed", failure: event.failure });
  const { look } = expect(event, "looked");
  const refusal = whyNoPost(order, look);
  if (refusal) return failed(refusal);
  const renewed = { ...attempt, baseline: baselineOf(order, look) };
  return beginRecord(renewed, nameLeftovers(order, look));
}

function beginRecord(attempt: Attempt, notes: Note[] = []): Step {
  if (attempt.open) {
    const { key } = attempt.open;
    return next({ phase: "posting", attempt, key }, { do: "post" }, [
      { do: "move", key, stage: "sending" },
    ]);
  }
  const { named: before, complete: beforeComplete } = attempt.baseline;
  return next({ phase: "beginning", attempt }, { do: "begin", before, beforeComplete }, notes);
}

/**
 * Each call writes its own record and then reads the others': of two calls for one resource, at least one
 * sees the other, so never both send. That one drops its record and begins again with the pending
 * creates, or stops where the other run has delivered its instance meanwhile.
 */
function begun(
  order: Order,
  attempt: Attempt,
  { key, entries }: Extract<Event, { kind: "begun" }>,
): Step {
  const dropped: Note[] = [{ do: "drop", key }];
  const made = overtaking(order, attempt.past, entries);
  if (made) return stands(made, { is: "overtaken" }, made.id, dropped);
  const hasOther = entries.some(
    (entry) =>
      entry.record.key !== key &&
      isPending(entry.record) &&
      (isOurs(order, entry.record) || (isRival(order, entry.record) && !isGiven(entry))),
  );
  if (!hasOther) return next({ phase: "posting", attempt, key }, { do: "post" });
  return next({ phase: "reading", past: attempt.past }, { do: "read" }, dropped);
}

function posted(
  order: Order,
  { attempt, key }: Extract<State, { phase: "posting" }>,
  { outcome, now }: Extract<Event, { kind: "posted" }>,
): Step {
  const { open } = attempt;
  switch (outcome.kind) {
    case "accepted": {
      const { accepted } = outcome;
      const unclear = open ? { unclear: { before: attempt.baseline.ids } } : {};
      return end({ kind: "accepted", key, accepted, resumed: false, ...unclear }, [
        { do: "accept", key, accepted, resumed: false },
      ]);
    }
    case "rateLimited":
      return next(
        { phase: "permit", attempt },
        { do: "permit" },
        open ? [] : [{ do: "drop", key }],
      );
    case "notSent": {
      if (open) return unclearEnd(open, { end: "repeatFailed", repeat: outcome.failure });
      const unsent = attempt.unsent + 1;
      const dropped: Note[] = [{ do: "drop", key }];
      if (isLasting(outcome.failure) || unsent >= mostTries) {
        return failed({ kind: "notSent", failure: outcome.failure }, dropped);
      }
      const until = now + firstRetryMs * 2 ** (unsent - 1);
      return next(
        { phase: "pausing", attempt: { ...attempt, unsent } },
        { do: "sleep", until },
        dropped,
      );
    }
    case "refused":
      if (open) return unclearEnd(open, { end: "repeatFailed", repeat: outcome.failure });
      return failed({ kind: "refused", failure: outcome.failure }, [
        { do: "move", key, stage: "refused" },
      ]);
    case "unclear": {
      const sent = (open?.sent ?? 0) + 1;
      const unclear = { ...attempt, open: { key, failure: outcome.failure, sent } };
      const until = now + order.settlingMs;
      return next({ phase: "looking", attempt: unclear, until, doubt: false }, { do: "look" }, [
        { do: "move", key, stage: "unknown" },
        { do: "tell", what: { kind: "lookingAfterFailure" } },
      ]);
    }
  }
}

// ── The look for an instance whose POST was not answered clearly ─────────────────────────────────

function lookedAfterPost(
  order: Order,
  state: Extract<State, { phase: "looking" }>,
  event: Event,
): Step {
  const { attempt, until } = state;
  const { open, baseline } = attempt;
  if (!open) throw new Error("no POST is open");
  const again = (now: number, doubt: boolean) =>
    next({ ...state, doubt }, { do: "sleep", until: Math.min(until, now + order.pollIntervalMs) });
  if (event.kind === "lookFailed") {
    const { failure, now } = event;
    if (failure.transient && now < until) return again(now, state.doubt);
    const { sent } = open;
    return unclearEnd(open, { end: "none", complete: false, problem: failure.message, sent });
  }
  const { look, now } = expect(event, "looked");
  const ids = newOfName(look, order.name, baseline.ids, open.key);
  const [id] = ids;
  if (id !== undefined && order.kind === "generated") {
    if (ids.length > 1) return unclearEnd(open, { end: "several", ids });
    const accepted: Accepted = { id, name: look.items.get(id)?.name, networks: [] };
    const { key } = open;
    return end(
      { kind: "accepted", key, accepted, resumed: true, unclear: { before: baseline.ids } },
      [{ do: "accept", key, accepted, resumed: true }],
    );
  }
  const doubt = state.doubt || hasUnexplained(look, baseline.ids, open.key);
  if (look.begunAt < until) return again(now, doubt);
  if (id !== undefined) return unclearEnd(open, { end: "turnedUp", ids });
  const { sent } = open;
  if (sent === 1 && look.complete && !doubt && answeredBroken(open.failure)) {
    return next({ phase: "permit", attempt }, { do: "permit" });
  }
  return unclearEnd(open, { end: "none", complete: look.complete, problem: undefined, sent });
}

/** Instances of this name that were not there before and that nothing else explains. */
export function newOfName(
  look: Look,
  name: string,
  before: Pick<ReadonlySet<string>, "has">,
  key: string,
): string[] {
  return [...look.items.values()]
    .filter((item) => sameName(item.name, name) && isUnexplained(look, item.id, before, key))
    .map(({ id }) => id);
}

function hasUnexplained(
  look: Look,
  before: Pick<ReadonlySet<string>, "has">,
  key: string,
): boolean {
  return [...look.items.keys()].some((id) => isUnexplained(look, id, before, key));
}

function isUnexplained(
  { isMade, isCarried, entries }: Look,
  id: string,
  before: Pick<ReadonlySet<string>, "has">,
  key: string,
): boolean {
  if (before.has(id) || isMade(id) || isCarried(id)) return false;
  return !entries.some(({ record }) => record.id === id && record.key !== key);
}

/** In a hostname, upper and lower case are the same. Listed names have been through `printable`. */
function sameName(listed: string | undefined, name: string): boolean {
  return listed?.toLowerCase() === printable(name).toLowerCase();
}

// ── Ends ─────────────────────────────────────────────────────────────────────────────────────────

function stopped(state: State, why: Error): Step {
  const open = "attempt" in state ? state.attempt.open : undefined;
  if (open) return unclearEnd(open, { end: "stopped", why });
  // Stopped before a byte of the POST was sent: later, its outcome comes as `posted`.
  const notes: Note[] = state.phase === "posting" ? [{ do: "drop", key: state.key }] : [];
  return failed({ kind: "stopped", why }, notes);
}

function stands(
  record: LedgerRecord,
  why: PendingReason,
  id = record.id,
  notes: Note[] = [],
): Step {
  return failed({ kind: "pending", record, why, ...(id === undefined ? {} : { id }) }, notes);
}

function unclearEnd(open: NonNullable<Attempt["open"]>, how: Unclear): Step {
  const { key, failure } = open;
  return failed({ kind: "unclear", key, failure, ...how });
}

function failed(failure: Failure, notes: Note[] = []): Step {
  return end({ kind: "failed", failure }, notes);
}

function end(result: Result, notes: Note[] = []): Step {
  return { state: { phase: "done" }, notes, ask: { do: "end", result } };
}

function next(state: State, ask: Ask, notes: Note[] = []): Step {
  return { state, notes, ask };
}

function expect<K extends Event["kind"]>(event: Event, kind: K): Extract<Event, { kind: K }> {
  if (event.kind !== kind) throw new Error(`"${event.kind}" came where "${kind}" was asked for`);
  return event as Extract<Event, { kind: K }>;
}

function isLasting(failure: Error): boolean {
  return "lasting" in failure && failure.lasting === true;
}
