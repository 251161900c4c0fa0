/**
 * Decides what becomes of each create in doubt, as a pure function of what ledgers, states and listings show. Nothing is put
 * into a state that is not surely the resource's, and unless a person says so, nothing in the place of a server.
 */
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import { whyNotResumed } from "../../provider/instance/protocol";
import { isListedAt } from "../compare";
import type { Resource } from "../pulumi";
import { hasId, mayBe, occupantOf, whyForeign, type Doubt, type Listed } from "./doubts";
import { whyHomeless, type PendingCreate } from "./exported";

/** An instance in a state. */
export type Held = Readonly<Pick<Resource, "stack" | "urn" | "id" | "origin">>;

/** What the listings show of a create's instance. */
export type Evidence =
  /** The instances that may be the create's, whether or not a state holds them: that of the id alone, or those of the name. */
  | { readonly kind: "listed"; readonly items: readonly ListItem[] }
  | { readonly kind: "absent" }
  /** Nothing shows that the listings are of the place to which the create was sent. */
  | { readonly kind: "unvouched"; readonly why: string }
  | { readonly kind: "open"; readonly why: string };

/** What a person has decided on the command line, or when asked. */
export interface Choices {
  /** As `URN=ID`: this instance is the resource's. Both may contain an equals sign. */
  readonly take: readonly string[];
  /** The URNs of the creates that have left nothing that the resource is to have. */
  readonly forget: ReadonlySet<string>;
}

/** All that is known when it is decided. */
export interface View extends Listed {
  readonly stack: string;
  /** By id, the instances in the states of all stacks. Two services may use equal ids. */
  readonly held: ReadonlyMap<string, readonly Held[]>;
  readonly evidence: ReadonlyMap<Doubt, Evidence>;
  /** The ids of the instances in the place of a create that are proven gone. */
  readonly gone: ReadonlySet<string>;
  readonly choices: Choices;
}

/**
 * What `settle` does about a create. `items` are the listed instances that may be the resource's, and that no state holds;
 * `occupant` is the id of what the state has for the resource now, unless that is gone.
 */
export type Does =
  /** A state holds the instance. */
  | { kind: "held"; holder: Held }
  /** It has left nothing, a person gives it up or, in a sandbox, nobody has to look at it. */
  | {
      kind: "gone";
      because: "absent" | "forgotten" | "sandbox";
      items: readonly ListItem[];
      why?: string;
    }
  /** Its instance comes into the state, in the place of what that has, which the next `up` deletes. */
  | { kind: "put"; item: ListItem; pending: PendingCreate; occupant: string | undefined }
  /** The next `up` goes on with it, or makes nothing twice. The state need not know the create. */
  | ({ kind: "left" } & Question)
  /** A person decides. `by` is how the instance comes into the state, if it can. */
  | ({ kind: "ask"; by: "take" | "import" | undefined } & Question)
  /** Its run is under way. */
  | { kind: "running" };

/** What is open about a create. */
interface Question {
  items: readonly ListItem[];
  why: string;
  occupant: string | undefined;
}

/** A create in doubt, and what becomes of it. */
export interface Row {
  readonly doubt: Doubt;
  readonly does: Does;
}

type Takes = ReadonlyMap<Doubt, string>;

/** Decides what becomes of these creates, in their order. */
export function decideAll(doubts: readonly Doubt[], view: View): Row[] {
  const takes = new Map<Doubt, string>();
  for (const word of view.choices.take) {
    const urn = takenUrn(word, doubts);
    const id = word.slice((urn?.length ?? 0) + 1);
    const taker = doubts.filter((doubt) => doubt.urn === urn).sort(firstToTake(id, view))[0];
    if (taker) takes.set(taker, id);
  }
  const rows = doubts.map((doubt) => ({ doubt, does: decide(doubt, view, takes) }));
  return rows.map((row) => ({
    ...row,
    does: sandboxed(row.doubt, oneForEach(row, rows, takes), view),
  }));
}

/** Returns the URN in a word of `--take`: the longest one with a create in doubt. */
export function takenUrn(word: string, doubts: readonly Doubt[]): string | undefined {
  const urns = doubts.map(({ urn }) => urn).filter((urn) => word.startsWith(`${urn}=`));
  return urns.sort((one, other) => other.length - one.length)[0];
}

/** Of several creates of a resource, that takes the instance which may have made it, or else one that the state knows. */
function firstToTake(id: string, view: View): (one: Doubt, other: Doubt) => number {
  const rank = (doubt: Doubt) =>
    Number(listedFor(doubt, view).some((item) => item.id === id)) * 2 +
    Number(doubt.pending.length > 0);
  return (one, other) => rank(other) - rank(one);
}

