/**
 * `pulumi-resource-compute audit`: compares what the service lists with all stacks of the backend. It changes
 * nothing, and states are exported without their secrets.
 */
import type { Command } from "commander";
import { importCommand, nameCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { displayRecordedName } from "../ledger/record";
import { search } from "../listing/search";
import type { Listing } from "../listing/listing";
import { isSamePlace, originDifference, type Origin } from "../origin";
import { judge, type Existence } from "../instance/existence";
import { exitCodeOf, exitCodes, isOfThisMachine, printReport, type Report } from "./auditReport";
import { isResumed, openCreates, type OpenCreate } from "./openCreates";
import { type HeldInstance, readAllStates, type Stacks } from "./pulumi";
import { explained, type Listed, Service } from "./service";
import { addSettingOptions, settingsFor, type SettingOptions, stackHelp } from "./settings";
import { printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string[] };

type Undecided = Report["undecided"][number];

export function addAudit(program: Command, io: Terminal): void {
  const command = program
    .command("audit")
    .description("compare what the service lists with all stacks of the backend; changes nothing")
    .option("--json", "print the same as data")
    .option(
      "--stack <name>",
      `${stackHelp} Given again, the service of each such stack is listed. All stacks of the backend are compared in any case.`,
      (name: string, others: string[] = []) => [...others, name],
    )
    .addHelpText("after", `\nIt ends with:\n${exitCodes.join("\n")}`);
  const unused = ["deletePolicy", "destroyPath", "leftovers"] as const;
  addSettingOptions(command, unused).action(async (options: Options) => {
    const undecided: Undecided[] = [];
    const report = await audit(options, io, undecided);
    io.exitCode = report ? exitCodeOf(report) : 3;
    const result = io.exitCode === 0 ? "ok" : io.exitCode === 1 ? "found" : "undecided";
    if (options.json) printData({ result, undecided, ...report }, io);
    else if (report) printReport(report, io);
  });
}

/** Undefined where nothing could be compared; why has been said, and is added to `undecided`. */
async function audit(
  options: Options,
  io: Terminal,
  undecided: Undecided[],
): Promise<Report | undefined> {
  const cannot = (what: string, error: unknown) => {
    const lines = explained(error);
    lines.forEach((line) => io.warn(line));
    undecided.push({ what, why: lines.join(" ") });
  };
  const places: Listed[] = [];
  for (const stack of options.stack ?? [undefined]) {
    try {
      const place = await new Service(await settingsFor(stack, options, io), io).list();
      const { baseUrl, tokenHash } = place.origin;
      const isSame = ({ origin }: Listed) =>
        origin.baseUrl === baseUrl && origin.tokenHash === tokenHash;
      if (!places.some(isSame)) places.push(place);
    } catch (error) {
      cannot("a service", error);
    }
  }
  if (places.length === 0) return undefined;
  try {
    const looks = await lookTwice(places, io.env);
    const left = openCreates(io.env, (text) => io.warn(`warning: ${text}`));
    return reportOf(looks, left, undecided);
  } catch (error) {
    cannot("the stacks", error);
    return undefined;
  }
}

interface Look {
  places: readonly Listed[];
  stacks: Stacks;
  comparison: Comparison<Listed>;
}

interface Looks {
  first: Look;
  /** The first one again where that found no difference. */
  second: Look;
  /** Of what the first look missed. */
  verdicts: readonly { held: HeldInstance; presence: Existence }[];
}

/** Looks again where something differs: what a run has just made or removed is neither an orphan nor gone. */
async function lookTwice(places: readonly Listed[], env: NodeJS.ProcessEnv): Promise<Looks> {
  const stacks = await readAllStates(env);
  const held = stacks.states.flatMap(({ instances }) => instances);
  const comparison = compare(places, held);
  const first = { places, stacks, comparison };
  const hasPending = stacks.states.some(({ pending }) => pending.length > 0);
  if (comparison.unheld.length + comparison.missing.length === 0 && !hasPending) {
    return { first, second: first, verdicts: [] };
  }
  // A listing from before the states were read is no proof against what they hold.
  for (const { service } of places) service.session.listings.markWrite();
  const verdicts = await Promise.all(
    comparison.missing.map(async ({ place, held: missing }) => ({
      held: missing,
      presence: await existenceOf(missing, place, held),
    })),
  );
  const later = await readAllStates(env);
  const again = await Promise.all(places.map(({ service }) => service.list()));
  const heldLater = later.states.flatMap(({ instances }) => instances);
  const second = { places: again, stacks: later, comparison: compare(again, heldLater) };
  return { first, second, verdicts };
}

/** Whether it exists, by the proof that a refresh asks for (G3). */
function existenceOf(
  { id, origin: kept, acceptedAt }: HeldInstance,
  { service, origin }: Listed,
  all: readonly HeldInstance[],
): Promise<Existence> {
  const { session } = service;
  const { pollIntervalMs } = session.settings;
  const settledAt = acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
  const seenWithIt = all.filter(
    (it) => it.id !== id && it.origin !== undefined && it.origin.tokenHash === kept?.tokenHash,
  );
  const isSameTenant = (listed: ReadonlyMap<string, unknown>) =>
    kept?.tokenHash === origin.tokenHash || seenWithIt.some((it) => listed.has(it.id));
  return service.patiently(async (signal) => {
    const options = { pollIntervalMs, settledAt };
    return judge(session, await search(id, session.listings, options, signal), isSameTenant);
  });
}

interface Comparison<P> {
  /** Listed, with the resources that manage it. */
  managed: { place: P; item: ListItem; holders: readonly HeldInstance[] }[];
  /** Listed, and managed by no stack. */
  unheld: { place: P; item: ListItem }[];
  /** In a stack, and not listed where it lives. */
  missing: { place: P; held: HeldInstance }[];
  /** In a stack, and nothing was listed where it lives. */
  elsewhere: { held: HeldInstance; why: string }[];
}

/** What one look at the services and one at the stacks say of each other. */
export function compare<P extends { origin: Origin; listing: Pick<Listing, "items"> }>(
  places: readonly P[],
  all: readonly HeldInstance[],
): Comparison<P> {
  const holders = new Map<ListItem, HeldInstance[]>();
  const result: Comparison<P> = { managed: [], unheld: [], missing: [], elsewhere: [] };
  for (const held of all.filter(({ external }) => !external)) {
    const { origin, id } = held;
    // First the one of the very token that it was last seen with.
    const isSame = (place: P) => Number(place.origin.tokenHash === origin?.tokenHash);
    const near = places
      .filter((it) => !origin || originDifference(origin, it.origin) === undefined)
      .sort((a, b) => isSame(b) - isSame(a));
    const item = near.map(({ listing }) => listing.items.get(id)).find((it) => it !== undefined);
    const [place] = near;
    if (item) holders.set(item, [...(holders.get(item) ?? []), held]);
    else if (place && origin) result.missing.push({ place, held });
    else {
      const difference = origin && places[0] && originDifference(origin, places[0].origin);
      const unknown = origin ? "no listing was to be had" : "its state does not say where it lives";
      result.elsewhere.push({ held, why: difference ?? unknown });
    }
  }
  for (const place of places) {
    for (const item of place.listing.items.values()) {
      const its = holders.get(item);
      if (its) result.managed.push({ place, item, holders: its });
      else result.unheld.push({ place, item });
    }
  }
  return result;
}

/** Only what both looks agree on is a finding. */
function reportOf(
  { first, second, verdicts }: Looks,
  left: readonly OpenCreate[],
  failures: readonly Undecided[],
): Report {
  const heldIn = ({ states }: Stacks) => states.flatMap(({ instances }) => instances);
  const [heldFirst, heldLater] = [heldIn(first.stacks), heldIn(second.stacks)];
  const held = [...heldFirst, ...heldLater];
  const unreadStacks = [...first.stacks.unread, ...second.stacks.unread];
  const unread = new Map(unreadStacks.map(({ stack, problem }) => [stack, problem]));
  const undecided = [...failures];
  for (const [stack, why] of unread) undecided.push({ what: `stack ${stack}`, why });
  for (const { origin, listing } of first.places) {
    const { complete, unreadable } = listing;
    const why =
      unreadable > 0
        ? "its listing holds items that can't be read"
        : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
    if (!complete) undecided.push({ what: origin.baseUrl, why });
  }

  const pendingLater = second.stacks.states.flatMap(({ stack, pending }) =>
    pending.map(({ urn }) => stack + urn),
  );
  const pending = first.stacks.states.flatMap(({ stack, pending }) =>
    pending.filter(({ urn }) => pendingLater.includes(stack + urn)).map((it) => ({ stack, ...it })),
  );
  const ofLedger = left.filter(
    ({ isHere, record: { id, urn } }) =>
      isHere && !held.some((it) => it.id === id && it.urn === urn),
  );
  const creates: Report["openCreates"] = [
    ...ofLedger.map(({ record: { urn, name, at, id } }) => ({
      ...pending.find((it) => it.urn === urn),
      ...{ urn, name: displayRecordedName(name), at, ...(id === undefined ? {} : { id }) },
    })),
    ...pending.filter((it) => !ofLedger.some(({ record }) => record.urn === it.urn)),
  ];

  const inNoStack: Report["inNoStack"][number][] = [];
  for (const { place, item } of second.comparison.unheld) {
    const { id, name, status, ipv4_public: ipv4 } = item;
    const { service, origin } = place;
    const wasSo = first.comparison.unheld.some(
      (it) => it.item.id === id && it.place.service === service,
    );
    // What was made between the looks, the next audit tells.
    if (!wasSo) continue;
    const what = `instance ${id} "${name ?? ""}"`;
    if (status === "PROVISIONING") {
      const why = "in no stack, but PROVISIONING: a run may be just creating it";
      undecided.push({ what, why });
    } else if (unread.size > 0) {
      undecided.push({ what, why: "in no stack that could be read" });
    } else {
      const note = noteOn(item, origin, { left, creates, held });
      const { baseUrl, tokenKind } = origin;
      inNoStack.push({
        ...{ ...shown(item), baseUrl, tokenKind },
        ...{ ...(ipv4 ? { ipv4 } : {}), ...(note ? { note } : {}) },
      });
    }
  }

  const gone: Report["gone"][number][] = [];
  for (const { held: missing, presence } of verdicts) {
    const { id, stack, urn } = missing;
    const isHeld = heldLater.some((it) => it.stack === stack && it.urn === urn && it.id === id);
    if (presence.kind === "found" || !isHeld) continue;
    if (presence.kind === "gone") gone.push({ id, stack, urn });
    else undecided.push({ what: `instance ${id} of ${stack}`, why: presence.why });
  }

  const { states } = first.stacks;
  const managed = second.comparison.managed.map(({ item, holders }) => ({
    ...shown(item),
    resources: holders.map(({ stack, urn }) => ({ stack, urn })),
  }));
  return {
    services: first.places.map(({ origin: { baseUrl, tokenKind, account }, listing }) => ({
      ...{ baseUrl, tokenKind, ...(account === undefined ? {} : { account }) },
      ...{ listed: listing.items.size, complete: listing.complete },
    })),
    stacks: {
      read: states.length,
      withInstances: states.filter(({ instances }) => instances.length > 0).length,
    },
    managed,
    inSeveral: managed.filter(({ resources }) => resources.length > 1),
    ...{ inNoStack, gone, undecided, openCreates: creates },
    notComparable: second.comparison.elsewhere.map(({ held: { id, stack, urn }, why }) => ({
      ...{ id, stack, urn, why },
    })),
  };
}

function shown({ id, name = "", status = "" }: ListItem) {
  return { id, name, status };
}

/** What is known of an instance that is in no stack. */
function noteOn(
  { id, name }: ListItem,
  origin: Origin,
  known: {
    left: readonly OpenCreate[];
    creates: Report["openCreates"];
    held: readonly HeldInstance[];
  },
): string | undefined {
  const create = known.left.find(({ record }) => record.id === id && isSamePlace(record, origin));
  if (create && !isResumed(create.record)) {
    const how = importCommand(create.record, id);
    return `an earlier run created it for ${create.record.urn}: \`${how}\` takes it over`;
  }
  if (create) {
    const where = create.isHere ? "" : " with another state backend";
    return `the next \`pulumi up\`${where} takes it over as ${create.record.urn}`;
  }
  const ofName = known.creates.filter((it) => it.name === name && !isOfThisMachine(it));
  const [only] = ofName;
  if (name !== undefined && only && ofName.length === 1) {
    return `it has the name of a pending create: \`${importCommand(only, id)}\``;
  }
  const reader = known.held.find((it) => it.id === id && it.external);
  return reader && `${reader.stack} reads it, and does not manage it`;
}
