/**
 * Decides what becomes of each create in doubt, as a pure function of what ledgers, states and listings show. Nothing is put
 * into a state that is not surely the resource's, and nothing takes the place of a server without a proof that it came later.
 */
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import type { CreateInDoubt } from "../creates";
import type { Doubt } from "./doubts";
import {
  whyHomeless,
  type ExportedState,
  type PendingCreate,
  type StateResource,
} from "./exported";

/** An instance in a state. */
export interface Held {
  readonly stack: string;
  readonly urn: string;
}

/** What the listings show of a create's instance. */
export type Evidence =
  /** The instances that may be the create's, whether or not a state holds them: that of the id alone, or those of the name. */
  | { readonly kind: "listed"; readonly items: readonly ListItem[] }
  | { readonly kind: "absent" }
  /** Nothing is proven. `isElsewhere`: the settings may not reach the place where the create was sent. */
  | { readonly kind: "open"; readonly why: string; readonly isElsewhere: boolean };

/** What a person has decided on the command line, or when asked. */
export interface Choices {
  /** By URN, the id of the instance that is the resource's. */
  readonly take: ReadonlyMap<string, string>;
  /** The URNs of the creates that have left nothing that the resource is to have. */
  readonly forget: ReadonlySet<string>;
}

/** All that is known when it is decided. */
export interface View {
  readonly stack: string;
  readonly state: ExportedState;
  /** By id, the instances in the states of all stacks. */
  readonly held: ReadonlyMap<string, Held>;
  readonly evidence: ReadonlyMap<Doubt, Evidence>;
  /** What the service lists, by id. */
  readonly items: ReadonlyMap<string, ListItem>;
  /** The kind of the token in use. Undefined if there is none. */
  readonly tokenKind: string | undefined;
  readonly choices: Choices;
}

/** What `settle` does about a create. */
type Does =
  /** A state holds the instance. */
  | { kind: "held"; holder: Held }
  /** It has left nothing. */
  | { kind: "absent" }
  /** A person gives it up or, in a sandbox, nobody has to look at it. */
  | { kind: "forget"; isSandbox: boolean; why?: string }
  /**
   * Its instance comes into the state. With `replaces`, in place of this instance, which the next `up` deletes. Other instances of
   * the name are named only: another create may have made them, or somebody else.
   */
  | {
      kind: "put";
      item: ListItem;
      pending: PendingCreate;
      replaces: string | undefined;
      namesakes: readonly string[];
    }
  /** Only a person can put the instance into the state. */
  | { kind: "import"; item: ListItem; why: string }
  /** A person decides. `items` may be the resource's, and `occupant` is what the state has for it now. */
  | { kind: "ask"; items: readonly ListItem[]; why: string; occupant: string | undefined }
  /** Its run is under way. */
  | { kind: "running" };

/** A create in doubt, and what becomes of it. */
export interface Row {
  readonly doubt: Doubt;
  readonly does: Does;
}

/** Decides what becomes of these creates, in their order. */
export function decideAll(doubts: readonly Doubt[], view: View): Row[] {
  const taken = new Map(
    [...view.choices.take].map(([urn, id]) => [takerOf(doubts, urn, id, view), id]),
  );
  const rows = doubts.map((doubt) => ({ doubt, does: decide(doubt, view, taken.get(doubt)) }));
  return rows.map((row) => ({
    ...row,
    does: sandboxed(row.doubt, oneForEach(row, rows, taken), view),
  }));
}

/**
 * Returns the rows that can be carried out. A state loses all its pending creates when it is changed. So it is changed only if each
 * of them is settled. `isBlocked`: it must not be changed at all.
 */
export function doableOf(rows: readonly Row[], isBlocked = false): readonly Row[] {
  const decided = rows.filter(({ does }) => !["ask", "import", "running"].includes(does.kind));
  const isInState = ({ doubt }: Row) => doubt.pending.length > 0;
  const isKept = rows.some((row) => isInState(row) && !decided.includes(row));
  return isKept || isBlocked ? decided.filter((row) => !isInState(row)) : decided;
}

