/** Looks at the three witnesses of a create: the ledgers on this machine, the states of all stacks, and the listings. */
import { pageAt } from "../../provider/advice";
import { stopsCreate } from "../../provider/instance/protocol";
import { isListedAt } from "../compare";
import { isInstance, exportState, readAllStates } from "../pulumi";
import { failureLines, listAgain, listWith, type ServiceListing } from "../listings";
import { Problem, type Finding, type Terminal } from "../terminal";
import type { FoundSettings } from "../settings";
import { createInDoubt, readCreates } from "../creates";
import { decideAll, type Choices, type Evidence, type Held, type Row, type View } from "./decide";
import { doubtsOf, mayBe, whyUnvouched, type Doubt } from "./doubts";
import { goneOccupants, lookForAll, type Search } from "./evidence";
import { parseExport, type ExportedState, type PendingCreate } from "./exported";
import { leftoversIn, type Leftover } from "./leftovers";

/** The stack to settle, and the service that its settings name. */
export interface Place {
  readonly stack: string;
  /** Undefined if the settings name none. */
  readonly settings: FoundSettings | undefined;
  readonly findings: readonly Finding[];
  /** The clock time when the command began. */
  readonly begunAt: number;
}

/** An instance that stops the next `up` for which no create in doubt is to blame. */
export interface Stopping extends Leftover {
  /** The state that has it. Undefined if none does. */
  readonly holder: Held | undefined;
}

/** What was seen, and what is decided. */
export interface Look {
  readonly view: View;
  readonly rows: readonly Row[];
  readonly stopping: readonly Stopping[];
  /** The pending creates of other providers in the state. */
  readonly others: readonly PendingCreate[];
  readonly service: ServiceListing | undefined;
  /** The stacks whose states could not be read. */
  readonly unreadable: readonly string[];
}

/** Looks and decides anew. `before` is the last look, whose connection to the service is used again. */
export async function look(
  place: Place,
  choices: Choices,
  io: Terminal,
  before: Look | undefined,
): Promise<Look> {
  const { stack, settings, begunAt } = place;
  const state = await readExport(stack, io.env);
  const creates = readCreates(io.env, (text) => io.messages.warning(text)).map(createInDoubt);
  const doubts = doubtsOf(stack, state, creates, choices.forget);
  // The states are read after the listing: otherwise an instance that is created in between would seem to be in none.
  const service = before?.service
    ? await listAgain(before.service)
    : settings && (await listWith(settings, io));
  const items = new Map(service?.listing.items);
  const leftovers = leftoversIn([...items.values()], state);
  const scopes = new Set(leftovers.map(({ scope }) => scope));
  const isNeeded = doubts.length + leftovers.length > 0;
  const { held, unreadable } = isNeeded ? await readHeld(io, service) : nobody;
  const { evidence, gone } = service
    ? await seek({ ...service, state, held, items, scopes, begunAt }, doubts, io)
    : withoutService(place, doubts);
  for (const seen of evidence.values())
    if (seen.kind === "listed") for (const item of seen.items) items.set(item.id, item);
  const origin = service?.origin;
  const view: View = { stack, state, held, evidence, items, origin, gone, choices };
  const rows = decideAll(doubts, view);
  const isOfDoubt = ({ item }: Leftover) =>
    doubts.some((doubt) => doubt.name !== undefined && mayBe(doubt, item, origin));
  const stopping = leftovers
    .filter((one) => !isOfDoubt(one))
    .flatMap((one) => stoppingBy(one, view, settings?.settings));
  const others = state.pending.filter(({ instance }) => instance === undefined);
  return { view, rows, stopping, others, service, unreadable };
}

/**
 * Returns the instance if the next `up` that creates its resource stops for it. A resource is created if the state lacks it, or
 * has marked it for replacement.
 */
function stoppingBy(
  leftover: Leftover,
  { state, held, origin }: View,
  settings: FoundSettings["settings"] | undefined,
): Stopping[] {
  const { urn, item } = leftover;
  if (!settings || !origin) return [];
  const { tokenKind, deletePolicy, leftovers } = settings;
  const spec = { leftovers, deleteFails: deletePolicy === "fail", own: { tokenKind } };
  const present = state.resources.find((one) => one.urn === urn && !one.delete);
  if (present && !present.taint) return [];
  if (!stopsCreate(spec, { items: [{ why: "tag" }], partial: false })) return [];
  const holder = held.get(item.id)?.find((one) => isListedAt(one, origin));
  return [{ ...leftover, holder }];
}

const nobody = { held: new Map<string, Held[]>(), unreadable: [] };

/** @throws Problem if the state can't be read */
export async function readExport(stack: string, env: NodeJS.ProcessEnv): Promise<ExportedState> {
  const text = await exportState(stack, env);
  try {
    return parseExport(text);
  } catch {
    throw new Problem(
      `the state of stack ${stack} can't be read: it is not as this version of the plugin knows it`,
      `Update the plugin, or settle by hand: ${pageAt("recover.md")}`,
    );
  }
}

/** Reads which instances the states of all stacks hold, and tells the session with which token each was seen. */
async function readHeld(
  io: Terminal,
  service: ServiceListing | undefined,
): Promise<{ held: Map<string, Held[]>; unreadable: string[] }> {
  const states = await readAllStates(io.env);
  // One that a program only reads (`Instance.get`) is another one's.
  const held = states
    .flatMap(({ resources }) => resources)
    .filter((one) => isInstance(one) && !one.external);
  for (const { id, origin } of held) service?.session.noteShown({ id, origin });
  const unreadable = states.filter(({ problem }) => problem !== undefined);
  return {
    held: Map.groupBy(held, ({ id }) => id),
    unreadable: unreadable.map(({ stack }) => stack),
  };
}

async function seek(search: Search, all: readonly Doubt[], io: Terminal) {
  const doubts = all.filter(({ record }) => record?.liveness !== "alive");
  const { items, origin } = search;
  const isAwaited = (doubt: Doubt) =>
    (doubt.record !== undefined || whyUnvouched(doubt, search, search.scopes) === undefined) &&
    ![...items.values()].some((item) => mayBe(doubt, item, origin));
  if (doubts.some(isAwaited))
    io.warn("Waiting for the proof that what is not listed does not exist.");
  const evidence = await lookForAll(search, doubts);
  return { evidence, gone: await goneOccupants(search, doubts) };
}

/** Without settings, the service can't be asked. */
function withoutService({ findings }: Place, doubts: readonly Doubt[]) {
  const [line = "no settings"] = failureLines(findings);
  const why = `the service can't be asked (${line})`;
  const evidence = new Map(
    doubts.map((doubt): [Doubt, Evidence] => [doubt, { kind: "open", why }]),
  );
  return { evidence, gone: new Set<string>() };
}
