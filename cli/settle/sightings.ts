/** Asks the listings about each create in doubt, until they show its instance or prove that there is none (G3). */
import { ask } from "../../provider/evidence/ask";
import { shows } from "../../provider/evidence/listing";
import { whyOpen } from "../../provider/evidence/why";
import type { Subject } from "../../provider/evidence/witness";
import { noneOfOursMs } from "../../provider/instance/existence";
import { originDifference, type Origin } from "../../provider/origin";
import { timeouts, waits } from "../../provider/session/operations";
import type { ServiceListing } from "../listings";
import { peersOf, type StackState, type StateResource } from "../state";
import type { Terminal } from "../terminal";
import { hasId, isListedAt, mayBe, type CreateInDoubt, type Listed, type View } from "../view";
import type { Sighting } from "./decide";

/** Where to look, and what is known before. */
export interface SightingSearch {
  readonly service: ServiceListing;
  readonly state: StackState;
  readonly view: View;
  readonly doubts: readonly CreateInDoubt[];
  /** The provider resources whose tags the listing shows. */
  readonly scopes: ReadonlySet<string>;
}

/** @throws the error of a failed listing, or of the time-out */
export async function sightingsOf(
  search: SightingSearch,
  io: Terminal,
): Promise<Map<CreateInDoubt, Sighting>> {
  const { service, doubts } = search;
  const { session, origin, listing } = service;
  const looks = doubts.map((doubt) => ({ doubt, known: whyNotAsked(doubt, search) }));
  const isListed = (doubt: CreateInDoubt) =>
    [...listing.items.values()].some((item) => mayBe(doubt, item, origin));
  const proofs = looks.flatMap(({ doubt, known }) =>
    known || isListed(doubt) ? [] : [proofMs(doubt, search, io.clock.now())],
  );
  if (proofs.length > 0) {
    const seconds = Math.ceil(Math.max(...proofs) / 1000);
    io.warn(
      `Asks the listings for up to ${seconds} s, for the proof that what is not listed does not exist.`,
    );
  }
  const { requestTimeoutMs, settlingMs } = session.settings;
  using operation = session.operations.begin(
    (requestTimeoutMs + settlingMs) / 1000 + timeouts.look,
  );
  using _wait = operation.waiting(waits.listing);
  const sightings = looks.map(
    async ({ doubt, known }) =>
      [doubt, known ?? (await sightingOf(doubt, search, operation.signal))] as const,
  );
  return new Map(await Promise.all(sightings));
}

/** Returns what the listings can't show of a create. Undefined if they can be asked about it. */
function whyNotAsked(doubt: CreateInDoubt, search: SightingSearch): Sighting | undefined {
  const { service, state, scopes } = search;
  const { origin, session, listing } = service;
  const elsewhere = placeDifference(doubt, origin, session.addressName);
  if (elsewhere !== undefined) return { kind: "elsewhere", why: elsewhere };
  if (!isVouched(doubt, state, { items: listing.items, origin }, scopes)) {
    const why = `nothing shows that this ${origin.tokenKind} token reaches its place: it lists no instance of this stack`;
    return { kind: "unvouched", why };
  }
  if (subjectsOf(doubt).length > 0) return undefined;
  return { kind: "open", why: "its name is a secret, and its id is not known" };
}

/** Says how the places where the create may have been sent differ from that of the listing. Undefined if one of them does not. */
export function placeDifference(
  { places }: CreateInDoubt,
  origin: Origin,
  addressName: string,
): string | undefined {
  const differences = places.map((place) => originDifference(place, origin, addressName));
  return differences.includes(undefined) ? undefined : differences[0];
}

/**
 * Whether the listing is surely of the place to which the create was sent: the create has a record, or the listing shows an
 * instance of its provider that the stack has, or one whose tag is that of its provider resource (`scopes`).
 */
export function isVouched(
  { record, pending }: CreateInDoubt,
  state: StackState,
  { items, origin }: Listed,
  scopes: ReadonlySet<string>,
): boolean {
  if (record) return true;
  if (!pending || !origin) return false;
  const isShown = (one: StateResource) => items.has(one.id) && isListedAt(one, origin);
  return peersOf(pending, state).some(isShown) || scopes.has(pending.scope);
}

function subjectsOf({ record, name, isGenerated }: CreateInDoubt): Subject[] {
  const ofId = record?.id === undefined ? [] : [{ id: record.id }];
  // A service may answer with an id that it never lists.
  const isNameAsked = name !== undefined && (isGenerated || ofId.length === 0);
  return isNameAsked ? [...ofId, { name, before: new Set(record?.before) }] : ofId;
}

/** Returns by when the listings show the create's instance, if there is one, and the pauses between two listings. */
function timesOf({ record }: CreateInDoubt, { service: { session }, view }: SightingSearch) {
  const { requestTimeoutMs, settlingMs, pollIntervalMs } = session.settings;
  // A killed run has noted only when its POST was about to be sent. A create without a record was sent before the state was read.
  const settledBy = record ? session.settledBy(record.at) : view.readAt + settlingMs;
  const patience = noneOfOursMs(session, { origin: record }, { seconds: timeouts.look });
  return { listedBy: requestTimeoutMs + settledBy, pollIntervalMs, noneOfOursMs: patience };
}

/** Returns how long the proof takes that the create has left nothing, without the time of the requests. */
function proofMs(doubt: CreateInDoubt, search: SightingSearch, now: number): number {
  const { listing, session } = search.service;
  const { listedBy, pollIntervalMs, noneOfOursMs = 0 } = timesOf(doubt, search);
  const pauseMs = shows(listing, session.ours) ? 0 : noneOfOursMs;
  return Math.max(0, listedBy - now) + Math.max(pollIntervalMs, pauseMs);
}

async function sightingOf(
  doubt: CreateInDoubt,
  search: SightingSearch,
  signal: AbortSignal,
): Promise<Sighting> {
  const { service, view, doubts } = search;
  const { session, origin } = service;
  const { record, isGenerated } = doubt;
  // A generated name says whose the instance is. The program may give one name to several.
  const ofOthers = doubts.flatMap((other) => {
    const id = other.record?.id;
    return other !== doubt && id !== undefined && hasId(other, id, origin) ? [id] : [];
  });
  const inStates = [...view.held.values()].flat().filter((one) => isListedAt(one, origin));
  const explained = new Set(isGenerated ? [] : [...ofOthers, ...inStates.map(({ id }) => id)]);
  const times = timesOf(doubt, search);
  const asked = record && { id: record.id ?? "", origin: record };
  const vouchers = asked && session.state.vouchersOf(asked, origin);
  const known = () => ({ explained, vouchers, ours: session.ours });
  for (const subject of subjectsOf(doubt)) {
    const verdict = await ask(session.listings, { subject, ...times }, signal, { known });
    if (verdict.kind === "listed") return verdict;
    if (verdict.kind === "open") return { kind: "open", why: whyOpen(verdict, session) };
  }
  return { kind: "absent" };
}
