/** Asks the listings about each create in doubt, until they show its instance or prove that there is none (G3). */
import { ask } from "../../provider/evidence/ask";
import { whyOpen } from "../../provider/evidence/why";
import type { Subject } from "../../provider/evidence/witness";
import { originDifference, type Origin } from "../../provider/origin";
import { timeouts, waits } from "../../provider/session/operations";
import type { ServiceListing } from "../listings";
import { isInstance, type StackState } from "../state";
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
  if (looks.some(({ doubt, known }) => !known && !isListed(doubt)))
    io.warn("Waiting for the proof that what is not listed does not exist.");
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
  const { record } = doubt;
  const elsewhere = record && originDifference(record, origin, session.addressName);
  if (elsewhere !== undefined) return { kind: "open", why: elsewhere };
  const { items } = listing;
  const unvouched = record ? undefined : whyUnvouched(doubt, state, { items, origin }, scopes);
  if (unvouched !== undefined) return { kind: "unvouched", why: unvouched };
  if (subjectsOf(doubt).length > 0) return undefined;
  return { kind: "open", why: "its name is a secret, and its id is not known" };
}

/** Says why nothing that this token lists may come into the stack. Undefined if it may. */
export function whyForeign({ resources }: StackState, { tokenKind }: Origin): string | undefined {
  // A provider that the program makes has a token of its own.
  const own = resources.filter(({ explicitProvider }) => explicitProvider === undefined);
  return tokenKind === "test" && own.some(({ origin }) => origin?.tokenKind === "live")
    ? "the stack's instances were made with a live token, but the token given now is a test one"
    : undefined;
}

/**
 * Says why the listing may be of another origin than the one to which a create without a file was sent. Undefined if it shows an
 * instance of the same provider that the stack has, or one whose tag is that of this provider resource (`scopes`).
 */
export function whyUnvouched(
  { pending }: CreateInDoubt,
  { resources }: StackState,
  { items, origin }: Listed,
  scopes: ReadonlySet<string>,
): string | undefined {
  const isShown = resources.some(
    (one) =>
      isInstance(one) &&
      one.explicitProvider === pending?.explicitProvider &&
      one.origin &&
      origin &&
      items.has(one.id) &&
      isListedAt(one, origin),
  );
  return isShown || scopes.has(pending?.scope ?? "")
    ? undefined
    : "nothing shows that these settings reach its place: they list no instance of this stack";
}

function subjectsOf({ record, name, isGenerated }: CreateInDoubt): Subject[] {
  const ofId = record?.id === undefined ? [] : [{ id: record.id }];
  // A service may answer with an id that it never lists.
  const isNameAsked = name !== undefined && (isGenerated || ofId.length === 0);
  return isNameAsked ? [...ofId, { name, before: new Set(record?.before) }] : ofId;
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
  const { requestTimeoutMs, settlingMs, pollIntervalMs } = session.settings;
  // A killed run has noted only when its POST was about to be sent. What only the state knows was sent before that was read.
  const settledBy = record ? session.settledBy(record.at) : view.readAt + settlingMs;
  const times = { listedBy: requestTimeoutMs + settledBy, pollIntervalMs };
  const asked = record && { id: record.id ?? "", origin: record };
  const known = () => ({ explained, vouchers: asked && session.state.vouchersOf(asked, origin) });
  for (const subject of subjectsOf(doubt)) {
    const verdict = await ask(session.listings, { subject, ...times }, signal, known);
    if (verdict.kind === "listed") return verdict;
    if (verdict.kind === "open") return { kind: "open", why: whyOpen(verdict, session) };
  }
  return { kind: "absent" };
}
