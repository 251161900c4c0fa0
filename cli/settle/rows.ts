/** Says in words what `settle` has found and does: as text, and as JSON. */
import { importCommand, inStack, oneRunCommands, settleCommand } from "../../provider/advice";
import type { ListItem } from "../../provider/api/contract";
import type { Settings } from "../../provider/config/settings";
import { displayRun } from "../../provider/ledger/record";
import { redactionMark } from "../../provider/redaction";
import { shellQuote } from "../../provider/shellQuote";
import type { Does, Row } from "./decide";
import type { Doubt } from "./doubts";
import type { Stopping } from "./look";

/** A command for a person who decides, and what follows from it. */
interface Way {
  command: string;
  then: string;
}

/** A create or an instance, as a person reads of it. */
interface Shown {
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
  stack: string;
  /** The value of `--stack`. */
  stackOption: string | undefined;
  /** The words of the options that are typed again. */
  options: readonly string[];
  deletePolicy: Settings["deletePolicy"] | undefined;
}

/** A row names at most so many instances. */
const maxNamed = 3;

/** Describes what was found of a create in doubt, and what becomes of it. */
export function show(row: Row, context: Context): Shown {
  const { doubt, does } = row;
  const { urn, record, name = redactionMark } = doubt;
  const items = itemsOf(does);
  const id = items.length === 1 ? items[0]?.id : record?.id;
  return { urn, name, id, ...wordsFor(row, context), ways: waysOf(row, context) };
}

function itemsOf(does: Does): readonly ListItem[] {
  if ("items" in does) return does.items;
  return "item" in does ? [does.item] : [];
}

function wordsFor({ doubt, does }: Row, context: Context): Pick<Shown, "found" | "does"> {
  const { record } = doubt;
  const found = describeAll(doubt, does);
  switch (does.kind) {
    case "held": {
      const { stack, urn } = does.holder;
      return { found: `${stack} has the instance, as ${urn}`, does: "forget the create" };
    }
    case "gone": {
      const none = `nothing left behind, as two complete listings show${record ? `, sent at ${record.at}` : ""}`;
      if (does.because === "absent") return { found: none, does: "forget the create" };
      const left = "forget the create; what it may have left";
      const rest = does.because === "sandbox" ? "is in a sandbox, not billed" : "goes on running";
      return { found, does: `${left} ${rest}` };
    }
    case "put":
      return { found, does: `put it into the state: ${nextUp(doubt, does.occupant, context)}` };
    case "left": {
      const up = does.occupant
        ? `if the program still asks for it, ${nextUp(doubt, does.occupant, context)}`
        : "`pulumi up` asks the listing of its own place";
      return { found, does: `leave it to the next run: ${up}` };
    }
    case "ask":
      return { found, does: "nothing: a person decides" };
    case "running": {
      const run = displayRun({ session: "", ...record });
      return { found: `${run} is under way on this machine`, does: "nothing" };
    }
  }
}

/** Describes the instances in question, what the state has, and why a person has to look. */
function describeAll({ name }: Doubt, does: Does): string {
  const items = itemsOf(does);
  const occupant = "occupant" in does ? does.occupant : undefined;
  const words = [
    ...items.slice(0, maxNamed).map((item) => describe(item, name === undefined)),
    items.length > maxNamed && `${items.length - maxNamed} more`,
    occupant !== undefined && `the state has ${occupant} there`,
    "why" in does && does.why,
  ];
  return words.filter(Boolean).join("; ") || "no instance that may be its own";
}

/** Says what the next run does with an instance, and with the one in whose place it is. */
export function nextUp(
  doubt: Doubt,
  occupant: string | undefined,
  { deletePolicy }: Context,
): string {
  const up = "`pulumi up` goes on with it";
  if (occupant === undefined) return up;
  // The settings of a provider that the program makes are not known here.
  if (providerOf(doubt)) return `${up}, then ends ${occupant} as its provider's deletePolicy says`;
  if (deletePolicy === "destroy") return `${up}, then deletes ${occupant}`;
  const command = deletePolicy === "retain" ? "pulumi up" : oneRunCommands.retain;
  return `\`${command}\` goes on with it, and drops ${occupant} from the state, which goes on running`;
}

