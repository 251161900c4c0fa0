/**
 * Decides what becomes of each create in doubt, as a pure function of what ledgers, states and listings show. Nothing is put
 * into a state that is not surely the resource's, and unless a person says so, nothing in the place of a server.
 */
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import { whyNotResumed } from "../../provider/create/protocol";
import { whyHomeless, type PendingCreate, type StackState, type StateResource } from "../state";
import {
  hasId,
  heldAs,
  holderOf,
  mayBe,
  type CreateInDoubt,
  type HeldInstances,
  type Listed,
} from "../view";

/** What the listings show of a create's instance. */
export type Sighting =
  /** The instances that may be the create's, whether or not a state holds them: that of the id alone, or those of the name. */
  | { readonly kind: "listed"; readonly items: readonly ListItem[] }
  | { readonly kind: "absent" }
  /** Nothing shows that the listings are of the service and token to which the create was sent. */
  | { readonly kind: "unvouched"; readonly why: string }
  | { readonly kind: "open"; readonly why: string };

/** What a person has decided on the command line, or when asked. */
export interface Choices {
  /** As `URN=ID`: this instance is the resource's. Both may contain an equals sign. */
  readonly take: readonly string[];
  /** The URNs of the creates that have left nothing that the resource is to have. */
  readonly forget: readonly string[];
}

/** What is known of a stack. */
export interface StackView extends Listed {
  readonly state: StackState;
  readonly held: HeldInstances;
  /** The creates to decide about, none of whose runs is under way, and what the listings show of each. */
  readonly sightings: ReadonlyMap<CreateInDoubt, Sighting>;
}

/** What `settle` does about a create. `items` are the listed instances that may be the create's, and that no state holds. */
export type Does =
  /** A state holds the instance. */
  | { kind: "held"; holder: StateResource }
  /** It has left nothing, a person gives it up or, in a sandbox, nobody has to look at it. */
  | {
      kind: "gone";
      because: "absent" | "forgotten" | "sandbox";
      items: readonly ListItem[];
      why?: string;
    }
  /** Its instance comes into the state, in the place of the `occupant`, which the next `up` deletes. */
  | { kind: "put"; item: ListItem; pending: PendingCreate; occupant: string | undefined }
  | OpenDoubt;

/** What is open about a create. */
interface OpenDoubt {
  kind: "ask";
  /** The next `up` goes on with the create, or makes nothing twice. The state need not know the create. */
  whom: "a person" | "the next up";
  items: readonly ListItem[];
  why: string;
  /** The id of what the state has for the resource now. */
  occupant: string | undefined;
  /** How the instance comes into the state, if it can. */
  by: "take" | "import" | undefined;
}

/** A create in doubt, and what becomes of it. */
export interface Row {
  readonly doubt: CreateInDoubt;
  readonly does: Does;
}

type Takes = ReadonlyMap<CreateInDoubt, string>;

/** Decides what becomes of the creates in doubt, in their order. */
export function decideAll(view: StackView, { take, forget }: Choices): Row[] {
  const doubts = [...view.sightings.keys()];
  const takes = new Map<CreateInDoubt, string>();
  for (const word of take) {
    const urn = takenUrn(word, doubts);
    const id = word.slice((urn?.length ?? 0) + 1);
    // Of several creates of a resource, the one takes it that may have made it. Those that the state knows come first.
    const ofUrn = doubts.filter((doubt) => doubt.urn === urn);
    const taker =
      ofUrn.find((doubt) => listedFor(doubt, view).some((item) => item.id === id)) ?? ofUrn[0];
    if (taker) takes.set(taker, id);
  }
  const rows = doubts.map((doubt) => {
    const isForgotten = forget.includes(doubt.urn);
    return { doubt, does: decide(doubt, view, takes, isForgotten) };
  });
  return rows.map((row) => ({
    ...row,
    does: sandboxed(row.doubt, oneForEach(row, rows, takes), view),
  }));
}

/** Returns the URN in a word of `--take`: the longest one with a create in doubt. */
function takenUrn(word: string, doubts: readonly CreateInDoubt[]): string | undefined {
  const urns = doubts.map(({ urn }) => urn).filter((urn) => word.startsWith(`${urn}=`));
  return urns.sort((one, other) => other.length - one.length)[0];
}

