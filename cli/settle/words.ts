/** Says in words what `settle` has found and does: as text, and as JSON. */
import { importCommand, inStack, oneRunCommands, settleCommand } from "../../provider/advice";
import type { ListItem } from "../../provider/api/contract";
import type { Settings } from "../../provider/config/settings";
import { explicitProvider, logicalName } from "../../provider/pulumi/urn";
import { redactionMark } from "../../provider/redaction";
import { parentOf, presentIn, type StackState } from "../state";
import type { CreateInDoubt } from "../view";
import { isForPerson, type Does, type Row } from "./decide";
import type { LetRun, NamedLeftover } from "./leftovers";
import { typedName } from "./names";

/** A command for a person who decides, and what follows from it. */
interface Way {
  command: string;
  then: string;
}

/** What a person answers with yes instead of typing the command of the way. */
interface WayQuestion {
  text: string;
  /** The option of that command, with what it has to say of the resource. */
  option: "take" | "forget";
  word: string;
}

/** A create or an instance, as a person reads of it. */
interface Described {
  urn: string;
  /** Undefined if it is not known. */
  name: string | undefined;
  /** The instance, if one was found. */
  id: string | undefined;
  found: string;
  /** What `settle` does: an infinitive, or "nothing". */
  does: string;
  ways: Way[];
}

/** What the words depend on besides the row. */
export interface Context {
  state: StackState;
  /** The resources among which a name has to be unique. */
  urns: ReadonlySet<string>;
  /** The value of `--stack`. */
  stackOption: string | undefined;
  /** The words of the options that are typed again. */
  options: readonly string[];
  deletePolicy: Settings["deletePolicy"] | undefined;
  /** What a person lets run, which the state is to know of. */
  letRun: readonly LetRun[];
}

/** A row names at most so many instances. */
const maxNamed = 3;

/** Describes what was found of a create in doubt, and what becomes of it. */
export function describeRow(row: Row, context: Context): Described {
  const { doubt, does } = row;
  const { urn, record, name = redactionMark } = doubt;
  const items = itemsOf(does);
  const isKnown = does.kind === "put" || items.length === 1;
  const id = isKnown ? items[0]?.id : record?.id;
  const ways = waysOf(row, context).map(({ command, then }) => ({ command, then }));
  return { urn, name, id, ...wordsFor(row, context), ways };
}

const itemsOf = (does: Does) => ("items" in does ? does.items : []);

function wordsFor({ doubt, does }: Row, context: Context): Pick<Described, "found" | "does"> {
  const found = describeItems(doubt, does);
  switch (does.kind) {
    case "held": {
      const { stack, urn } = does.holder;
      return {
        found: `${stack} has the instance, as ${urn}`,
        does: "end the doubt: it stays there",
      };
    }
    case "absent": {
      const none = "nothing left behind, as two complete listings show";
      return { found: none, does: "forget the create" };
    }
    case "gone": {
      const rest = does.because === "sandbox" ? "is in a sandbox, not billed" : "goes on running";
      return { found, does: `forget the create; what it may have left ${rest}` };
    }
    case "put": {
      const next = nextUp(doubt, does.occupant, context);
      return { found, does: `put ${does.item.id} into the state: ${next}` };
    }
    case "elsewhere":
      return { found, does: "nothing: run `settle` with the settings that it was made with" };
    case "ask": {
      if (isForPerson(does)) return { found, does: "nothing: a person decides" };
      const up = does.occupant
        ? `if the program still asks for it, ${nextUp(doubt, does.occupant, context)}`
        : "`pulumi up` asks the listing of its own service";
      return { found, does: `leave it to the next run: ${up}` };
    }
  }
}

/** Describes the instances in question, what the state has, and why a person has to look. */
function describeItems({ name }: CreateInDoubt, does: Does): string {
  const items = itemsOf(does);
  const occupant = "occupant" in does ? does.occupant : undefined;
  const words = [
    ...items.slice(0, maxNamed).map((item) => describeItem(item, name === undefined)),
    items.length > maxNamed && `${items.length - maxNamed} more`,
    occupant !== undefined && `the state has ${occupant} there`,
    "why" in does && does.why,
  ];
  return words.filter(Boolean).join("; ") || "no instance that may be its own";
}

function describeItem({ id, name, status }: ListItem, isSecret: boolean): string {
  const words = [id, !isSecret && name !== undefined && `"${name}"`, status];
  return `instance ${words.filter(Boolean).join(", ")}`;
}

/** Says what the next run does with an instance, and with the one in whose place it is. */
function nextUp(
  doubt: CreateInDoubt,
  occupant: string | undefined,
  { deletePolicy }: Context,
): string {
  const up = "`pulumi up` goes on with it";
  if (occupant === undefined) return up;
  // The policy of a provider that the program makes is not known here.
  const isDestroyed = deletePolicy === "destroy" && explicitProviderOf(doubt) === undefined;
  if (isDestroyed) return `${up}, then deletes ${occupant}`;
  return `\`${oneRunCommands.retain}\` goes on with it, and drops ${occupant} from the state, which goes on running`;
}