/**
 * Returns the rows that can be carried out. A state loses all its pending creates when it is changed. So it is changed only if none
 * of them needs a person. `isBlocked`: it must not be changed at all.
 */
export function doableOf(rows: readonly Row[], isBlocked = false): readonly Row[] {
  const decided = rows.filter(({ does }) => ["held", "gone", "put"].includes(does.kind));
  const isInState = ({ doubt }: Row) => doubt.pending.length > 0;
  const isKept = rows.some((row) => isInState(row) && ["ask", "running"].includes(row.does.kind));
  return isKept || isBlocked ? decided.filter((row) => !isInState(row)) : decided;
}

function decide(doubt: Doubt, view: View, takes: Takes): Does {
  const { record, urn } = doubt;
  const isForgotten = view.choices.forget.has(urn);
  if (record?.liveness === "alive") return { kind: "running" };
  const takenId = takes.get(doubt);
  const taken = takenId === undefined ? undefined : take(doubt, view, takenId, takes);
  // A printed command repeats what was given: if the instance can't be taken, what was added counts.
  if (taken && (!isForgotten || ["put", "held"].includes(taken.kind))) return taken;
  // What the resource has is decided, so its other creates have left nothing for it.
  if (isForgotten || [...takes.keys()].some((other) => other.urn === urn))
    return { kind: "gone", because: "forgotten", items: candidatesOf(doubt, view) };
  const holder = record?.id === undefined ? undefined : holderOf(doubt, view, record.id);
  if (holder) return { kind: "held", holder };
  if (record?.liveness === "unknown") return asking(doubt, view, unknownRun);
  const seen = view.evidence.get(doubt) ?? { kind: "open", why: "it was not looked for" };
  switch (seen.kind) {
    case "absent":
      return { kind: "gone", because: "absent", items: [] };
    case "listed":
      return judgeListed(doubt, view, seen.items);
    case "unvouched":
      // The next `up` asks the listing of its own place for a generated name.
      return doubt.isGenerated ? leaving(doubt, view, seen.why) : asking(doubt, view, seen.why);
    case "open":
      return asking(doubt, view, seen.why);
  }
}

const unknownRun = "whether its run has ended is not known, because files can't be locked here";

function judgeListed(doubt: Doubt, view: View, listed: readonly ListItem[]): Does {
  // The state got the instance from a later run, which went on with this create.
  const holder =
    doubt.isGenerated && listed.map(({ id }) => holderOf(doubt, view, id)).find(Boolean);
  if (holder) return { kind: "held", holder };
  const [item, ...others] = candidatesOf(doubt, view);
  if (!item) return { kind: "gone", because: "absent", items: [] };
  if (others.length > 0) return asking(doubt, view, "several have the name");
  if (!isSure(doubt, item))
    return asking(doubt, view, "a name that the program chose proves nothing");
  if (occupantIn(doubt, view) === undefined) return put(doubt, view, item);
  return isResumable(doubt, view, listed)
    ? leaving(doubt, view, "a run that replaced it has ended early")
    : asking(doubt, view, "only a person can say which of the two serves");
}

/** Whether the file of the create lets the next create of the resource take the instance over, if the program is the same. */
function isResumable({ urn, record }: Doubt, { state }: View, items: readonly ListItem[]): boolean {
  if (!record?.isHere || record.urn !== urn || record.liveness !== "dead") return false;
  const scope = state.resources.find(({ id }) => id === record.scope)?.id;
  const own = { scope, digest: record.digest };
  return (
    scope !== undefined && whyNotResumed(own, record, { items, shown: new Set() }) === undefined
  );
}

/** Puts the instance into the state, if that has a place for it. Otherwise a person has to import it. */
function put(doubt: Doubt, view: View, item: ListItem): Does {
  const [pending] = doubt.pending;
  const why =
    whyForeign(doubt, view) ??
    (pending
      ? whyHomeless(pending.resource, view.state)
      : "the state knows nothing of this create");
  if (!pending || why !== undefined) return asking(doubt, view, why ?? "", [item]);
  return { kind: "put", item, pending, occupant: occupantIn(doubt, view) };
}

