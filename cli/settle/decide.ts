/**
 * Decides what becomes of each resource with creates in doubt, as a pure function of what ledgers, states and listings show.
 * Without a person's word, only what is surely the resource's is put into a state, and never in the place of a server.
 */
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import { whyNotResumed } from "../../provider/create/protocol";
import {
  presentIn,
  whyHomeless,
  type PendingCreate,
  type StackState,
  type StateResource,
} from "../state";
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
  /** The instance with the recorded id, or else those with the name. States may hold them. */
  | { readonly kind: "listed"; readonly items: readonly ListItem[] }
  | { readonly kind: "absent" }
  /** The create was sent to another service, with another kind of token, or from another account. */
  | { readonly kind: "elsewhere"; readonly why: string }
  /** Nothing shows that the listings are of the service and token to which the create was sent. */
  | { readonly kind: "unvouched"; readonly why: string }
  | { readonly kind: "open"; readonly why: string };

/** What a person has decided by an option or an answer. A resource is named by its name, as it is typed, or by its URN. */
export interface Choices {
  /** `RESOURCE=ID`: this instance is the resource's. */
  readonly take: readonly string[];
  /** The resources that are to have nothing of what their creates have left. */
  readonly forget: readonly string[];
}

/** What is known of a stack. */
export interface StackView extends Listed {
  readonly state: StackState;
  readonly held: HeldInstances;
  /** The creates to decide about, none of whose runs is under way, and what the listings show of each. */
  readonly sightings: ReadonlyMap<CreateInDoubt, Sighting>;
}

/** What `settle` does about a create. `items` are the listed instances that may be the resource's, and that no state holds. */
export type Does =
  /** A state holds the instance. */
  | { kind: "held"; holder: StateResource }
  /** The create has left nothing. */
  | { kind: "absent" }
  /** A person gives the create up or, in a sandbox, nobody has to look at it. */
  | { kind: "gone"; because: "forgotten" | "sandbox"; items: readonly ListItem[]; why?: string }
  /** The `item` comes into the state, in the place of the `occupant`, which the next `up` deletes or drops. */
  | {
      kind: "put";
      item: ListItem;
      items: readonly ListItem[];
      pending: PendingCreate;
      occupant: string | undefined;
    }
  /** Only other settings show what the create has made. */
  | { kind: "elsewhere"; why: string }
  | OpenDoubt;

/** What is open about a create. */
interface OpenDoubt {
  kind: "ask";
  /** Who decides. The next `up` goes on with the create, or makes no second instance, even if the state forgets the create. */
  whom: "a person" | "the next up";
  items: readonly ListItem[];
  why: string;
  /** The id of what the state has for the resource now. */
  occupant: string | undefined;
  /** How the instance comes into the state, if it can. */
  by: "take" | "import" | undefined;
}

/** What becomes of a resource, which several killed runs may have tried to create. */
export interface Row {
  readonly creates: readonly CreateInDoubt[];
  /** The create whose verdict won (`ranks`). */
  readonly doubt: CreateInDoubt;
  readonly does: Does;
}

type Takes = ReadonlyMap<CreateInDoubt, string>;

/** Decides what becomes of each resource with creates in doubt. */
export function decideAll(view: StackView, { take, forget }: Choices): Row[] {
  const doubts = [...view.sightings.keys()];
  const takes = new Map<CreateInDoubt, string>();
  for (const word of take) {
    const ofUrn = doubts.filter(({ urn }) => word.startsWith(`${urn}=`));
    const mayHaveMade = (doubt: CreateInDoubt) =>
      listedFor(doubt, view).some(({ id }) => word === `${doubt.urn}=${id}`);
    const taker = ofUrn.find(mayHaveMade) ?? ofUrn[0];
    if (taker) takes.set(taker, word.slice(taker.urn.length + 1));
  }
  return [...Map.groupBy(view.sightings, ([{ urn }]) => urn)].flatMap(([urn, seen]) => {
    const creates = seen.map(([doubt]) => doubt);
    const choice = { takes, isForgotten: forget.includes(urn) };
    const decided = seen.map(([doubt, sighting]) => {
      const does = decide(doubt, sighting, view, choice);
      return { creates, doubt, does: giveUpInSandbox(does, sighting, view) };
    });
    const rankOf = ({ does }: Row) => ranks.indexOf(does.kind);
    return decided.sort((one, other) => rankOf(one) - rankOf(other)).slice(0, 1);
  });
}