/** Returns the create of this URN that may have made the instance, or else one that the state knows. */
function takerOf(doubts: readonly Doubt[], urn: string, id: string, view: View): Doubt | undefined {
  const ofUrn = doubts.filter((doubt) => doubt.urn === urn);
  const mayHaveMadeIt = (doubt: Doubt) => listedFor(doubt, view).some((item) => item.id === id);
  return ofUrn.find(mayHaveMadeIt) ?? ofUrn.find(({ pending }) => pending.length > 0) ?? ofUrn[0];
}

function decide(doubt: Doubt, view: View, takenId: string | undefined): Does {
  const { record } = doubt;
  const ask = asking(doubt, view);
  const holder = record?.id === undefined ? undefined : view.held.get(record.id);
  const isForgotten = view.choices.forget.has(doubt.urn);
  if (record?.liveness === "alive") return { kind: "running" };
  const taken = takenId === undefined ? undefined : take(doubt, view, takenId);
  // A printed command repeats what was given: if the instance can't be taken, what was added counts.
  if (taken && (!isForgotten || ["put", "held"].includes(taken.kind))) return taken;
  // What the resource has is decided, so its other creates have left nothing for it.
  if (isForgotten || view.choices.take.has(doubt.urn)) return { kind: "forget", isSandbox: false };
  if (holder) return { kind: "held", holder };
  if (record?.liveness === "unknown")
    return ask("whether its run has ended is not known, because files can't be locked here");
  const seen = view.evidence.get(doubt) ?? {
    kind: "open",
    why: "it was not looked for",
    isElsewhere: true,
  };
  if (seen.kind === "absent") return { kind: "absent" };
  return seen.kind === "open" ? ask(seen.why) : judgeListed(doubt, view, seen.items);
}

function judgeListed(doubt: Doubt, view: View, items: readonly ListItem[]): Does {
  // The state got the instance from a later run, which went on with this create.
  const holder = doubt.isGenerated && items.map(({ id }) => view.held.get(id)).find(Boolean);
  if (holder) return { kind: "held", holder };
  const ask = asking(doubt, view);
  const [item, ...others] = candidatesOf(doubt, view);
  if (!item) return { kind: "absent" };
  if (others.length > 0) return ask("several have the name", item, ...others);
  if (!isSure(doubt, item)) return ask("a name that the program chose proves nothing", item);
  const occupant = occupantOf(doubt.urn, view.state);
  if (occupant && doubt.pending.length === 0)
    return ask("the state has no pending create of it", item);
  const does = put(doubt, view, item);
  if (occupant && does.kind === "put" && !isLater(doubt.record, occupant))
    return ask("which of the two came later is not known", item);
  return does;
}

/** Puts the instance into the state, if that has a place for it. Otherwise a person has to import it. */
function put(doubt: Doubt, view: View, item: ListItem): Does {
  const [pending] = doubt.pending;
  if (!pending) return { kind: "import", item, why: "the state knows nothing of this create" };
  const homeless = whyHomeless(pending.resource, view.state);
  if (homeless !== undefined) return { kind: "import", item, why: homeless };
  const replaces = occupantOf(doubt.urn, view.state)?.id;
  return { kind: "put", item, pending, replaces, namesakes: namesakesOf(doubt, view, item) };
}

/** Returns the ids of the other listed instances of the name that no state holds, and that the create may have to do with. */
function namesakesOf({ name, record }: Doubt, { items, held }: View, { id }: ListItem): string[] {
  if (name === undefined) return [];
  const isNew = (other: string) =>
    other !== id && !held.has(other) && record?.before.has(other) !== true;
  return [...items.values()]
    .filter((other) => isNamed(other.name, name) && isNew(other.id))
    .map((other) => other.id);
}

