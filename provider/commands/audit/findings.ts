/** From the looks of an audit to what is said: only what both looks agree on is a finding. */
import { importCommand, nameCursor } from "../../advice";
import type { ListItem } from "../../api/contract";
import type { LedgerRecord } from "../../ledger/record";
import { isSamePlace } from "../../origin";
import type { HeldInstance } from "../pulumi";
import type { Listed, Looks, Stacks } from "./look";
import { isResumed, type OpenCreate } from "../openCreates";
import { isOfThisMachine, type Report, type Resource } from "./report";

/** What `openCreates` gives. */
type Open = LedgerRecord & Pick<OpenCreate, "isHere">;

export type Undecided = Report["undecided"][number];

export function summarise(
  looks: Looks,
  open: readonly Open[],
  failures: readonly Undecided[],
): Report {
  const { places, stacks, first, second } = looks;
  const newest = second?.comparison ?? first;
  const all = second ? [stacks, second.stacks] : [stacks];
  const held = all.flatMap(({ states }) => states.flatMap(({ instances }) => instances));
  const unread = new Map(all.flatMap((it) => it.unread).map((it) => [it.stack, it.problem]));
  const openCreates = openOf(open, held, stacks, second?.stacks);
  const orphans = orphansOf(looks, unread.size > 0);
  const gone = goneOf(looks);
  return {
    services: places.map(({ origin: { baseUrl, tokenKind, account }, listing }) => ({
      ...{ baseUrl, tokenKind, ...(account === undefined ? {} : { account }) },
      ...{ listed: listing.items.size, complete: listing.complete },
    })),
    stacks: {
      read: stacks.states.length,
      withInstances: stacks.states.filter(({ instances }) => instances.length > 0).length,
    },
    managed: newest.managed.map(managed),
    inSeveral: newest.managed.filter(({ holders }) => holders.length > 1).map(managed),
    inNoStack: orphans.sure.map(({ item, place }) => ({
      ...orphan(item, place),
      ...noteOn(item, place, open, openCreates, held),
    })),
    gone: gone.sure,
    undecided: [
      ...failures,
      ...[...unread].map(([stack, why]) => ({ what: `stack ${stack}`, why })),
      ...places
        .filter(({ listing }) => !listing.complete)
        .map(({ origin, listing }) => ({ what: origin.baseUrl, why: whyIncomplete(listing) })),
      ...orphans.undecided,
      ...gone.undecided,
    ],
    openCreates,
    notComparable: newest.elsewhere.map(({ held: { id, stack, urn }, why }) => ({
      ...{ id, stack, urn, why },
    })),
  };
}

/** In no stack at either look; what was made between them, the next audit tells. */
function orphansOf({ first, second }: Looks, isSomeUnread: boolean) {
  const sure: { place: Listed; item: ListItem }[] = [];
  const undecided: Undecided[] = [];
  for (const { place, item } of second?.comparison.unheld ?? []) {
    const isOrphan = first.unheld.some(
      (it) => it.item.id === item.id && it.place.service === place.service,
    );
    if (!isOrphan) continue;
    const what = `instance ${item.id} "${item.name ?? ""}"`;
    if (item.status === "PROVISIONING") {
      const why = "in no stack, but PROVISIONING: a run may be just creating it";
      undecided.push({ what, why });
    } else if (isSomeUnread) undecided.push({ what, why: "in no stack that could be read" });
    else sure.push({ place, item });
  }
  return { sure, undecided };
}

/** Held at both looks, and proven gone. */
function goneOf({ verdicts, second }: Looks) {
  const isStillHeld = ({ stack, urn, id }: HeldInstance) =>
    second === undefined ||
    second.stacks.states.some(({ instances }) =>
      instances.some((it) => it.stack === stack && it.urn === urn && it.id === id),
    );
  const sure: (Resource & { id: string })[] = [];
  const undecided: Undecided[] = [];
  for (const { held, presence } of verdicts) {
    if (presence.kind === "found" || !isStillHeld(held)) continue;
    const { id, stack, urn } = held;
    if (presence.kind === "gone") sure.push({ id, stack, urn });
    else undecided.push({ what: `instance ${id} of ${stack}`, why: presence.why });
  }
  return { sure, undecided };
}

function managed({ item, holders }: Looks["first"]["managed"][number]) {
  return { ...shown(item), resources: holders.map(({ stack, urn }) => ({ stack, urn })) };
}

function shown({ id, name = "", status = "" }: ListItem) {
  return { id, name, status };
}

function orphan(item: ListItem, { origin: { baseUrl, tokenKind } }: Listed) {
  const { ipv4_public: ipv4 } = item;
  return { ...shown(item), ...{ baseUrl, tokenKind }, ...(ipv4 ? { ipv4 } : {}) };
}

/** What is known of an orphan all the same. */
function noteOn(
  { id, name }: ListItem,
  { origin }: Listed,
  open: readonly Open[],
  openCreates: Report["openCreates"],
  held: readonly HeldInstance[],
): { note?: string } {
  const create = open.find((it) => it.id === id && isSamePlace(it, origin));
  if (create && !isResumed(create)) {
    const how = importCommand(create, id);
    return { note: `an earlier run created it for ${create.urn}: \`${how}\` takes it over` };
  }
  if (create) {
    const where = create.isHere ? "" : " with another state backend";
    return { note: `the next \`pulumi up\`${where} takes it over as ${create.urn}` };
  }
  const pending = openCreates.filter((it) => it.name === name && !isOfThisMachine(it));
  const [only] = pending;
  if (name !== undefined && only && pending.length === 1) {
    return { note: `it has the name of a pending create: \`${importCommand(only, id)}\`` };
  }
  const reader = held.find((it) => it.id === id && it.external);
  return reader ? { note: `${reader.stack} reads it, and does not manage it` } : {};
}

/** Of the ledger, what no stack holds since; of the stacks, what is pending in both looks. */
function openOf(
  open: readonly Open[],
  held: readonly HeldInstance[],
  first: Stacks,
  second: Stacks | undefined,
): Report["openCreates"] {
  const isHeld = ({ id, urn }: Open) => held.some((it) => it.id === id && it.urn === urn);
  const later = second?.states.flatMap(({ stack, pending }) =>
    pending.map(({ urn }) => stack + urn),
  );
  const pending = first.states.flatMap(({ stack, pending }) =>
    pending.filter(({ urn }) => later?.includes(stack + urn)).map((it) => ({ stack, ...it })),
  );
  const left = open.filter((it) => it.isHere && !isHeld(it));
  return [
    ...left.map(({ urn, name, at, id }) => ({
      ...pending.find((it) => it.urn === urn),
      ...{ urn, name, at, ...(id === undefined ? {} : { id }) },
    })),
    ...pending.filter((it) => !left.some(({ urn }) => urn === it.urn)),
  ];
}

function whyIncomplete({ unreadable }: Listed["listing"]): string {
  return unreadable > 0
    ? "its listing holds items that can't be read"
    : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
}
