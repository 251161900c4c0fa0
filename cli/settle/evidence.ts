/** Asks the listings about each create in doubt, until they show its instance or prove that there is none (G3). */
import { explicitProvider } from "../../provider/urn";
import type { ListItem } from "../../provider/api/contract";
import { ask } from "../../provider/evidence/ask";
import { whyOpen } from "../../provider/evidence/why";
import { isNamed, type Subject, type Verdict } from "../../provider/evidence/witness";
import { isSamePlace, originDifference, type Origin } from "../../provider/origin";
import { timeouts, type Session } from "../../provider/session/session";
import type { Evidence, Held } from "./decide";
import type { Doubt } from "./doubts";
import { originOf, providerOf, type ExportedState } from "./exported";

/** Where to look, and what is known before. */
export interface Search {
  readonly session: Session;
  readonly origin: Origin;
  readonly state: ExportedState;
  readonly held: ReadonlyMap<string, Held>;
  /** The clock time when the command began: before that, each create that only a state knows was sent. */
  readonly begunAt: number;
}

/** @throws the error of a failed listing, or of the time-out */
export async function lookForAll(
  search: Search,
  doubts: readonly Doubt[],
): Promise<Map<Doubt, Evidence>> {
  const { session } = search;
  const { requestTimeoutMs, settlingMs } = session.settings;
  using operation = session.operation((requestTimeoutMs + settlingMs) / 1000 + timeouts.look);
  const look = async (doubt: Doubt) =>
    [doubt, await lookFor(search, doubt, doubts, operation.signal)] as const;
  return new Map(await Promise.all(doubts.map(look)));
}

async function lookFor(
  search: Search,
  doubt: Doubt,
  doubts: readonly Doubt[],
  signal: AbortSignal,
): Promise<Evidence> {
  const { session, held } = search;
  const { record, name, isGenerated } = doubt;
  const elsewhere = whyElsewhere(search, doubt);
  // A generated name is found wherever the listing is from, since it says whose it is.
  if (elsewhere !== undefined && (record || !isGenerated))
    return { kind: "open", why: elsewhere, isElsewhere: true };
  const subjects: Subject[] = [];
  if (record?.id !== undefined) subjects.push({ id: record.id });
  // A service may answer with an id that it never lists.
  if (name !== undefined && (isGenerated || subjects.length === 0))
    subjects.push({ name, before: record?.before ?? new Set() });
  if (subjects.length === 0)
    return {
      kind: "open",
      why: "its name is a secret, and its id is not known",
      isElsewhere: false,
    };

  const ofOthers = doubts.flatMap((other) => (other === doubt ? [] : (other.record?.id ?? [])));
  const explained = new Set(isGenerated ? ofOthers : [...ofOthers, ...held.keys()]);
  for (const subject of subjects) {
    const verdict = await question(search, doubt, subject, explained, signal);
    if (verdict.kind === "listed") return verdict;
    if (verdict.kind === "open")
      return { kind: "open", why: whyOpen(verdict, session), isElsewhere: false };
  }
  if (elsewhere !== undefined) return { kind: "open", why: elsewhere, isElsewhere: true };
  return { kind: "absent" };
}

/** Returns how many milliseconds the proof may take that those of the creates which this listing lacks have left nothing. */
export function howLong(
  search: Search,
  doubts: readonly Doubt[],
  { items }: { items: ReadonlyMap<string, ListItem> },
): number {
  const all = [...items.values()];
  const isListed = ({ record, name }: Doubt) =>
    all.some((item) => item.id === record?.id || (name && isNamed(item.name, name)));
  const { session } = search;
  const { now } = session.clocks();
  const waits = doubts
    .filter((doubt) => !isListed(doubt))
    // The proof is two listings, a poll interval apart.
    .map((doubt) => Math.max(0, listedBy(search, doubt) - now) + session.settings.pollIntervalMs);
  return Math.max(0, ...waits);
}

/** Returns the clock time from which on each listing that begins shows the create's instance, if there is one. */
function listedBy({ session, begunAt }: Search, { record }: Doubt): number {
  const { requestTimeoutMs, settlingMs } = session.settings;
  // A killed run has noted only when its POST was about to be sent.
  return requestTimeoutMs + (record ? session.settledBy(record.at) : begunAt + settlingMs);
}

function question(
  search: Search,
  doubt: Doubt,
  subject: Subject,
  explained: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Verdict> {
  const { session, origin } = search;
  const { record } = doubt;
  const { pollIntervalMs } = session.settings;
  const asked = record && { id: record.id ?? "", origin: record.place };
  const asking = { subject, listedBy: listedBy(search, doubt), pollIntervalMs };
  return ask(session.listings, asking, signal, () => ({
    explained,
    vouchers: asked && session.state.vouchersOf(asked, origin),
  }));
}

/** Says why these settings may not reach the place where the create was sent. Undefined if they do. */
function whyElsewhere(
  { session, origin, state }: Search,
  { record, pending: [pending] }: Doubt,
): string | undefined {
  if (record) return originDifference(record.place, origin, session.addressName);
  const provider = pending?.instance?.explicitProvider;
  if (!pending || provider === undefined) return undefined;
  // Another instance of this provider shows where its instances live.
  const isReached = state.resources.some((resource) => {
    const place = originOf(resource);
    const isOfProvider = explicitProvider(providerOf(resource).urn) === provider;
    return isOfProvider && place?.tokenHash === origin.tokenHash && isSamePlace(place, origin);
  });
  return isReached ? undefined : `the token of ${provider} is not known here`;
}
