/**
 * The one judge of what listings prove about an instance (G3). A caller shows a witness one listing after the other, and
 * asks for other listings as long as they may still tell something. Callers differ in how long they wait (`Question`) and in what
 * they know (`Known`). A caller shows only listings that began after the write in question: the session's last write or, for a create,
 * its own POST. This file uses no clock and no socket, so that the explorer (`tests/explorer/`) walks these rules.
 */
import type { ListItem } from "../api/contract";
import { printable } from "../redaction";
import { shows, type Evidence, type IdSet } from "./listing";

/** What a witness is asked. */
export interface Question<S extends Subject = Subject> {
  readonly subject: S;
  /** The clock time from which on each listing that begins shows the subject, if it exists: the end of its settling time. */
  readonly listedBy: number;
  readonly pollIntervalMs: number;
  /**
   * The shortest pause between the two listings of a proof, if the first shows none of ours (`Known`) and so may be wrong for a while.
   * By default, a poll interval.
   */
  readonly noneOfOursMs?: number | undefined;
}

/**
 * An instance. Or what a POST may have created: the instance with the id of its answer, and the instances of this name that are not
 * in `before`. (A service may answer with an id that it never lists.)
 */
export type Subject =
  | { readonly id: string }
  | { readonly id?: string | undefined; readonly name: string; readonly before: Ids };

/** A set of ids, or a map from ids. */
export interface Ids extends IdSet {
  keys(): IterableIterator<string>;
}

/** What the session knows when a listing arrives. */
export interface Known {
  /** The ids of instances that are not the subject, although they may have its name. */
  readonly explained?: ReadonlySet<string>;
  /**
   * The ids of other instances of the subject's tenant. A listing that shows none of them may be another tenant's. Undefined if
   * no voucher is asked for (`KnownState.vouchersOf`).
   */
  readonly vouchers?: ReadonlySet<string> | undefined;
  /** The instances that the calls of the run have shown or made, and those of other creates in doubt. */
  readonly ours?: IdSet;
}

/** The listings in a row that lack the subject, as far as they matter for the next one. */
interface Series {
  /** The first of the complete listings in a row that lack the subject. */
  readonly firstLacking?: Evidence | undefined;
  /** The clock time from which on a listing that begins may be the second of a proof. */
  readonly provesAt?: number | undefined;
  /** Whether two of these listings, one after the other, contradicted each other (`agree`). */
  readonly wereDifferent?: boolean | undefined;
  /** The first of the listings in a row that lack the subject, and that are cut off (`isCutOff`). */
  readonly firstCutOff?: Evidence | undefined;
}

/** What the listings have shown so far. */
export interface Witness extends Series {
  readonly question: Question;
  /** The subject as last listed. */
  readonly lastSeen?: ListItem | undefined;
}

/** What the listings so far prove. */
export type Verdict =
  /** The listing shows the subject. `weakness`: why it may prove nothing if it lacks the subject. */
  | {
      readonly kind: "listed";
      readonly items: readonly [ListItem, ...ListItem[]];
      readonly weakness?: "incomplete" | "tenant" | undefined;
    }
  /** `proof` is the second of two listings that lack the subject and keep all the rules. */
  | { readonly kind: "absent"; readonly proof: Evidence }
  | Open;

/** Nothing is proven, because of this listing. */
export interface Open {
  readonly kind: "open";
  readonly why: Weakness;
  readonly listing: Evidence;
}

/** Why a listing that lacks the subject does not prove its absence. */
type Weakness =
  /** The listing began before the settling time was over. */
  | "early"
  /** One listing may be wrong. */
  | "once"
  | "incomplete"
  /** The subject has left PROVISIONING, but the list that should show it now is cut off. */
  | "cutOff"
  /** Of three listings in a row, each had no id in common with the one before. */
  | "unstable"
  /** The listing may be another tenant's. */
  | "tenant";

/** Begins a series of listings. */
export function witnessOf(question: Question): Witness {
  return { question };
}

/**
 * Judges the next listing of a series. Two complete listings in a row prove that the subject is absent, if both began at
 * `listedBy` or later, the second a poll interval after the first had ended (`noneOfOursMs` if the first shows none of ours), if they
 * have an id in common or both are empty, and if the second is surely of the subject's tenant. A complete listing that comes too soon
 * is passed over. Any other listing that breaks a rule begins the series anew.
 */
