/** Looks at what ledgers, states and listings say of the creates of a stack, and decides. */
import { OperationFailed } from "../../provider/errors";
import { displayRun } from "../../provider/ledger/record";
import { instanceToken } from "../../provider/pulumi/names";
import { failedLines, listService, type ServiceListing } from "../listings";
import { engineVersion, readAllStates, readState, requireUnlocked } from "../pulumi";
import { readRecords } from "../records";
import { checkSettings, type SettingOptions } from "../settings";
import { withPending, type StateResource } from "../state";
import { Problem, type Terminal } from "../terminal";
import { makerOf, viewOf, type CreateInDoubt, type View } from "../view";
import { decideAll, type Choices, type Row, type Sighting, type StackView } from "./decide";
import { leftoversIn, letRunBy, namedOf, type LetRun, type NamedLeftover } from "./leftovers";
import { withUrns } from "./names";
import { sightingsOf } from "./sightings";

/** What was seen of a stack. */
interface StackSeen {
  readonly view: StackView;
  /** The leftovers to name that no create in doubt explains. */
  readonly leftovers: readonly NamedLeftover[];
  /** The pending creates of other providers in the state. */
  readonly others: readonly StateResource[];
  /** Whether `others` prevent a change of the state, which would lose them. */
  readonly isBlocked: boolean;
  /** Undefined if the settings name no service. */
  readonly service: ServiceListing | undefined;
}

/** What was seen of a stack, and what is decided. */
export interface Decided extends StackSeen {
  /** The URNs of the resources that a person may name. */
  readonly urns: ReadonlySet<string>;
  /** What a person has chosen, as it is typed. */
  readonly typed: Choices;
  /** The same with URNs. */
  readonly choices: Choices;
  readonly rows: readonly Row[];
  /** What a person gives up, and what the state has is to know of. */
  readonly letRun: readonly LetRun[];
}

/** Decides once more, with what a person has chosen by now. */
export function choose(seen: StackSeen, typed: Choices): Decided {
  const { view, leftovers } = seen;
  const urns = instanceUrns(seen);
  const choices = withUrns(typed, urns);
  const rows = decideAll(view, choices);
  const letRun = letRunBy(choices.forget, view.state, rows, leftovers);
  return { ...seen, urns, typed, choices, rows, letRun };
}

/** @throws OperationFailed if there is no stack to settle, if its state can't be read, or if a run is under way */
export async function gather(
  options: SettingOptions & Choices & { stack?: string; dropOthers?: true },
  io: Terminal,
): Promise<Decided> {
  // Without the CLI, the settings of the stack would seem to be missing.
  await engineVersion(io.env);
  const { findings, found, stack } = await checkSettings(options, options.stack, io);
  if (stack === undefined) {
    const lines = failedLines(findings.filter(({ check }) => check === "stack"));
    if (lines.length > 0) throw new OperationFailed(lines);
    throw new Problem(
      "there is no stack to settle",
      "Run this command in the folder of the project, and name the stack with --stack.",
    );
  }
  const service = found && (await listService(found, io));
  const services = service ? [service] : [];
  const state = await readState(stack, io.env);
  if (state.problem) throw state.problem;
  const items = new Map(service?.listing.items);
  const records = readRecords(io.env, (text) => io.messages.warning(text));
  const own = viewOf(services, [state], records, io.clock);
  const tagged = leftoversIn([...items.values()], state);
  const namedBy = ({ held }: View) => (service ? namedOf(tagged, state, held, service) : []);
  const isNeeded =
    doubtsOfStack(own, stack, options).length > 0 ||
    namedBy(own).some(({ explainer }) => explainer === undefined);
  const view = isNeeded
    ? viewOf(services, await readAllStates(io.env, state), records, io.clock)
    : own;
  for (const { stack: other, problem } of view.states)
    if (problem) io.warn(`The state of stack ${other} can't be read.`);
  const doubts = doubtsOfStack(view, stack, options);
  const running = doubts.map(({ record }) => record).find((one) => one?.liveness === "alive");
  if (running)
    throw new Problem(
      `${displayRun(running)} is under way on this machine, and creates ${running.urn}`,
      "Wait until it has ended.",
    );
  // The proof may take long, and only an unlocked state can be changed after it.
  if (doubts.some(({ pending }) => pending)) await requireUnlocked(stack, io.env);
  const scopes = new Set(tagged.map(({ scope }) => scope));
  const [line = "no settings"] = failedLines(findings);
  const why = `the service can't be asked (${line})`;
  const sightings: ReadonlyMap<CreateInDoubt, Sighting> = service
    ? await sightingsOf({ service, state, view, doubts, scopes }, io)
    : new Map(doubts.map((doubt) => [doubt, { kind: "open", why }]));
  for (const seen of sightings.values())
    if (seen.kind === "listed") for (const item of seen.items) items.set(item.id, item);
  const origin = service?.origin;
  const others = state.pending.filter(({ type }) => type !== instanceToken);
  const seen = {
    view: { state, held: view.held, items, origin, sightings },
    leftovers: namedBy(view).filter(({ item }) => !makerOf(item, doubts, origin)),
    others,
    isBlocked: others.length > 0 && !options.dropOthers,
    service,
  };
  return choose(seen, { take: options.take, forget: options.forget });
}

/** Returns the URNs of the stack's instances, and of those that the state may lack. */
function instanceUrns({ view: { state, sightings }, leftovers }: StackSeen): Set<string> {
  const inState = withPending(state).filter(({ type }) => type === instanceToken);
  const inDoubt = [...sightings.keys()].filter(({ stack }) => stack === state.stack);
  return new Set([...inState, ...inDoubt, ...leftovers].map(({ urn }) => urn));
}

/** Returns the creates in doubt of the stack, and those of other stacks, or of none, that a person forgets. */
function doubtsOfStack({ doubts }: View, stack: string, { forget }: Choices): CreateInDoubt[] {
  return doubts.filter(
    (doubt) => doubt.stack === stack || (forget.includes(doubt.urn) && !doubt.pending),
  );
}
