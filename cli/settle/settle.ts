/**
 * `settle`: looks at the creates of a stack whose runs were killed, and puts right what is in doubt. It writes into the state
 * what the engine would have written had it got the answer (G1), and drops nothing that may run (G3).
 */
import type { Command } from "commander";
import { settleCommand } from "../../provider/advice";
import { explainError, serviceLine, summaryOf } from "../listings";
import { addOptions, commandLineError, type SettingOptions, stackHelp } from "../settings";
import { count, printData, type Terminal } from "../terminal";
import {
  decideAll,
  doableOf,
  isForPerson,
  isOpen,
  isPending,
  mayChange,
  type Choices,
  type Row,
} from "./decide";
import { isCreatedNext } from "./leftovers";
import { look, type Decided } from "./look";
import { choiceOf, describeRow, describeNamed, linesOf, nextUp, type Context } from "./words";
import { writeRows } from "./write";

interface SettleOptions extends SettingOptions, Choices {
  yes?: true;
  json?: true;
  stack?: string;
  dropOthers?: true;
}

const exitCodeHelp = `
A create is in doubt if its run was killed before the state had its instance.
Without --yes, settle changes nothing before it has asked. The state that it
replaces is kept in a file.

Exit codes:
  0  nothing is left to decide; of a test token, the rest is given up
  1  a person has to decide something, answered no, or could not be asked;
     or other providers' pending creates keep the state from being changed
  2  the command line is wrong
  3  it could not be decided: the listing or the state can't be read, a run
     is under way, or the stack is locked`;

const ownOptions = {
  "--yes": "Do not ask.",
  "--json": "Print the result as JSON. Without --yes, nothing is changed.",
  "--stack <name>": `Settle this stack. ${stackHelp}`,
  "--take <urn=id...>":
    "The instance with this id is that of the pending create of this resource. Repeatable.",
  "--forget <urn...>":
    "Forget the creates of this resource, and let run what they may have left: it is not its instance. Repeatable.",
  "--drop-others":
    "Let the state lose the pending creates of other providers, too, after they were printed. Pulumi keeps none when a state is changed by hand.",
};

/** Adds the command `settle`. */
export function addSettle(program: Command, io: Terminal): void {
  const command = program
    .command("settle")
    .description("put right the creates of killed runs: asks, then changes the state of one stack")
    .addHelpText("after", exitCodeHelp);
  addOptions(command, ownOptions).action(async (given: Partial<SettleOptions>) => {
    const { take = [], forget = [] } = given;
    if (!take.every((word) => /^urn:.*=./s.test(word)))
      commandLineError(command, "Give --take as URN=ID, where URN is that of the resource.");
    if (!forget.every((urn) => urn.startsWith("urn:")))
      commandLineError(command, "Give --forget the URN of the resource.");
    io.exitCode = await new Settling({ ...given, take, forget }, io).run();
  });
}

/** How it ends: in the JSON, as the exit code, and as the last line of the text. */
const outcomes = {
  nothing: { exitCode: 0, verdict: "Nothing is in doubt." },
  settled: { exitCode: 0, verdict: "Nothing is in doubt any more." },
  left: { exitCode: 0, verdict: "The rest is left to `pulumi up`: see above." },
  found: { exitCode: 1, verdict: "Something is left for a person to decide: see above." },
  declined: { exitCode: 1, verdict: "" },
  undecided: {
    exitCode: 3,
    verdict: "Not everything could be decided or written. Once that is mended, run `settle` again.",
  },
} as const;
type Outcome = keyof typeof outcomes;

/** Returns what stays open, as the result of the command. Undefined if nothing does. */
function openOf({ view, rows, leftovers, letRun, isBlocked }: Decided): Outcome | undefined {
  const isFound =
    rows.some(({ does }) => isForPerson(does)) ||
    (isBlocked && (letRun.length > 0 || rows.some((row) => isPending(row) && !isOpen(row)))) ||
    leftovers.some(({ urn, explainer }) => !explainer && isCreatedNext(urn, view.state, rows));
  if (isFound) return "found";
  if (rows.some(({ does }) => does.kind === "elsewhere")) return "undecided";
  return rows.some(isOpen) ? "left" : undefined;
}

/** One run of the command. */
class Settling {
  readonly #options: SettleOptions;
  readonly #io: Terminal;
  #decided: Decided | undefined;
  /** The file with the state that was replaced. Null if only files of the ledger went. */
  #kept: string | null | undefined;
  readonly #problems: string[] = [];

  constructor(options: SettleOptions, io: Terminal) {
    this.#options = options;
    this.#io = io;
  }