function providerOf({ pending: [pending], record }: Doubt): string | undefined {
  return pending?.instance?.explicitProvider ?? record?.provider;
}

/** Returns what a person can type. What serves is kept, unless a person says otherwise. */
function waysOf({ doubt, does }: Row, context: Context): Way[] {
  if (does.kind !== "ask" && does.kind !== "left") return [];
  const { urn, pending } = doubt;
  const { occupant } = does;
  const ids = does.items.slice(0, maxNamed).map(({ id }) => id);
  const settle = (...words: string[]) => settleCommand("--yes", ...context.options, ...words);
  const effects = [
    occupant !== undefined && `${occupant} stays`,
    ids.length > 0 && `${ids.join(" and ")}: not in the state, and billed if live`,
    does.kind === "left" && occupant && "another is made if the program still asks for it",
  ];
  const forget = {
    command: settle("--forget", urn),
    then: effects.filter(Boolean).join("; ") || "nothing more is asked about it",
  };
  const by = does.kind === "ask" ? does.by : pending.length > 0 && "take";
  const bringing = ids.flatMap((id): Way[] => {
    const taking = settle("--take", `${urn}=${id}`);
    if (by === "take") return [{ command: taking, then: nextUp(doubt, occupant, context) }];
    const importing = importCommand({ urn, provider: providerOf(doubt) }, id);
    return by === "import" ? [broughtBy(importing, context)] : [];
  });
  return occupant === undefined ? [...bringing, forget] : [forget, ...bringing];
}

function broughtBy(importing: string, { stack }: Context): Way {
  return { command: inStack(importing, stack), then: "it comes into the state" };
}

/** Returns the options that decide a create, as its first way does. Undefined if only a person can say which. */
export function choiceOf({ doubt, does }: Row): string[] | undefined {
  if (does.kind !== "ask") return [];
  const { urn, name, record } = doubt;
  const [item, ...others] = does.items;
  if (!item || does.occupant !== undefined) return ["--forget", urn];
  const isClear = others.length === 0 && (name ?? record?.id) !== undefined;
  return isClear && does.by === "take" ? ["--take", `${urn}=${item.id}`] : undefined;
}

/** Describes an instance that stops the next `up`, and that no create in doubt explains. */
export function showStopping({ item, urn, holder }: Stopping, context: Context): Shown {
  const { stack, stackOption } = context;
  const way = (command: string, then: string) => ({ command: inStack(command, stackOption), then });
  const beside = way(oneRunCommands.besideLeftovers, "makes a second one beside it");
  const shown = { urn, name: item.name, id: item.id };
  const found = describe(item, false);
  if (!holder)
    return {
      ...shown,
      found: `${found}, in no state, and no create in doubt explains it`,
      does: "nothing: a person imports it, removes it at the service (its portal), or lets it run",
      ways: [broughtBy(importCommand({ urn }, item.id), context), beside],
    };
  const isReplaced = holder.stack === stack && holder.urn === urn;
  const keeping = way(`pulumi state untaint ${shellQuote(urn)}`, "keeps it");
  const replacing = way(oneRunCommands.replaceTainted, "replaces it, and lets it run");
  return {
    ...shown,
    found: `${found}; ${holder.stack} has it, as ${holder.urn}`,
    does: `nothing: it is not in doubt, but stops an \`up\` that ${isReplaced ? "replaces" : "creates"} this resource`,
    ways: isReplaced ? [keeping, replacing] : [beside],
  };
}

/** The lines of one entry of the table. `isPlan`: nothing of it is done (yet). */
export function linesOf({ urn, found, does, ways }: Shown, isPlan = false): string[] {
  return [
    urn,
    `  found  ${found}`,
    `  ${isPlan ? "would" : "does "}  ${does}`,
    ...ways.map(({ command, then }) => `         → \`${command}\`: ${then}`),
  ];
}

function describe({ id, name, status }: ListItem, isSecret: boolean): string {
  const words = [id, !isSecret && name !== undefined && `"${name}"`, status];
  return `instance ${words.filter(Boolean).join(", ")}`;
}