/** Worst first: the worst of what is decided about the creates of a resource stands for all of them. */
const ranks: readonly Does["kind"][] = ["elsewhere", "ask", "put", "held", "gone", "absent"];

/** Whether the state has a pending create of the resource. */
export function isPending({ creates }: Row): boolean {
  return creates.some(({ pending }) => pending);
}

/**
 * Returns the rows that prevent a change of the state. A change loses all pending creates, so the next `up` has to find the instance
 * of each create that stays open: by its file, or by its generated name.
 */
export function obstaclesIn(rows: readonly Row[]): readonly Row[] {
  const isLost = ({ record, isGenerated }: CreateInDoubt) => !record && !isGenerated;
  return rows.filter(
    (row) => isPending(row) && isOpen(row) && (isForPerson(row.does) || row.creates.some(isLost)),
  );
}

/** Whether the state may be changed. `isBlocked`: it must not be changed at all. */
export function mayChange(rows: readonly Row[], isBlocked = false): boolean {
  return !isBlocked && obstaclesIn(rows).length === 0;
}

/** Returns the rows that can be carried out. `letRun`: the resources of which the state is to note what a person lets run. */
export function doableOf(
  rows: readonly Row[],
  letRun: readonly { urn: string }[],
  isBlocked = false,
): readonly Row[] {
  const canChange = mayChange(rows, isBlocked);
  const isNoted = ({ doubt }: Row) => letRun.some(({ urn }) => urn === doubt.urn);
  return rows.filter((row) => !isOpen(row) && (canChange || !(isPending(row) || isNoted(row))));
}

/** Whether nothing can be done about the resource now. */
export function isOpen({ does: { kind } }: Row): boolean {
  return kind === "ask" || kind === "elsewhere";
}

/** Whether a person has to decide. */
export function isForPerson(does: Does): does is OpenDoubt & { whom: "a person" } {
  return does.kind === "ask" && does.whom === "a person";
}

function decide(
  doubt: CreateInDoubt,
  seen: Sighting,
  view: StackView,
  { takes, isForgotten }: { takes: Takes; isForgotten: boolean },
): Does {
  const takenId = takes.get(doubt);
  const taken = takenId === undefined ? undefined : decideTake(doubt, view, takenId, takes);
  // A printed command repeats earlier options, so a `--forget` that was added to it wins over a `--take` that fails.
  if (taken && (!isForgotten || taken.kind !== "ask")) return taken;
  // A `--take` for this URN settles its other creates, too.
  if (isForgotten || [...takes.keys()].some(({ urn }) => urn === doubt.urn))
    return { kind: "gone", because: "forgotten", items: rivalsFor(doubt, view) };
  const holder = holderOf(doubt, view.held, view);
  if (holder) return { kind: "held", holder };
  if (seen.kind === "elsewhere") return seen;
  if (doubt.record?.liveness === "unknown")
    return asking(
      doubt,
      view,
      "whether its run has ended is not known, because files can't be locked here",
    );
  switch (seen.kind) {
    case "absent":
      return { kind: "absent" };
    case "listed":
      return judgeListed(doubt, view);
    case "unvouched":
      // The next `up` asks the listing of the create's own service for a generated name.
      return asking(doubt, view, seen.why, {
        whom: doubt.isGenerated ? "the next up" : "a person",
      });
    case "open":
      return asking(doubt, view, seen.why);
  }
}

function judgeListed(doubt: CreateInDoubt, view: StackView): Does {
  const [item] = candidatesOf(doubt, view);
  if (!item) return { kind: "absent" };
  if (rivalsFor(doubt, view).length > 1)
    return asking(doubt, view, "several may be the resource's");
  if (!isSure(doubt, item))
    return asking(doubt, view, "a name that the program chose proves nothing");
  if (presentIn(view.state, doubt.urn) === undefined) return decidePut(doubt, view, item);
  return isResumable(doubt, view)
    ? asking(doubt, view, "a run that replaced it has ended early", { whom: "the next up" })
    : asking(doubt, view, "only a person can say which of the two serves");
}

