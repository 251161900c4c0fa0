/** Looks at the three witnesses of a create: the ledgers on this machine, the states of all stacks, and the listings. */
import { pageAt } from "../../provider/advice";
import type { ListItem } from "../../provider/api/contract";
import { stopsCreate } from "../../provider/instance/protocol";
import { isInstance, exportState, readAllStates } from "../pulumi";
import { failureLines, listAgain, listWith, type ServiceListing } from "../listings";
import { Problem, type Finding, type Terminal } from "../terminal";
import type { FoundSettings } from "../settings";
import { readCreatesInDoubt, unreadableCreates, type UnreadableCreate } from "../creates";
import { decideAll, type Choices, type Held, type Row, type View } from "./decide";
import { doubtsOf, type Doubt } from "./doubts";
import { howLong, lookForAll } from "./evidence";
import { instanceUrnsOf, parseExport, type ExportedState, type PendingCreate } from "./exported";
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

/** What was seen, and what is decided. */
export interface Look {
  readonly view: View;
  readonly rows: readonly Row[];
  /** The instances that stop the next `up`, and how many others are in no state, and stop nothing. */
  readonly leftovers: readonly Leftover[];
  readonly harmless: number;
  /** The pending creates of other providers in the state. */
  readonly others: readonly PendingCreate[];
  readonly service: ServiceListing | undefined;
  /** The stacks whose states could not be read. */
  readonly unreadable: readonly string[];
  /** The resources whose files can't be read. Each stops the create of its resource. */
  readonly unreadableCreates: readonly UnreadableCreate[];
}

/** Looks and decides anew. `before` is the last look, whose connection to the service is used again. */
export async function look(
  place: Place,
  choices: Choices,
  io: Terminal,
  before: Look | undefined,
): Promise<Look> {
  const { stack, settings } = place;
  const state = await readExport(stack, io.env);
  const creates = readCreatesInDoubt(io.env, (text) => io.messages.warning(text));
  const doubts = doubtsOf(stack, state, creates, choices.forget);
  // The states are read after the listing: otherwise an instance that is created in between would seem to be in none.
  const service = before?.service
    ? await listAgain(before.service)
    : settings && (await listWith(settings, io));
  const items = service?.listing.items ?? new Map<string, ListItem>();
  const candidates = leftoversIn([...items.values()], state);
  const isNeeded = doubts.length + candidates.length > 0;
  const { held, unreadable } = isNeeded ? await readHeld(io, service) : nobody;
  const evidence = service
    ? await seek(place, service, state, held, doubts, io)
    : withoutService(place, doubts);
  const tokenKind = service?.origin.tokenKind;
  const view: View = { stack, state, held, evidence, items, tokenKind, choices };
  const rows = decideAll(doubts, view);
  const named = new Set(rows.flatMap(({ doubt, does }) => idsIn(doubt, does, view)));
  const unheld = candidates.filter(({ item }) => !held.has(item.id) && !named.has(item.id));
  const leftovers = settings ? unheld.filter(({ urn }) => stopsUp(urn, state, settings)) : [];
  const harmless = unheld.length - leftovers.length;
  const others = state.pending.filter(({ instance }) => instance === undefined);
  return {
    view,
    rows,
    leftovers,
    harmless,
    others,
    service,
    unreadable,
    unreadableCreates: unreadableCreates(io.env, instanceUrnsOf(state)),
  };
}

/** Whether the next `up` creates the resource, and stops for an instance with its tag. */
function stopsUp(urn: string, { resources }: ExportedState, { settings }: FoundSettings): boolean {
  const { tokenKind, deletePolicy, leftovers } = settings;
  const spec = { leftovers, deleteFails: deletePolicy === "fail", own: { tokenKind } };
  const isCreated = !resources.some((one) => one.urn === urn && !one.delete);
  return isCreated && stopsCreate(spec, { items: [{ why: "tag" }], partial: false });
}

const nobody = { held: new Map<string, Held>(), unreadable: [] };

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
): Promise<{ held: Map<string, Held>; unreadable: string[] }> {
  const states = await readAllStates(io.env);
  const held = new Map<string, Held>();
  for (const resource of states.flatMap(({ resources }) => resources)) {
    // One that a program only reads (`Instance.get`) is another one's.
    if (!isInstance(resource) || resource.external) continue;
    const { id, stack, urn, origin } = resource;
    held.set(id, { stack, urn });
    service?.session.noteShown({ id, origin });
  }
  const unreadable = states.filter(({ problem }) => problem !== undefined);
  return { held, unreadable: unreadable.map(({ stack }) => stack) };
}

async function seek(
  { begunAt }: Place,
  { session, origin, listing }: ServiceListing,
  state: ExportedState,
  held: ReadonlyMap<string, Held>,
  all: readonly Doubt[],
  io: Terminal,
) {
  const doubts = all.filter(({ record }) => record?.liveness !== "alive");
  const search = { session, origin, state, held, begunAt };
  const seconds = Math.ceil(howLong(search, doubts, listing) / 1000);
  if (seconds > 1)
    io.warn(
      `Waiting up to ${seconds} s for the proof of what is not listed: a listing may lack a server that was just created.`,
    );
  return await lookForAll(search, doubts);
}

/** Without settings, the service can't be asked. */
function withoutService({ findings }: Place, doubts: readonly Doubt[]) {
  const [line = "no settings"] = failureLines(findings);
  const why = `the service can't be asked (${line})`;
  return new Map(doubts.map((doubt) => [doubt, { kind: "open", why, isElsewhere: true }] as const));
}

/** The listed instances that the row of a create names. */
function idsIn(doubt: Doubt, does: Row["does"], { evidence }: View): string[] {
  const seen = evidence.get(doubt);
  const listed = seen?.kind === "listed" ? seen.items.map(({ id }) => id) : [];
  const namesakes = does.kind === "put" ? does.namesakes : [];
  return [...listed, ...namesakes, ...("item" in does ? [does.item.id] : [])];
}
