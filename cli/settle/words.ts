/** Says in words what `settle` has found and does: as text, and as JSON. */
import { importCommand, inStack, oneRunCommands, settleCommand } from "../../provider/advice";
import type { ListItem } from "../../provider/api/contract";
import type { Settings } from "../../provider/config/settings";
import { redactionMark } from "../../provider/redaction";
import { parentOf, type StackState } from "../state";
import type { CreateInDoubt } from "../view";
import { isForPerson, type Does, type Row } from "./decide";
import type { Stopping } from "./leftovers";

/** A command for a person who decides, and what follows from it. */
interface Way {
  command: string;
  then: string;
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
  /** The value of `--stack`. */
  stackOption: string | undefined;
  /** The words of the options that are typed again. */
  options: readonly string[];
  deletePolicy: Settings["deletePolicy"] | undefined;
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
  return { urn, name, id, ...wordsFor(row, context), ways: waysOf(row, context) };
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
export function nextUp(
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

/** Returns what a person can type. What serves is kept, unless a person says otherwise. */
function waysOf({ doubt, does }: Row, context: Context): Way[] {
  if (does.kind !== "ask") return [];
  const { urn } = doubt;
  const { occupant, by } = does;
  // Other settings may show an instance, which `--forget` would lose.
  if (!isForPerson(does) && occupant === undefined) return [];
  const ids = does.items.slice(0, maxNamed).map(({ id }) => id);
  const settle = (...words: string[]) => settleCommand("--yes", ...context.options, ...words);
  const effects = [
    occupant !== undefined && `${occupant} stays`,
    ids.length > 0 && `${ids.join(" and ")}: not in the state, and billed if live`,
    !isForPerson(does) && occupant && "another is made if the program still asks for it",
  ];
  const forget = {
    command: settle("--forget", urn),
    then: effects.filter(Boolean).join("; ") || "nothing more is asked about it",
  };
  const bringing = ids.flatMap((id): Way[] => {
    const provider = explicitProviderOf(doubt);
    if (by === "import") return [importWay(urn, provider, id, context)];
    const then = nextUp(doubt, occupant, context);
    return by === "take" ? [{ command: settle("--take", `${urn}=${id}`), then }] : [];
  });
  return occupant === undefined ? [...bringing, forget] : [forget, ...bringing];
}

function importWay(urn: string, provider: string | undefined, id: string, { state }: Context): Way {
  const importing = importCommand({ urn, provider, parent: parentOf(urn, state) }, id);
  return { command: inStack(importing, state.stack), then: "it comes into the state" };
}

/** Returns the options that decide a create, as its first way does. Undefined if only a person can say which. */
export function choiceOf({ doubt: { urn }, does }: Row): string[] | undefined {
  if (does.kind !== "ask") return [];
  const [item, ...others] = does.items;
  if (!item || does.occupant !== undefined) return ["--forget", urn];
  return others.length === 0 && does.by === "take" ? ["--take", `${urn}=${item.id}`] : undefined;
}

/** Describes an instance that stops the next `up`, and that no create in doubt explains. */
export function describeStopping({ item, urn, holder }: Stopping, context: Context): Described {
  const { id, name } = item;
  const beside = holder ? oneRunCommands.replaceTainted : oneRunCommands.besideLeftovers;
  const way = {
    command: inStack(beside, context.stackOption),
    then: "makes another one beside it, and lets it run",
  };
  const [where, does] = holder
    ? [
        `; ${holder.stack} has it, as ${holder.urn}`,
        "nothing: it is not in doubt, but stops an `up` that creates or replaces this resource",
      ]
    : [
        ", in no state, and no create in doubt explains it",
        "nothing: a person imports it, removes it at the service (its portal), or lets it run",
      ];
  const found = describeItem(item, false) + where;
  const ways = holder ? [way] : [importWay(urn, undefined, id, context), way];
  return { urn, name, id, found, does, ways };
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
