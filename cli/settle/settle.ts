/**
 * `settle`: looks at the creates of a stack whose runs were killed, and puts right what is in doubt. It writes into the state
 * what the engine would have written had it got the answer (G1), and drops nothing that may run (G3).
 */
import type { Command } from "commander";
import { installAdvice, runPulumi } from "../pulumi";
import { explainError, failureLines } from "../listings";
import {
  addOptions,
  checkSettings,
  commandLineError,
  type SettingOptions,
  stackHelp,
} from "../settings";
import { count, printData, Problem, type Terminal } from "../terminal";
import { settleCommand } from "../../provider/advice";
import { decideAll, doableOf, takenUrn, type Choices, type Row } from "./decide";
import { look, readExport, type Look, type Place } from "./look";
import { choiceOf, linesOf, nextUp, show, showStopping, type Context } from "./rows";
import { carryOut, type Written } from "./write";

interface Options extends SettingOptions {
  yes?: true;
  json?: true;
  stack?: string;
  take?: string[];
  forget?: string[];
  dropOthers?: true;
}

const exitCodeHelp = `
A create is in doubt if its run was killed before the state had its instance.
Without --yes, settle changes nothing before it has asked. The state that it
replaces is kept in a file.

Exit codes:
  0  nothing is left to decide; of a test token, the rest is given up
  1  a person has to decide something, answered no, or could not be asked;
     or the state has another provider's pending creates
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
    "Forget the creates of this resource: what they may have left is not its instance. Repeatable.",
  "--drop-others":
    "Let the state lose the pending creates of other providers, too, after they were printed. Pulumi keeps none when a state is changed by hand.",
};

/** How often a state may change while it is looked at. */
const maxLooks = 3;

/** Adds the command `settle`. */
export function addSettle(program: Command, io: Terminal): void {
  const command = program
    .command("settle")
    .description("put right the creates of killed runs: asks, then changes the state of one stack")
    .addHelpText("after", exitCodeHelp);
  addOptions(command, ownOptions).action(async (options: Options) => {
    const choices = choicesOf(options, command);
    const settling = new Settling(options, choices, io);
    await settling.run();
    io.exitCode = settling.end();
  });
}

function choicesOf({ take = [], forget = [] }: Options, command: Command): Choices {
  if (!take.every((word) => /^urn:.*=./s.test(word)))
    commandLineError(command, "Give --take as URN=ID, where URN is that of the resource.");
  if (forget.some((urn) => !urn.startsWith("urn:")))
    commandLineError(command, "Give --forget the URN of the resource.");
  return { take, forget: new Set(forget) };
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

/** One run of the command. */
class Settling {
  readonly #options: Options;
  readonly #io: Terminal;
  #choices: Choices;
  #result: keyof typeof outcomes = "undecided";
  #look: Look | undefined;
  #written: Written | undefined;
  readonly #problems: string[] = [];

  constructor(options: Options, choices: Choices, io: Terminal) {
    this.#options = options;
    this.#choices = choices;
    this.#io = io;
  }

  /** Looks, asks and writes. What fails is printed, and is undecided. */
  async run(): Promise<void> {
    try {
      const place = await this.#place();
      for (let looks = 1; looks <= maxLooks; looks++) {
        this.#look = await look(place, this.#choices, this.#io, this.#look);
        if (!this.#options.json) this.#print(this.#look);
        const result = await this.#settle(this.#look);
        if (result) {
          this.#result = result;
          return;
        }
        this.#fail(["The state has changed meanwhile."]);
      }
    } catch (error) {
      const lines = explainError(error);
      if (!lines) throw error;
      this.#fail(lines);
    }
  }

  /** Prints the end, and returns the exit code. */
  end(): number {
    const { exitCode, verdict } = outcomes[this.#result];
    const isSaid = this.#written !== undefined || this.#result === "nothing";
    if (this.#options.json) printData(this.#data(), this.#io);
    else this.#io.print([isSaid ? "" : "Nothing was changed. ", verdict].join("").trim());
    return exitCode;
  }

  #fail(lines: readonly string[]): void {
    this.#problems.push(...lines);
    for (const line of lines) this.#io.warn(line);
  }

  /** @throws Problem if there is no stack to settle */
  async #place(): Promise<Place> {
    const { env, clock } = this.#io;
    // Without the CLI, the settings of the stack would seem to be missing.
    await runPulumi(["version"], env, installAdvice);
    const { findings, found, stack } = await checkSettings(
      this.#options,
      this.#options.stack,
      this.#io,
    );
    if (stack === undefined) {
      const [problem, next] = failureLines(findings.filter(({ check }) => check === "stack"));
      throw new Problem(
        problem ?? "there is no stack to settle",
        next?.replace("→ ", "") ??
          "Run this command in the folder of the project, and name the stack with --stack.",
      );
    }
    return { stack, settings: found, findings, begunAt: clock.now() };
  }

  /** Asks, and carries out what is decided. Returns undefined if the state has changed meanwhile. */
  async #settle(seen: Look): Promise<keyof typeof outcomes | undefined> {
    const { yes, json } = this.#options;
    if (seen.rows.some(({ does }) => does.kind === "running")) return "undecided";
    const rows = yes || json ? seen.rows : await this.#withAnswers(seen);
    const doable = this.#doableOf(rows, seen);
    const isLeft = rows.some(({ does }) => does.kind === "left");
    const isFound =
      rows.some((row) => row.does.kind !== "left" && !doable.includes(row)) ||
      seen.stopping.some(({ holder }) => !holder);
    if (doable.length === 0) return isFound ? "found" : isLeft ? "left" : "nothing";
    if (!yes) {
      const agreed = json ? undefined : await this.#io.ask("Do this?");
      if (agreed === undefined) this.#fail(["Nobody can be asked here: --yes does it."]);
      if (!agreed) return "declined";
    }
    const again = await readExport(seen.view.stack, this.#io.env);
    if (again.text !== seen.view.state.text) return undefined;
    this.#written = await carryOut(seen, doable, this.#io);
    this.#report(doable);
    if (this.#written.stuck.length > 0) return "undecided";
    return isFound ? "found" : isLeft ? "left" : "settled";
  }

  /** The pending creates of other providers would be lost, too, if the state was changed. */
  #doableOf(rows: readonly Row[], { others }: Look): readonly Row[] {
    return doableOf(rows, others.length > 0 && !this.#options.dropOthers);
  }

  /** Asks about each create for which one instance comes into question. */
  async #withAnswers(seen: Look): Promise<readonly Row[]> {
    const { view } = seen;
    const take = [...this.#choices.take];
    for (const { doubt, does } of seen.rows) {
      if (does.kind !== "ask" || does.by !== "take" || does.items.length !== 1) continue;
      const [id] = does.items.map((item) => item.id);
      const next = nextUp(doubt, does.occupant, this.#context(seen));
      const then = does.occupant === undefined ? "" : ` Then ${next}.`;
      if (await this.#io.ask(`Is ${id} the instance of ${doubt.urn}, to take it over?${then}`))
        take.push(`${doubt.urn}=${id}`);
    }
    if (take.length === this.#choices.take.length) return seen.rows;
    this.#choices = { ...this.#choices, take };
    const doubts = seen.rows.map(({ doubt }) => doubt);
    return decideAll(doubts, { ...view, choices: this.#choices });
  }

  #print(seen: Look): void {
    const { print, warn } = this.#io;
    const { view, service, rows, stopping, others, unreadable } = seen;
    const where = service
      ? `; ${service.origin.baseUrl} (${service.origin.tokenKind} token) lists ${count(service.listing.items.size, "instance")}`
      : "; the service was not asked";
    print(`stack ${view.stack}: ${count(rows.length, "create")} in doubt${where}`);
    const context = this.#context(seen);
    const doable = this.#options.yes ? this.#doableOf(rows, seen) : [];
    for (const row of rows) {
      const isPlan = ["held", "gone", "put"].includes(row.does.kind) && !doable.includes(row);
      linesOf(show(row, context), isPlan).forEach(print);
    }
    for (const one of stopping) linesOf(showStopping(one, context)).forEach(print);
    const asked = rows.filter(({ does }) => does.kind === "ask");
    const words = asked.map(choiceOf);
    if (asked.length > 1 && words.every((choice) => choice !== undefined))
      print(
        `All of it, each by its first way: \`${settleCommand("--yes", ...context.options, ...words.flat())}\``,
      );
    const isNeeded = rows.some(({ doubt }) => doubt.pending.length > 0);
    if (others.length > 0 && isNeeded) {
      const end = this.#options.dropOthers
        ? "the state loses them"
        : "the state is not changed, because it would lose them: --drop-others allows that";
      print(`pending creates of other providers (${end}):`);
      for (const { resource } of others) print(`  ${resource.urn}`);
    }
    for (const other of unreadable) warn(`The state of stack ${other} can't be read.`);
    this.#printUnknown(rows);
  }

  /** Names what was decided of creates that are not in doubt. */
  #printUnknown(rows: readonly Row[]): void {
    const { take, forget } = this.#choices;
    const doubts = rows.map(({ doubt }) => doubt);
    const unknown = [
      ...take.filter((word) => takenUrn(word, doubts) === undefined),
      ...[...forget].filter((urn) => !doubts.some((doubt) => doubt.urn === urn)),
    ];
    for (const word of unknown)
      this.#io.warn(`No create of ${word} is in doubt, so nothing was decided of it.`);
  }

  #context({ view: { stack }, rows, service }: Look): Context {
    const { stack: stackOption } = this.#options;
    const doubts = rows.map(({ doubt }) => doubt);
    const isDecided = (urn: string | undefined) =>
      rows.some(({ doubt, does }) => doubt.urn === urn && does.kind !== "ask");
    // A state is changed only if each of its creates is decided, so what has decided one is typed again.
    const options = [
      ...(stackOption === undefined ? [] : ["--stack", stackOption]),
      ...this.#choices.take
        .filter((word) => isDecided(takenUrn(word, doubts)))
        .flatMap((word) => ["--take", word]),
      ...[...this.#choices.forget].filter(isDecided).flatMap((urn) => ["--forget", urn]),
    ];
    const deletePolicy = service?.session.settings.deletePolicy;
    return { stack, stackOption, options, deletePolicy };
  }

  #report(done: readonly Row[]): void {
    const { kept, stuck } = this.#written ?? { stuck: [] };
    if (kept !== undefined && !this.#options.json) {
      const put = done.filter(({ does }) => does.kind === "put").length;
      this.#io.print(`The state was changed: ${count(put, "instance")} came into it.`);
      this.#io.print(`The state before: ${kept}`);
    }
    if (stuck.length > 0)
      this.#fail(stuck.map((urn) => `The record of ${urn} could not be changed.`));
  }

  #data(): object {
    const seen = this.#look;
    const context = seen && this.#context(seen);
    const inDoubt = context && [
      ...seen.rows.map((row) => show(row, context)),
      ...seen.stopping.map((one) => showStopping(one, context)),
    ];
    return {
      result: this.#result,
      stack: seen?.view.stack ?? null,
      service: seen?.service
        ? { baseUrl: seen.service.origin.baseUrl, tokenKind: seen.service.origin.tokenKind }
        : null,
      inDoubt: inDoubt ?? [],
      otherPendingCreates: seen?.others.map(({ resource }) => resource.urn) ?? [],
      stateBefore: this.#written?.kept ?? null,
      problems: this.#problems,
    };
  }
}