/** Puts the instance that a person names into the state. A slip is refused: it could put one instance there twice, and lose another. */
function take(doubt: Doubt, view: View, id: string): Does {
  const holder = view.held.get(id);
  if (holder?.stack === view.stack && holder.urn === doubt.urn) return { kind: "held", holder };
  const candidates = candidatesOf(doubt, view);
  const refuse = (why: string) => asking(doubt, view)(`--take names ${id}, ${why}`, ...candidates);
  if (holder) return refuse(`which ${holder.stack} has, as ${holder.urn}`);
  const item = view.items.get(id);
  if (!item) return refuse("which the service does not list");
  const isOf = (one: Doubt) => candidatesOf(one, view).some((candidate) => candidate.id === id);
  if (isOf(doubt)) return put(doubt, view, item);
  const maker = [...view.evidence.keys()].find((other) => other.urn !== doubt.urn && isOf(other));
  if (maker) return refuse(`which is that of ${maker.urn}`);
  // A server that was renamed leaves none of its name.
  return candidates.length > 0 ? refuse("which has another name") : put(doubt, view, item);
}

/** Returns the listed instances that may be the create's. */
function listedFor(doubt: Doubt, { evidence }: View): readonly ListItem[] {
  const seen = evidence.get(doubt);
  return seen?.kind === "listed" ? seen.items : [];
}

/** Returns those of them that no state holds. */
function candidatesOf(doubt: Doubt, view: View): readonly ListItem[] {
  return listedFor(doubt, view).filter(({ id }) => !view.held.has(id));
}

/** Returns what makes the question about a create. */
function asking({ urn }: Doubt, { state }: View) {
  const occupant = occupantOf(urn, state)?.id;
  return (why: string, ...items: readonly ListItem[]): Does => ({
    kind: "ask",
    items,
    why,
    occupant,
  });
}

/** Whether the create has surely made this instance: its record has the id, or this provider generated the name. */
function isSure({ name, isGenerated, record, pending }: Doubt, item: ListItem): boolean {
  if (record?.id !== undefined) {
    const [first] = pending;
    // Another stack of the same name may have the record.
    const isSameScope = first === undefined || first.instance?.scope === record.scope;
    return record.id === item.id && isSameScope;
  }
  return isGenerated && name !== undefined && isNamed(item.name, name);
}

/** Returns the instance that a state has for a resource, unless it was deleted before its replacement was to be made. */
function occupantOf(urn: string, { resources }: ExportedState): StateResource | undefined {
  return resources.find((one) => one.urn === urn && !one.delete && !one.pendingReplacement);
}

/** Whether the create was sent after this instance had come into the state. A pending create alone may be older. */
function isLater(record: CreateInDoubt | undefined, { created }: StateResource): boolean {
  return record !== undefined && Date.parse(record.at) > Date.parse(created ?? "");
}

/** A resource has one instance. Of several that could come into the state, a person chooses. */
function oneForEach(
  { doubt, does }: Row,
  rows: readonly Row[],
  taken: ReadonlyMap<Doubt | undefined, string>,
): Does {
  if (does.kind !== "put" || taken.has(doubt)) return does;
  const rivals = rows.filter((row) => row.doubt.urn === doubt.urn && row.does.kind === "put");
  if (rivals.length < 2) return does;
  return {
    kind: "ask",
    items: [does.item],
    why: "several creates of this resource have left an instance",
    occupant: does.replaces,
  };
}

/** In a sandbox, nothing is billed: what nobody can decide stops nobody. */
function sandboxed(doubt: Doubt, does: Does, { evidence, tokenKind }: View): Does {
  if (does.kind !== "ask" && does.kind !== "import") return does;
  const seen = evidence.get(doubt);
  const isElsewhere = seen?.kind === "open" && seen.isElsewhere;
  const kind = doubt.record?.place.tokenKind ?? (isElsewhere ? undefined : tokenKind);
  if (kind !== "test") return does;
  const items = does.kind === "ask" ? does.items : [does.item];
  const why = [...items.map(({ id }) => `instance ${id}`), does.why].join("; ");
  return { kind: "forget", isSandbox: true, why };
}
