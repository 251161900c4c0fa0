/**
 * `settle`: looks at the creates of a stack whose runs were killed, and puts right what is in doubt. It writes into the state
 * what the engine would have written had it got the answer (G1), and drops nothing that may run (G3).
 */
import type { Command } from "commander";
import { settleCommand } from "../../provider/advice";
import { explainError, serviceLine, summaryOf } from "../listings";
import {
  addOptions,
  commandLineError,
  givenOptions,
  type SettingOptions,
  stackHelp,
} from "../settings";
import { count, printData, type Terminal } from "../terminal";
import {
  doableOf,
  isForPerson,
  isOpen,
  isPending,
  mayChange,
  obstaclesIn,
  type Choices,
  type Row,
} from "./decide";
import { isCreatedNext } from "./leftovers";
import { choose, gather, type Decided } from "./gather";
import { typedName } from "./names";
import { choiceOf, describeRow, describeNamed, linesOf, waysOf, type Context } from "./words";
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
  "--take <name=id...>":
    "The instance with this id is that of the pending create of the resource with this name or URN. Repeatable.",
  "--forget <name...>":
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
    if (!take.every((word) => /^[^=]+=./s.test(word)))
      commandLineError(command, "Give --take as NAME=ID, where NAME is that of the resource.");
    io.exitCode = await new Settling({ ...given, take, forget }, io).run();
  });
}