/**
 * Returns the rows that can be carried out. A state loses all its pending creates when it is changed. So it is changed only if none
 * of them needs a person. `isBlocked`: it must not be changed at all.
 */
export function doableOf(rows: readonly Row[], isBlocked = false): readonly Row[] {
  const isKept = rows.some(({ doubt, does }) => doubt.pending && isForPerson(does));
  return rows.filter(
    ({ doubt, does }) => does.kind !== "ask" && !(doubt.pending && (isKept || isBlocked)),
  );
}

/** Whether a person has to decide. */
export function isForPerson(does: Does): boolean {
  return does.kind === "ask" && does.whom === "a person";
}

function decide(doubt: CreateInDoubt, view: StackView, takes: Takes, isForgotten: boolean): Does {
  const takenId = takes.get(doubt);
  const taken = takenId === undefined ? undefined : take(doubt, view, takenId, takes);
  // A printed command repeats what was given: if the instance can't be taken, what was added counts.
  if (taken && (!isForgotten || taken.kind !== "ask")) return taken;
  // What the resource has is decided, so its other creates have left nothing for it.
  if (isForgotten || [...takes.keys()].some(({ urn }) => urn === doubt.urn))
    return { kind: "gone", because: "forgotten", items: candidatesOf(doubt, view) };
  const holder = holderOf(doubt, view.held, view);
  if (holder) return { kind: "held", holder };
  if (doubt.record?.liveness === "unknown")
    return asking(
      doubt,
      view,
      "whether its run has ended is not known, because files can't be locked here",
    );
  const seen = view.sightings.get(doubt) ?? { kind: "open", why: "it was not looked for" };
  switch (seen.kind) {
    case "absent":
      return { kind: "gone", because: "absent", items: [] };
    case "listed":
      return judgeListed(doubt, view, seen.items);
    case "unvouched":
      // The next `up` asks the listing of the create's own service for a generated name.
      return asking(doubt, view, seen.why, {
        whom: doubt.isGenerated ? "the next up" : "a person",
      });
    case "open":
      return asking(doubt, view, seen.why);
  }
}

function judgeListed(doubt: CreateInDoubt, view: StackView, listed: readonly ListItem[]): Does {
  const [item, ...others] = candidatesOf(doubt, view);
  if (!item) return { kind: "gone", because: "absent", items: [] };
  if (others.length > 0) return asking(doubt, view, "several have the name");
  if (!isSure(doubt, item))
    return asking(doubt, view, "a name that the program chose proves nothing");
  if (occupantOf(doubt, view) === undefined) return put(doubt, view, item);
  return isResumable(doubt, view, listed)
    ? asking(doubt, view, "a run that replaced it has ended early", { whom: "the next up" })
    : asking(doubt, view, "only a person can say which of the two serves");
}

/** Whether the create has surely made this instance: its record has the id, or this provider generated the name. */
function isSure({ name, isGenerated, record }: CreateInDoubt, item: ListItem): boolean {
  if (record?.id !== undefined) return record.id === item.id;
  return isGenerated && name !== undefined && isNamed(item.name, name);
}

/** Whether the file of the create lets the next create of the resource take the instance over, if the program is the same. */
function isResumable(
  { urn, record }: CreateInDoubt,
  { state }: StackView,
  items: readonly ListItem[],
) {
  if (!record?.isHere || record.urn !== urn) return false;
  const scope = state.resources.find(({ id }) => id === record.scope)?.id;
  const own = { scope, digest: record.digest };
  return (
    scope !== undefined && whyNotResumed(own, record, { items, shown: new Set() }) === undefined
  );
}

/** Puts the instance into the state, if that has a place for it. Otherwise a person has to import it. */
function put(doubt: CreateInDoubt, view: StackView, item: ListItem): Does {
  const { pending } = doubt;
  const why = pending ? whyHomeless(pending, view.state) : "the state knows nothing of this create";
  if (!pending || why !== undefined) return asking(doubt, view, why ?? "", { items: [item] });
  return { kind: "put", item, pending, occupant: occupantOf(doubt, view) };
}