/** Puts the instance that a person names into the state. A slip is refused: it could put one instance there twice, and lose another. */
function take(doubt: Doubt, view: View, id: string, takes: Takes): Does {
  const holder = holderOf(doubt, view, id);
  if (holder?.stack === view.stack && holder.urn === doubt.urn) return { kind: "held", holder };
  const refuse = (why: string) => asking(doubt, view, `--take names ${id}, ${why}`);
  if ([...takes].some(([other, taken]) => other !== doubt && taken === id))
    return refuse("which another --take names");
  if (holder) return refuse(`which ${holder.stack} has, as ${holder.urn}`);
  const item = view.items.get(id);
  if (!item) return refuse("which the service does not list");
  const candidates = candidatesOf(doubt, view);
  if (candidates.some((candidate) => candidate.id === id)) return put(doubt, view, item);
  const isOf = (one: Doubt) => listedFor(one, view).some((listed) => listed.id === id);
  const maker = [...view.evidence.keys()].find((other) => other.urn !== doubt.urn && isOf(other));
  if (maker) return refuse(`which is that of ${maker.urn}`);
  // A server that was renamed leaves none of its name.
  return candidates.length > 0 ? refuse("which has another name") : put(doubt, view, item);
}

/** Returns the instances that the search for the create's has found. */
function listedFor(doubt: Doubt, { evidence }: View): readonly ListItem[] {
  const seen = evidence.get(doubt);
  return seen?.kind === "listed" ? seen.items : [];
}

/** Returns the listed instances that may be the create's, and that no state holds. */
function candidatesOf(doubt: Doubt, view: View): readonly ListItem[] {
  const { evidence, items, origin } = view;
  const others = [...evidence.keys()].filter((other) => other !== doubt);
  const listed =
    evidence.get(doubt)?.kind === "listed"
      ? listedFor(doubt, view)
      : [...items.values()].filter(
          (item) =>
            mayBe(doubt, item, origin) && !others.some((other) => hasId(other, item.id, origin)),
        );
  return listed.filter(({ id }) => !holderOf(doubt, view, id));
}

/** Returns the state's instance with this id at the place of the create. What the resource has under this id is the same. */
function holderOf(
  { urn, record }: Pick<Doubt, "urn" | "record">,
  { held, origin, stack }: View,
  id: string,
): Held | undefined {
  const place = record ?? origin;
  const isOwn = (one: Held) => one.stack === stack && one.urn === urn;
  return held.get(id)?.find((one) => isOwn(one) || (place !== undefined && isListedAt(one, place)));
}

/** Returns the question about a create. Without `given`, it is about all that may be its instance. */
function asking(doubt: Doubt, view: View, why: string, given?: ListItem[]): Does {
  const [pending] = doubt.pending;
  const isHome = pending && whyHomeless(pending.resource, view.state) === undefined;
  const by = isHome ? "take" : occupantOf(doubt.urn, view.state) ? undefined : "import";
  const isForeign = whyForeign(doubt, view) !== undefined;
  const items = isForeign ? [] : (given ?? candidatesOf(doubt, view));
  return { kind: "ask", items, why, occupant: occupantIn(doubt, view), by };
}

function leaving(doubt: Doubt, view: View, why: string): Does {
  const items = candidatesOf(doubt, view);
  return { kind: "left", items, why, occupant: occupantIn(doubt, view) };
}

function occupantIn({ urn }: Doubt, { state, gone }: View): string | undefined {
  const id = occupantOf(urn, state)?.id;
  return id !== undefined && gone.has(id) ? undefined : id;
}

/** Whether the create has surely made this instance: its record has the id, or this provider generated the name. */
function isSure({ name, isGenerated, record }: Doubt, item: ListItem): boolean {
  if (record?.id !== undefined) return record.id === item.id;
  return isGenerated && name !== undefined && isNamed(item.name, name);
}

/** A resource has one instance. Of several that could come into the state, a person chooses. */
function oneForEach({ doubt, does }: Row, rows: readonly Row[], takes: Takes): Does {
  if (does.kind !== "put" || takes.has(doubt)) return does;
  const rivals = rows.filter((row) => row.doubt.urn === doubt.urn && row.does.kind === "put");
  if (rivals.length < 2) return does;
  const { item, occupant } = does;
  const why = "several creates of this resource have left an instance";
  return { kind: "ask", items: [item], why, occupant, by: "take" };
}

/** In a sandbox, nothing is billed: what nobody can decide stops nobody. */
function sandboxed(doubt: Doubt, does: Does, { evidence, origin }: View): Does {
  if (does.kind !== "ask") return does;
  const isKnown = evidence.get(doubt)?.kind !== "unvouched";
  const kind = doubt.record?.tokenKind ?? (isKnown ? origin?.tokenKind : undefined);
  return kind === "test" ? { ...does, kind: "gone", because: "sandbox" } : does;
}