  /** Looks, asks, writes and prints. Returns the exit code. What fails is printed, and is undecided. */
  async run(): Promise<number> {
    const result = await this.#settle().catch((error: unknown) => {
      const lines = explainError(error);
      if (!lines) throw error;
      return this.#fail(lines);
    });
    const { exitCode, verdict } = outcomes[result];
    const isSaid = this.#kept !== undefined || result === "nothing";
    if (this.#options.json) printData(this.#data(result), this.#io);
    else this.#io.print([isSaid ? "" : "Nothing was changed. ", verdict].join("").trim());
    return exitCode;
  }

  #fail(lines: readonly string[]): "undecided" {
    this.#problems.push(...lines);
    for (const line of lines) this.#io.warn(line);
    return "undecided";
  }

  /** Asks, and carries out what is decided. */
  async #settle(): Promise<Outcome> {
    const { yes, json } = this.#options;
    const decided = await look(this.#options, this.#io);
    this.#decided = decided;
    if (!json) this.#print(decided);
    const rows = yes || json ? decided.rows : await this.#withAnswers(decided);
    const doable = doableOf(rows, decided.isBlocked);
    const open = openOf({ ...decided, rows });
    const letRun = mayChange(rows, decided.isBlocked) ? decided.letRun : [];
    if (doable.length + letRun.length === 0) return open ?? "nothing";
    if (!yes) {
      const agreed = json ? undefined : await this.#io.ask("Do this?");
      if (agreed === undefined) this.#fail(["Nobody can be asked here: --yes does it."]);
      if (!agreed) return "declined";
    }
    this.#kept = await writeRows(decided.view, doable, letRun, this.#io);
    if (!json) this.#printDone(doable, letRun.length);
    return open ?? "settled";
  }

  #printDone(done: readonly Row[], letRun: number): void {
    const put = done.filter(({ does }) => does.kind === "put").length;
    const held = done.filter(({ does }) => does.kind === "held").length;
    const forgotten = done.length - put - held;
    const words = [
      put > 0 && `${count(put, "instance")} came into the state`,
      held > 0 && `${count(held, "instance")} stayed in a state`,
      forgotten > 0 && `${count(forgotten, "create")} forgotten`,
      letRun > 0 && `${count(letRun, "instance")} let run`,
    ];
    this.#io.print(`Done: ${words.filter(Boolean).join(", ")}.`);
    if (this.#kept) this.#io.print(`The state before: ${this.#kept}`);
  }

  /** Asks about each create for which one instance comes into question. */
  async #withAnswers(decided: Decided): Promise<readonly Row[]> {
    const taken: string[] = [];
    for (const { doubt, does } of decided.rows) {
      if (!isForPerson(does) || does.by !== "take") continue;
      const [item, ...others] = does.items;
      if (!item || others.length > 0) continue;
      const next = nextUp(doubt, does.occupant, this.#contextOf(decided));
      const then = does.occupant === undefined ? "" : ` Then ${next}.`;
      if (await this.#io.ask(`Is ${item.id} the instance of ${doubt.urn}, to take it over?${then}`))
        taken.push(`${doubt.urn}=${item.id}`);
    }
    const { take, forget } = this.#options;
    const rows = decideAll(decided.view, { take: [...take, ...taken], forget });
    const shown = this.#describe(decided).map((one) => linesOf([one]).join("\n"));
    const changed = this.#describe({ ...decided, rows }).filter(
      (one) => !shown.includes(linesOf([one]).join("\n")),
    );
    linesOf(changed).forEach(this.#io.print);
    return rows;
  }

  #print(decided: Decided): void {
    const { print } = this.#io;
    const { view, service, rows, letRun, others, isBlocked } = decided;
    print(service ? serviceLine(summaryOf(service)) : "service    not asked");
    print(`stack      ${view.state.stack}: ${count(rows.length, "create")} in doubt`);
    linesOf(this.#describe(decided)).forEach(print);
    const { options } = this.#contextOf(decided);
    const words = rows.filter(({ does }) => isForPerson(does)).map(choiceOf);
    if (words.length > 1 && words.every((choice) => choice !== undefined))
      print(
        `All of it, each by its first way: \`${settleCommand("--yes", ...options, ...words.flat())}\``,
      );
    if (others.length > 0 && (rows.some(isPending) || letRun.length > 0)) {
      const end = isBlocked
        ? "the state is not changed, because it would lose them: --drop-others allows that"
        : "the state loses them";
      print(`pending creates of other providers (${end}):`);
      for (const { urn } of others) print(`  ${urn}`);
    }
  }

  #contextOf({ view: { state }, rows, letRun, service }: Decided): Context {
    const { stack: stackOption, take, forget } = this.#options;
    const asked = rows.filter(({ does }) => isForPerson(does)).map(({ doubt }) => doubt.urn);
    // A state is changed only if each of its creates is decided, so what has decided one is typed again.
    const again = (option: string, words: readonly string[]) =>
      words
        .filter((word) => !asked.some((urn) => word === urn || word.startsWith(`${urn}=`)))
        .flatMap((word) => [option, word]);
    const options = [
      ...(stackOption === undefined ? [] : ["--stack", stackOption]),
      ...again("--take", take),
      ...again("--forget", forget),
    ];
    const deletePolicy = service?.settings.deletePolicy;
    return { state, stackOption, options, deletePolicy, letRun };
  }

  #describe(decided: Decided) {
    const context = this.#contextOf(decided);
    const rows = decided.rows.map((row) => describeRow(row, context));
    return [...rows, ...decided.leftovers.map((one) => describeNamed(one, context))];
  }

  #data(result: Outcome): object {
    const decided = this.#decided;
    const origin = decided?.service?.origin;
    return {
      result,
      stack: decided?.view.state.stack ?? null,
      service: origin ? { baseUrl: origin.baseUrl, tokenKind: origin.tokenKind } : null,
      inDoubt: decided ? this.#describe(decided) : [],
      otherPendingCreates: decided?.others.map(({ urn }) => urn) ?? [],
      stateBefore: this.#kept ?? null,
      problems: this.#problems,
    };
  }
}
