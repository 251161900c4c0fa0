/** Runs the command line that a person typed. Only this needs commander, so nothing else loads it. */
import { Command, CommanderError } from "commander";
import metadata from "../../metadata.json";
import { closest } from "../closest";
import { defectMessage } from "../errors";
import { executable, pluginDescription } from "../executable";
import { addAudit } from "./audit";
import { addDiscard } from "./discard";
import { addDoctor } from "./doctor";
import { addImportPlan } from "./importPlan";
import { processTerminal, type Terminal } from "./terminal";

/** Runs a command line in this process, and gives its exit code. Ctrl-C ends the process with 130. */
export async function runByHand(argv: readonly string[]): Promise<number> {
  process.on("SIGINT", () => process.exit(130));
  // The reader of a pipe may close it early.
  process.stdout.on("error", () => process.exit(1));
  return run(argv, processTerminal());
}

/**
 * Runs a command line. Gives 0: done; 1: something is wrong; 2: the command line is wrong; 70: a defect of
 * ours. The help of a command tells of its other exit codes.
 */
export async function run(argv: readonly string[], io: Terminal): Promise<number> {
  const lines = (text: string) => text.trimEnd().split("\n");
  const program = new Command(executable)
    .description(pluginDescription)
    .version(metadata.version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText(
      "after",
      "\nWithout a command it starts the provider and prints its port, for PULUMI_DEBUG_PROVIDERS=compute:PORT.\nThe provider then has the environment of this process.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => lines(text).forEach((line) => io.print(line)),
      writeErr: (text) => lines(text).forEach((line) => io.warn(line)),
      // Commander's own messages repeat what was typed; `usageError` does not.
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => refuseMissingValues(command));
  for (const add of [addDoctor, addDiscard, addAudit, addImportPlan]) add(program, io);

  try {
    await program.parseAsync(argv, { from: "user" });
    return io.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      io.warn(defectMessage(String(error)));
      // 1 is a finding of some commands.
      return 70;
    }
    // The help or the version was printed.
    if (error.exitCode === 0) return 0;
    const command = program.commands.find((it) => it.name() === argv[0]);
    io.warn(usageError(error, command ?? program));
    io.warn(`See ${[executable, command?.name(), "--help"].filter(Boolean).join(" ")}`);
    return 2;
  }
}

/**
 * Refuses a value that begins with "-", which is the next option, and an empty value, which comes from a shell
 * variable that is not set.
 */
function refuseMissingValues(command: Command): void {
  for (const option of command.options) {
    const values: unknown[] = [command.getOptionValue(option.attributeName())].flat();
    if (!values.some((value) => typeof value === "string" && /^(-|$)/.test(value))) continue;
    command.error(`error: option '${option.flags}' argument missing`, {
      code: "commander.optionMissingArgument",
    });
  }
}

/** What is wrong with the command line. It repeats no value, since each may be the token (G8). */
function usageError({ code, message }: CommanderError, { commands, options }: Command): string {
  const [, word = ""] = /'([^'=]*)/.exec(message) ?? [];
  const known = [...commands.map((it) => it.name()), ...options.map(({ long }) => long ?? "")];
  const guess = closest(word, known);
  const ending = guess ? `; did you mean ${guess}?` : ".";
  // A token has capitals, digits or underscores in it.
  const isHarmless = /^[a-z-]{1,30}$/.test(word);
  switch (code) {
    case "commander.unknownCommand":
      return `Unknown command${isHarmless ? ` "${word}"` : ""}${ending}`;
    case "commander.unknownOption":
      if (known.includes(word)) return `The option ${word} takes no value.`;
      return /token/i.test(word)
        ? "The token is never an option, since every program on this machine can read the options: set COMPUTE_API_TOKEN instead."
        : `Unknown option${isHarmless ? ` ${word}` : ""}${ending}`;
    case "commander.optionMissingArgument":
      return `The option ${word} needs a value.`;
    case "commander.excessArguments":
      return "There are more arguments than the command takes.";
    default:
      return "The command line is wrong.";
  }
}