/** Whether the create has surely made this instance: by the id in its record or, without an id, by the name if that was generated. */
function isSure({ name, isGenerated, record }: CreateInDoubt, item: ListItem): boolean {
  if (record?.id !== undefined) return record.id === item.id;
  return isGenerated && name !== undefined && isNamed(item.name, name);
}

/** Whether the file of the create lets the next create of the resource take the instance over, if the program is the same. */
function isResumable(doubt: CreateInDoubt, view: StackView): boolean {
  const { urn, record } = doubt;
  if (!record?.isHere || record.urn !== urn) return false;
  const scope = view.state.resources.find(({ id }) => id === record.scope)?.id;
  const identity = { scope, digest: record.digest };
  const found = { items: listedFor(doubt, view), shown: new Set<string>() };
  return scope !== undefined && whyNotResumed(identity, record, found) === undefined;
}

/** Decides to put the instance into the state, if the state has a place for it. Otherwise it asks a person. */
function decidePut(doubt: CreateInDoubt, view: StackView, item: ListItem): Does {
  const { pending } = doubt;
  const why = pending ? whyHomeless(pending, view.state) : "the state knows nothing of this create";
  if (!pending || why !== undefined) return asking(doubt, view, why ?? "", { items: [item] });
  const rivals = rivalsFor(doubt, view).filter(({ id }) => id !== item.id);
  const occupant = presentIn(view.state, doubt.urn)?.id;
  return { kind: "put", item, items: [item, ...rivals], pending, occupant };
}

/** Decides about the instance that a person names. An id is refused if it could put one instance into two resources, or lose one. */
function decideTake(doubt: CreateInDoubt, view: StackView, id: string, takes: Takes): Does {
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
  if (candidates.some((candidate) => candidate.id === id)) return decidePut(doubt, view, item);
  // If the server was renamed, there is no candidate, and any id is accepted.
  if (candidates.length > 0) return refuse("which has another name");
  const isOther = (other: CreateInDoubt) =>
    other.urn !== doubt.urn && listedFor(other, view).some((one) => one.id === id);
  const maker = [...view.sightings.keys()].find(isOther);
  return maker ? refuse(`which is that of ${maker.urn}`) : decidePut(doubt, view, item);
}

/** Returns the instances that the listings showed for the create, also those that a state holds. */
function listedFor(doubt: CreateInDoubt, { sightings }: StackView): readonly ListItem[] {
  const seen = sightings.get(doubt);
  return seen?.kind === "listed" ? seen.items : [];
}

/** Returns `listedFor` or, if that is empty, all listed instances that may be the create's. What a state holds is left out. */
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

/** Returns the `candidatesOf` of all creates of the resource. */
function rivalsFor({ urn }: CreateInDoubt, view: StackView): readonly ListItem[] {
  const creates = [...view.sightings.keys()].filter((other) => other.urn === urn);
  const items = creates.flatMap((create) => candidatesOf(create, view));
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

/** Returns the question about a create. By default it is a person's, about all that may be the resource's instance. */
function asking(
  doubt: CreateInDoubt,
  view: StackView,
  why: string,
  { whom = "a person", items }: Partial<Pick<OpenDoubt, "whom" | "items">> = {},
): OpenDoubt {
  const { pending } = doubt;
  const occupant = presentIn(view.state, doubt.urn)?.id;
  const isHome = pending && whyHomeless(pending, view.state) === undefined;
  const by = isHome ? "take" : occupant === undefined ? "import" : undefined;
  return { kind: "ask", whom, items: items ?? rivalsFor(doubt, view), why, occupant, by };
}

/** In a sandbox nothing is billed, so an open question is given up. */
function giveUpInSandbox(does: Does, { kind }: Sighting, { origin }: StackView): Does {
  if (!isForPerson(does) || kind === "unvouched" || origin?.tokenKind !== "test") return does;
  const { items, why } = does;
  return { kind: "gone", because: "sandbox", items, why };
}