/** How it ends: in the JSON, as the exit code, and as the last line of the text. */
export const outcomes = {
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

/** What the result of the command depends on. */
type Chosen = Pick<Decided, "view" | "rows" | "leftovers" | "letRun" | "isBlocked">;

/** Returns what stays open, as the result of the command. Undefined if nothing does. */
export function openOf({ view, rows, leftovers, letRun, isBlocked }: Chosen): Outcome | undefined {
  const isFound =
    rows.some(({ does }) => isForPerson(does)) ||
    (isBlocked && (letRun.length > 0 || rows.some((row) => isPending(row) && !isOpen(row)))) ||
    leftovers.some(({ urn, explainer }) => !explainer && isCreatedNext(urn, view.state, rows));
  if (isFound) return "found";
  if (rows.some(({ does }) => does.kind === "elsewhere")) return "undecided";
  return rows.some(isOpen) ? "left" : undefined;
}

const isAbout = (choice: string, urn: string) => choice === urn || choice.startsWith(`${urn}=`);

const whyLeft = ({ doubt: { urn } }: Row) =>
  `The file of the create of ${urn} stays: a run has changed it meanwhile, or it can't be removed.`;

/** One run of the command. */
class Settling {
  readonly #options: SettleOptions;
  readonly #io: Terminal;
  #decided: Decided | undefined;
  /** The file with the state that was replaced. Null if only files of the ledger went. */
  #backup: string | null | undefined;
  readonly #problems: string[] = [];

  constructor(options: SettleOptions, io: Terminal) {
    this.#options = options;
    this.#io = io;
  }

  /** Looks, asks, writes and prints. Returns the exit code. A thrown error is printed, and its outcome is "undecided". */
  async run(): Promise<number> {
    const result = await this.#settle().catch((error: unknown) => {
      const lines = explainError(error);
      if (!lines) throw error;
      return this.#fail(lines);
    });
    const { exitCode, verdict } = outcomes[result];
    const isSaid = this.#backup !== undefined || result === "nothing";
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
    const seen = await gather(this.#options, this.#io);
    this.#decided = seen;
    const { take, forget } = seen.choices;
    const urns = [...seen.urns, ...seen.rows.map(({ doubt }) => doubt.urn)];
    // What was typed is not repeated: it may be anything, such as a token (G8).
    if (![...take, ...forget].every((choice) => urns.some((urn) => isAbout(choice, urn))))
      this.#fail([
        "No resource here has a name or URN that was given, or several have the name: give the URN.",
      ]);
    if (!json) this.#print(seen);
    const decided = yes || json ? seen : await this.#withAnswers(seen);
    const { view, rows, isBlocked } = decided;
    if (!json) this.#printObstacles(decided);
    const doable = doableOf(rows, decided.letRun, isBlocked);
    const open = openOf(decided);
    const letRun = mayChange(rows, isBlocked) ? decided.letRun : [];
    if (doable.length + letRun.length === 0) return open ?? "nothing";
    if (!yes) {
      const agreed = json ? undefined : await this.#io.ask("Do this?");
      if (agreed === undefined) this.#fail(["Nobody can be asked here: --yes does it."]);
      if (!agreed) return "declined";
    }
    const { backup, left } = await writeRows(view, doable, letRun, this.#io);
    this.#backup = backup;
    const done = doable.filter((row) => !left.includes(row));
    if (!json) this.#printDone(done, letRun.length);
    return left.length > 0 ? this.#fail(left.map(whyLeft)) : (open ?? "settled");
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
    this.#io.print(`Done: ${words.filter(Boolean).join(", ") || "nothing"}.`);
    if (this.#backup) this.#io.print(`The state before: ${this.#backup}`);
  }

  /** Asks about each create that a person decides, way by way until one is taken, and prints what that changes. */
  async #withAnswers(before: Decided): Promise<Decided> {
    const { take, forget } = before.typed;
    const answers = { take: [...take], forget: [...forget] };
    for (const row of before.rows.filter(({ does }) => isForPerson(does)))
      for (const { asks, then } of waysOf(row, this.#contextOf(before))) {
        if (!asks || !(await this.#io.ask(`${asks.text} (${then})`))) continue;
        answers[asks.option].push(asks.word);
        break;
      }
    const after = choose(before, answers);
    const planOf = ({ urn, found, does }: { urn: string; found: string; does: string }) =>
      [urn, found, does].join("\n");
    const printed = this.#describe(before).map(planOf);
    const changed = this.#describe(after).filter((one) => !printed.includes(planOf(one)));
    linesOf(changed).forEach(this.#io.print);
    return after;
  }

  /** Says which open creates stand in the way of what is decided. */
  #printObstacles(decided: Decided): void {
    const { rows, letRun, typed, urns } = decided;
    const obstacles = obstaclesIn(rows);
    const isAnyStopped = letRun.length > 0 || rows.some((row) => isPending(row) && !isOpen(row));
    if (obstacles.length === 0 || !isAnyStopped) return;
    const names = obstacles.map(({ doubt: { urn } }) => typedName(urn, urns));
    this.#io.print(
      `Pulumi's state takes all of these creates or none, and this is open: ${names.join(", ")}`,
    );
    const hasChosen = typed.take.length + typed.forget.length > 0;
    if (this.#options.yes || !hasChosen || !obstacles.some(({ does }) => isForPerson(does))) return;
    const { options } = this.#contextOf(decided);
    this.#io.print(`To be asked only about that: \`${settleCommand(...options)}\``);
  }

  #print(decided: Decided): void {
    const { print } = this.#io;
    const { view, service, rows, letRun, others, isBlocked } = decided;
    print(service ? serviceLine(summaryOf(service)) : "service    not asked");
    print(`stack      ${view.state.stack}: ${count(rows.length, "create")} in doubt`);
    linesOf(this.#describe(decided)).forEach(print);
    const context = this.#contextOf(decided);
    const asked = rows.filter(({ does }) => isForPerson(does));
    const words = asked.map((row) => choiceOf(row, context));
    if (words.length > 1 && words.every((choice) => choice !== undefined))
      print(
        `All of it, each by its first way: \`${settleCommand("--yes", ...context.options, ...words.flat())}\``,
      );
    if (others.length > 0 && (rows.some(isPending) || letRun.length > 0)) {
      const end = isBlocked
        ? "the state is not changed, because it would lose them: --drop-others allows that"
        : "the state loses them";
      print(`pending creates of other providers (${end}):`);
      for (const { urn } of others) print(`  ${urn}`);
    }
  }

  #contextOf({ view: { state }, urns, typed, choices, rows, letRun, service }: Decided): Context {
    const { stack: stackOption, dropOthers } = this.#options;
    const asked = rows.filter(({ does }) => isForPerson(does)).map(({ doubt }) => doubt.urn);
    // Repeat the options that decided the other creates: a state is changed only if each of its creates is decided.
    const again = (option: "take" | "forget") =>
      typed[option].flatMap((word, index) => {
        const choice = choices[option][index] ?? "";
        const isAsked = asked.some((urn) => isAbout(choice, urn));
        return isAsked ? [] : [`--${option}`, word];
      });
    const options = [
      ...(dropOthers ? ["--drop-others"] : []),
      ...givenOptions(this.#options),
      ...(stackOption === undefined ? [] : ["--stack", stackOption]),
      ...again("take"),
      ...again("forget"),
    ];
    const deletePolicy = service?.settings.deletePolicy;
    return { state, urns, stackOption, options, deletePolicy, letRun };
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
      stateBefore: this.#backup ?? null,
      problems: this.#problems,
    };
  }
}
