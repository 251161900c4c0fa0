/** From the looks of an audit to what is said: only what both looks agree on is a finding. */
import { importCommand, nameCursor } from "../../advice";
import type { ListItem } from "../../api/contract";
import type { JournalEntry } from "../../journal/entry";
import { isSamePlace } from "../../origin";
import type { HeldInstance } from "../pulumi/state";
import type { Listed, Looks, Stacks } from "./look";
import { isOfThisMachine, type Report, type Resource } from "./report";

/** What `openCreates` gives. */
type Open = Pick<JournalEntry, "urn" | "name" | "at" | "id" | "baseUrl" | "tokenKind">;

export function summarise(
  { places, stacks, first, verdicts, second }: Looks,
  open: readonly Open[],
  failures: readonly string[],
): Report {
  const newest = second?.comparison ?? first;
  const all = second ? [stacks, second.stacks] : [stacks];
  const held = all.flatMap(({ states }) => states.flatMap(({ instances }) => instances));
  const unread = all.flatMap((it) => it.unread);
  const isStillHeld = ({ stack, urn, id }: HeldInstance) =>
    second === undefined ||
    second.stacks.states.some(({ instances }) =>
      instances.some((it) => it.stack === stack && it.urn === urn && it.id === id),
    );

  const undecided: { what: string; why: string }[] = [
    ...failures.map((why) => ({ what: "a service", why })),
    ...[...new Map(unread.map((it) => [it.stack, it])).values()].map(({ stack, problem }) => ({
      what: `stack ${stack}`,
      why: problem,
    })),
    ...places
      .filter(({ listing }) => !listing.complete)
      .map(({ origin, listing }) => ({ what: origin.baseUrl, why: whyIncomplete(listing) })),
  ];

  const openCreates = openOf(open, held, stacks, second?.stacks);
  const inNoStack: Report["inNoStack"][number][] = [];
  for (const { place, item } of second?.comparison.unheld ?? []) {
    const isOrphan = first.unheld.some(
      (it) => it.item.id === item.id && it.place.service === place.service,
    );
    // Made between the looks: the next audit tells.
    if (!isOrphan) continue;
    const what = `instance ${item.id} "${item.name ?? ""}"`;
    if (item.status === "PROVISIONING") {
      undecided.push({
        what,
        why: "in no stack, but PROVISIONING: a run may be just creating it",
      });
    } else if (unread.length > 0) {
      undecided.push({ what, why: "in no stack that could be read" });
    } else
      inNoStack.push({ ...orphan(item, place), ...noteOn(item, place, open, openCreates, held) });
  }

  const gone: (Resource & { id: string })[] = [];
  for (const { held, presence } of verdicts) {
    if (presence.kind === "found" || !isStillHeld(held)) continue;
    const { id, stack, urn } = held;
    if (presence.kind === "gone") gone.push({ id, stack, urn });
    else undecided.push({ what: `instance ${id} of ${stack}`, why: presence.why });
  }

  return {
    services: places.map(({ origin: { baseUrl, tokenKind, account }, listing }) => ({
      ...{ baseUrl, tokenKind, ...(account === undefined ? {} : { account }) },
      ...{ listed: listing.items.size, complete: listing.complete },
    })),
    stacks: {
      read: stacks.states.length,
      withInstances: stacks.states.filter(({ instances }) => instances.length > 0).length,
    },
    managed: newest.managed.map(({ item, holders }) => ({
      ...shown(item),
      resources: resources(holders),
    })),
    inSeveral: newest.managed
      .filter(({ holders }) => holders.length > 1)
      .map(({ item, holders }) => ({ ...shown(item), resources: resources(holders) })),
    ...{ inNoStack, gone, undecided, openCreates },
    notComparable: newest.elsewhere.map(({ held: { id, stack, urn }, why }) => ({
      ...{ id, stack, urn, why },
    })),
  };
}

function shown({ id, name = "", status = "" }: ListItem) {
  return { id, name, status };
}

function orphan(item: ListItem, { origin: { baseUrl, tokenKind } }: Listed) {
  const { ipv4_public: ipv4 } = item;
  return { ...shown(item), ...{ baseUrl, tokenKind }, ...(ipv4 ? { ipv4 } : {}) };
}

function resources(holders: readonly HeldInstance[]): Resource[] {
  return holders.map(({ stack, urn }) => ({ stack, urn }));
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
  if (create) return { note: `the next \`pulumi up\` takes it over as ${create.urn}` };
  const pending = openCreates.filter((it) => it.name === name && !isOfThisMachine(it));
  const [only] = pending;
  if (name !== undefined && only && pending.length === 1) {
    return { note: `it has the name of a pending create: \`${importCommand(only, id)}\`` };
  }
  const reader = held.find((it) => it.id === id && it.external);
  return reader ? { note: `${reader.stack} reads it, and does not manage it` } : {};
}

/** Of the journal, what no stack holds since; of the stacks, what is pending in both looks. */
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
  const noted = open.filter((it) => !isHeld(it));
  return [
    ...noted.map(({ urn, name, at, id }) => ({
      ...pending.find((it) => it.urn === urn),
      ...{ urn, name, at, ...(id === undefined ? {} : { id }) },
    })),
    ...pending.filter((it) => !noted.some(({ urn }) => urn === it.urn)),
  ];
}

function whyIncomplete({ unreadable }: Listed["listing"]): string {
  return unreadable > 0
    ? "its listing holds items that can't be read"
    : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
}