/** Puts the instance that a person names into the state. A slip is refused: it could put one instance there twice, and lose another. */
function take(doubt: CreateInDoubt, view: StackView, id: string, takes: Takes): Does {
  const holder = heldAs(id, doubt, view.held, view);
  if (holder?.stack === view.state.stack && holder.urn === doubt.urn)
    return { kind: "held", holder };
  const refuse = (why: string) => asking(doubt, view, `--take names ${id}, ${why}`);
  const item = view.items.get(id);
  if (!item) return refuse("which the service does not list");
  if (holder) return refuse(`which ${holder.stack} has, as ${holder.urn}`);
  if ([...takes].some(([other, taken]) => other !== doubt && taken === id))
    return refuse("which another --take names");
  const candidates = candidatesOf(doubt, view);
  if (candidates.some((candidate) => candidate.id === id)) return put(doubt, view, item);
  // A server that was renamed leaves none of its name.
  if (candidates.length > 0) return refuse("which has another name");
  const isOther = (other: CreateInDoubt) =>
    other.urn !== doubt.urn && listedFor(other, view).some((one) => one.id === id);
  const maker = [...view.sightings.keys()].find(isOther);
  return maker ? refuse(`which is that of ${maker.urn}`) : put(doubt, view, item);
}

/** Returns the instances that the search for the create's has found. */
function listedFor(doubt: CreateInDoubt, { sightings }: StackView): readonly ListItem[] {
  const seen = sightings.get(doubt);
  return seen?.kind === "listed" ? seen.items : [];
}

/** Returns the listed instances that may be the create's, and that no state holds. */
function candidatesOf(doubt: CreateInDoubt, view: StackView): readonly ListItem[] {
  const { sightings, items, origin, held } = view;
  const others = [...sightings.keys()].filter((other) => other !== doubt);
  const isFree = (item: ListItem) =>
    mayBe(doubt, item, origin) && !others.some((other) => hasId(other, item.id, origin));
  const listed =
    sightings.get(doubt)?.kind === "listed"
      ? listedFor(doubt, view)
      : [...items.values()].filter(isFree);
  return listed.filter(({ id }) => !heldAs(id, doubt, held, view));
}

/** Returns the question about a create. By default it is a person's, about all that may be the create's instance. */
function asking(
  doubt: CreateInDoubt,
  view: StackView,
  why: string,
  { whom = "a person", items }: Partial<Pick<OpenDoubt, "whom" | "items">> = {},
): OpenDoubt {
  const { pending } = doubt;
  const occupant = occupantOf(doubt, view);
  const isHome = pending && whyHomeless(pending, view.state) === undefined;
  const by = isHome ? "take" : occupant === undefined ? "import" : undefined;
  return { kind: "ask", whom, items: items ?? candidatesOf(doubt, view), why, occupant, by };
}

/** Returns the id that a state has for a resource, unless it was deleted before its replacement was to be made. */
function occupantOf({ urn }: CreateInDoubt, { state }: StackView): string | undefined {
  const isPresent = (one: StateResource) =>
    one.urn === urn && !one.delete && !one.pendingReplacement;
  return state.resources.find(isPresent)?.id;
}

/** A resource has one instance. Of several that could come into the state, a person chooses. */
function oneForEach({ doubt, does }: Row, rows: readonly Row[], takes: Takes): Does {
  if (does.kind !== "put" || takes.has(doubt)) return does;
  const rivals = rows.filter((row) => row.doubt.urn === doubt.urn && row.does.kind === "put");
  if (rivals.length < 2) return does;
  const { item, occupant } = does;
  const why = "several creates of this resource have left an instance";
  return { kind: "ask", whom: "a person", items: [item], why, occupant, by: "take" };
}

/** In a sandbox, nothing is billed: what nobody can decide stops nobody. */
function sandboxed(doubt: CreateInDoubt, does: Does, { sightings, origin }: StackView): Does {
  if (does.kind !== "ask" || does.whom !== "a person") return does;
  const isKnown = sightings.get(doubt)?.kind !== "unvouched";
  const kind = doubt.record?.tokenKind ?? (isKnown ? origin?.tokenKind : undefined);
  const { items, why } = does;
  return kind === "test" ? { kind: "gone", because: "sandbox", items, why } : does;
}
