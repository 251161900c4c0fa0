/** Asks the listings about each create in doubt, until they show its instance or prove that there is none (G3). */
import { ask } from "../../provider/evidence/ask";
import { whyOpen } from "../../provider/evidence/why";
import type { Subject } from "../../provider/evidence/witness";
import { lookFor as lookForInstance } from "../../provider/instance/existence";
import { originDifference, type Origin } from "../../provider/origin";
import { timeouts, type Session } from "../../provider/session/session";
import { isListedAt } from "../compare";
import type { Evidence, Held } from "./decide";
import { hasId, occupantOf, whyUnvouched, type Doubt, type Listed } from "./doubts";
import { instanceIn } from "./exported";

/** Where to look, and what is known before. */
export interface Search extends Listed {
  readonly session: Session;
  readonly origin: Origin;
  readonly held: ReadonlyMap<string, readonly Held[]>;
  /** The provider resources whose tags that shows. */
  readonly scopes: ReadonlySet<string>;
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

/** Returns the ids of those instances in the place of these creates that listings prove to be gone. @throws as `lookForAll` */
export async function goneOccupants(
  { session, origin, state, items }: Search,
  doubts: readonly Doubt[],
): Promise<Set<string>> {
  using operation = session.operation(timeouts.look);
  const occupants = doubts.flatMap(({ urn }) => occupantOf(urn, state) ?? []).map(instanceIn);
  const looks = occupants.map(async (instance) => {
    const isAsked = instance.origin && isListedAt(instance, origin) && !items.has(instance.id);
    if (!isAsked) return [];
    const { verdict } = await lookForInstance(session, instance, operation.signal);
    return verdict.kind === "absent" ? [instance.id] : [];
  });
  return new Set((await Promise.all(looks)).flat());
}

async function lookFor(
  search: Search,
  doubt: Doubt,
  doubts: readonly Doubt[],
  signal: AbortSignal,
): Promise<Evidence> {
  const { session, origin, held, scopes, begunAt } = search;
  const { record, name, isGenerated } = doubt;
  const elsewhere = record && originDifference(record, origin, session.addressName);
  if (elsewhere !== undefined) return { kind: "open", why: elsewhere };
  const unvouched = record ? undefined : whyUnvouched(doubt, search, scopes);
  if (unvouched !== undefined) return { kind: "unvouched", why: unvouched };
  const subjects: Subject[] = [];
  if (record?.id !== undefined) subjects.push({ id: record.id });
  // A service may answer with an id that it never lists.
  if (name !== undefined && (isGenerated || subjects.length === 0))
    subjects.push({ name, before: new Set(record?.before) });
  if (subjects.length === 0)
    return { kind: "open", why: "its name is a secret, and its id is not known" };

  // A generated name says whose the instance is. The program may give one name to several.
  const ofOthers = doubts.flatMap((other) => {
    const id = other.record?.id;
    return other !== doubt && id !== undefined && hasId(other, id, origin) ? [id] : [];
  });
  const inStates = [...held.values()].flat().filter((one) => isListedAt(one, origin));
  const explained = new Set(isGenerated ? [] : [...ofOthers, ...inStates.map(({ id }) => id)]);
  const { requestTimeoutMs, settlingMs, pollIntervalMs } = session.settings;
  // A killed run has noted only when its POST was about to be sent. What only the state knows was sent before this command.
  const settledBy = record ? session.settledBy(record.at) : begunAt + settlingMs;
  const times = { listedBy: requestTimeoutMs + settledBy, pollIntervalMs };
  const asked = record && { id: record.id ?? "", origin: record };
  const known = () => ({ explained, vouchers: asked && session.state.vouchersOf(asked, origin) });
  for (const subject of subjects) {
    const verdict = await ask(session.listings, { subject, ...times }, signal, known);
    if (verdict.kind === "listed") return verdict;
    if (verdict.kind === "open") return { kind: "open", why: whyOpen(verdict, session) };
  }
  return { kind: "absent" };
}