export function see(
  { question, lastSeen, firstLacking, wereDifferent, firstCutOff }: Witness,
  listing: Evidence,
  { explained, vouchers, ours }: Known = {},
): { verdict: Verdict; witness: Witness } {
  const { subject, listedBy, pollIntervalMs, noneOfOursMs = pollIntervalMs } = question;
  const [item, ...others] = find(subject, listing, explained);
  if (item) {
    const weakness = listing.complete ? vouchers && "tenant" : "incomplete";
    const verdict: Verdict = { kind: "listed", items: [item, ...others], weakness };
    return { verdict, witness: { question, lastSeen: item } };
  }
  const open = (why: Weakness, series: Series = {}) => {
    const verdict: Verdict = { kind: "open", why, listing };
    return { verdict, witness: { question, lastSeen, ...series } };
  };
  /** Goes on with `first` as the first of the listings that lack the subject. */
  const lacking = (why: Weakness, first: Evidence, areDifferent?: boolean) => {
    const pauseMs =
      ours && shows(first, ours) ? pollIntervalMs : Math.max(pollIntervalMs, noneOfOursMs);
    const provesAt = first.endedAt + pauseMs;
    return open(why, { firstLacking: first, provesAt, wereDifferent: areDifferent });
  };

  // The subject was listed, and has left PROVISIONING. If a cursor fails only this time, its pages may still show the subject.
  const isPassing = listing.complete || listing.cursorProblem?.isLasting === false;
  if (lastSeen && !isPassing && isCutOff(listing)) return open("cutOff");
  if (listing.begunAt < listedBy) return open("early");
  if (!listing.complete) {
    if (!isCutOff(listing)) return open("incomplete", { firstCutOff });
    if (!firstCutOff) return open("incomplete", { firstCutOff: listing });
    const isLater = listing.begunAt >= firstCutOff.endedAt + pollIntervalMs;
    return open(isLater ? "cutOff" : "incomplete", { firstCutOff });
  }
  if (!firstLacking) return lacking("once", listing);
  if (!agree(firstLacking, listing))
    return lacking(wereDifferent ? "unstable" : "once", listing, true);
  const again = lacking("once", firstLacking, wereDifferent);
  if (listing.begunAt < (again.witness.provesAt ?? 0)) return again;
  if (lastSeen === undefined && !isOfTenant(listing, vouchers)) return lacking("tenant", listing);
  return {
    verdict: { kind: "absent", proof: listing },
    witness: { question, lastSeen, firstLacking },
  };
}

/** Listings of the session before a call has asked, as in `ListingSource`. */
interface Earlier {
  readonly withoutOurs?: Evidence | undefined;
  readonly previous?: Evidence | undefined;
}

/**
 * Judges the next listing as `see` does. With `noneOfOursMs`, an earlier listing may count as the first of the series, so the time that
 * one call has waited counts for the next call, too. (An import has none: its instance may be newer than an earlier listing.)
 */
export function seeAfter(
  { withoutOurs, previous }: Earlier,
  witness: Witness,
  listing: Evidence,
  known: Known,
): ReturnType<typeof see> {
  const counts = witness.question.noneOfOursMs !== undefined && !witness.firstLacking;
  const earlier = counts ? (withoutOurs ?? previous) : undefined;
  const begun = earlier && see(witness, earlier, known).witness;
  return see(begun?.firstLacking ? begun : witness, listing, known);
}

/** Whether the listing is surely of the tenant of these instances (`Known`). */
function isOfTenant({ items }: Evidence, vouchers: Known["vouchers"]): boolean {
  return vouchers === undefined || [...vouchers].some((id) => items.has(id));
}

/** Whether one more listing may tell more, even if nothing changes at the service. */
export function mayStillTell(verdict: Verdict): boolean {
  return verdict.kind === "open" && (verdict.why === "early" || verdict.why === "once");
}

/** Returns when to look next, after a listing that ended at `endedAt`: when a proof is possible, or earlier after a poll interval. */
export function nextLookAt({ question, provesAt }: Witness, endedAt: number): number {
  const { listedBy, pollIntervalMs } = question;
  return Math.min(provesAt ?? listedBy, endedAt + pollIntervalMs);
}

/**
 * Whether a listed name is `name`, in whatever case, like hostnames, and perhaps with a domain that the service has added. Listed
 * names have been through `printable`.
 */
export function isNamed(listed: string | undefined, name: string): boolean {
  const asked = printable(name).toLowerCase();
  const lowerCase = listed?.toLowerCase();
  return lowerCase === asked || lowerCase?.startsWith(`${asked}.`) === true;
}

function find(subject: Subject, { items }: Evidence, explained?: ReadonlySet<string>): ListItem[] {
  if (!("name" in subject)) {
    const item = items.get(subject.id);
    return item ? [item] : [];
  }
  const { id, name, before } = subject;
  const isOfPost = (item: ListItem) =>
    isNamed(item.name, name) && !before.has(item.id) && !explained?.has(item.id);
  return [...items.values()].filter((item) => item.id === id || isOfPost(item));
}

/** Whether an instance that the listing lacks has left PROVISIONING, and may be past the end of its new status's list. */
function isCutOff({ completeStatuses }: Evidence): boolean {
  const isLeft = completeStatuses.has("PROVISIONING");
  return isLeft && !(completeStatuses.has("ACTIVE") && completeStatuses.has("OFFLINE"));
}

/** Whether two listings have an id in common, or are both empty. Else one of them may be wrong: empty, or with other ids. */
function agree({ items: some }: Evidence, { items: others }: Evidence): boolean {
  return some.size === 0 ? others.size === 0 : [...some.keys()].some((id) => others.has(id));
}