function explicitProviderOf({ pending, record }: CreateInDoubt): string | undefined {
  return pending?.explicitProvider ?? record?.provider;
}

/** Returns what a person can type, or answer. The instance in the state stays, unless a person says otherwise. */
export function waysOf({ doubt, does }: Row, context: Context): (Way & { asks?: WayQuestion })[] {
  if (does.kind !== "ask") return [];
  const { urn } = doubt;
  const { occupant, by } = does;
  // Other settings may show an instance, which `--forget` would lose.
  if (!isForPerson(does) && occupant === undefined) return [];
  const ids = does.items.slice(0, maxNamed).map(({ id }) => id);
  const effects = [
    occupant !== undefined && `${occupant} stays`,
    ids.length > 0 &&
      `${ids.join(" and ")} ${ids.length === 1 ? "runs" : "run"} on in no state, billed if live`,
    !isForPerson(does) && occupant && "another is made if the program still asks for it",
  ];
  const name = typedName(urn, context.urns);
  const asking = (then: string, asks: WayQuestion) => ({
    command: settleAgain(context, `--${asks.option}`, asks.word),
    then,
    asks,
  });
  const forget = asking(effects.filter(Boolean).join("; ") || "nothing more is asked about it", {
    text: `Forget the create of ${name}?`,
    option: "forget",
    word: name,
  });
  const bringing = ids.flatMap((id) => {
    const provider = explicitProviderOf(doubt);
    if (by === "import") return [importWay(urn, provider, id, context)];
    const text = `Is ${id} the instance of ${name}, to take it over?`;
    const take = { text, option: "take", word: `${name}=${id}` } as const;
    return by === "take" ? [asking(nextUp(doubt, occupant, context), take)] : [];
  });
  return occupant === undefined ? [...bringing, forget] : [forget, ...bringing];
}

/** Returns the command with what decides one more question. */
function settleAgain({ options }: Context, ...words: string[]): string {
  return settleCommand("--yes", ...options, ...words);
}

function importWay(urn: string, provider: string | undefined, id: string, { state }: Context): Way {
  const importing = importCommand({ urn, provider, parent: parentOf(urn, state) }, id);
  return { command: inStack(importing, state.stack), then: "it comes into the state" };
}

/** Returns the options that decide a create, as its first way does. Undefined if only a person can say which. */
export function choiceOf(row: Row, context: Context): string[] | undefined {
  const [first, second] = waysOf(row, context).map(({ asks }) => asks);
  const isOneOfSeveral = first?.option === second?.option;
  return first && !isOneOfSeveral ? [`--${first.option}`, first.word] : undefined;
}

/** Describes a leftover that no create in doubt explains. */
export function describeNamed(leftover: NamedLeftover, context: Context): Described {
  const { item, urn, explainer } = leftover;
  const { id, name } = item;
  const where = explainer
    ? explainer.id === id
      ? `; ${explainer.stack} has it, as ${explainer.urn}`
      : `, let run by ${logicalName(urn)}`
    : ", in no state, and no create in doubt explains it";
  const described = { urn, name, id, found: describeItem(item, false) + where };
  if (context.letRun.some((one) => one.urn === urn && one.id === id))
    return { ...described, does: "let it run: the state then knows of it", ways: [] };
  const stops = `an \`up\` that creates ${logicalName(urn)} stops for it`;
  const does = explainer
    ? `nothing: it is not in doubt, but ${stops}`
    : `nothing: ${stops} or makes another one, unless it is removed at the service (its portal)`;
  return { ...described, does, ways: waysBeside(leftover, context) };
}

/** Returns what a person can type for a leftover: where the state has something else, that is to know of it. */
function waysBeside(leftover: NamedLeftover, context: Context): Way[] {
  const { item, urn, scope, explainer } = leftover;
  const present = presentIn(context.state, urn);
  if (present && !present.taint) {
    const then = "lets it run: the state then knows of it";
    return [{ command: settleAgain(context, "--forget", typedName(urn, context.urns)), then }];
  }
  const up = present ? oneRunCommands.replaceTainted : oneRunCommands.besideLeftovers;
  const then = "makes another one beside it, and lets it run";
  const beside = { command: inStack(up, context.stackOption), then };
  if (present || explainer) return [beside];
  const provider = context.state.resources.find(({ id }) => id === scope)?.urn;
  return [importWay(urn, explicitProvider(provider), item.id, context), beside];
}

/** Returns the table, before anything is done, by resource. Resources with the same words share one entry. */
export function linesOf(all: readonly Described[]): string[] {
  const words = ({ found, does, ways }: Described) => [
    `  found  ${found}`,
    `  plan   ${does}`,
    ...ways.map(({ command, then }) => `         → \`${command}\`: ${then}`),
  ];
  return [...Map.groupBy(all, (one) => words(one).join("\n"))].flatMap(([text, same]) => [
    ...same.map(({ urn }) => urn),
    ...text.split("\n"),
  ]);
}
