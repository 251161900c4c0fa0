/** From a command line that a person typed to an exit code; loaded only for that, and commander with it. */
import { Command, CommanderError } from "commander";
import metadata from "../../metadata.json";
import { defectMessage } from "../errors";
import { executable, pluginDescription } from "../executable";
import { closest } from "../closest";
import { addAudit } from "./audit";
import { addDiscard } from "./discard";
import { addDoctor } from "./doctor";
import { addImportPlan } from "./importPlan";
import { processTerminal, type Terminal } from "./terminal";

/** Ctrl-C ends it with 130. */
export async function runByHand(argv: readonly string[]): Promise<number> {
  process.on("SIGINT", () => process.exit(130));
  // The reader of a pipe may have had enough.
  process.stdout.on("error", () => process.exit(1));
  return run(argv, processTerminal());
}

/** 0: done; 1: something is wrong; 2: wrong usage; 70: a defect of ours. The help of a command names others. */
export async function run(argv: readonly string[], io: Terminal): Promise<number> {
  const lines = (text: string) => text.trimEnd().split("\n");
  const program = new Command(executable)
    .description(pluginDescription)
    .version(metadata.version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText(
      "after",
      "\nWithout a command it serves, for PULUMI_DEBUG_PROVIDERS=compute:PORT. The environment that counts is then\nthe one given here.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => lines(text).forEach((line) => io.print(line)),
      writeErr: (text) => lines(text).forEach((line) => io.warn(line)),
      // They repeat what was typed; `usageError` has words of its own.
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => refuseForgottenValues(command));
  for (const add of [addDoctor, addDiscard, addAudit, addImportPlan]) add(program, io);

  try {
    await program.parseAsync(argv, { from: "user" });
    return io.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      // Not 1, which for some commands is a finding.
      io.warn(defectMessage(String(error)));
      return 70;
    }
    // Help, or the version.
    if (error.exitCode === 0) return 0;
    const command = program.commands.find((it) => it.name() === argv[0]);
    io.warn(usageError(error, command ?? program));
    io.warn(`See ${[executable, command?.name(), "--help"].filter(Boolean).join(" ")}`);
    return 2;
  }
}

/** A value that begins like an option is the next option, and an empty one a variable that is not set. */
function refuseForgottenValues(command: Command): void {
  for (const option of command.options) {
    const values: unknown[] = [command.getOptionValue(option.attributeName())].flat();
    if (!values.some((value) => typeof value === "string" && /^(-|$)/.test(value))) continue;
    command.error(`error: option '${option.flags}' argument missing`, {
      code: "commander.optionMissingArgument",
    });
  }
}

/** What is wrong with the command line. No value is repeated, since any of them may be the token (G8). */
function usageError({ code, message }: CommanderError, { commands, options }: Command): string {
  const [, word = ""] = /'([^'=]*)/.exec(message) ?? [];
  const known = [...commands.map((it) => it.name()), ...options.map(({ long }) => long ?? "")];
  const guess = closest(word, known);
  const ending = guess ? `; did you mean ${guess}?` : ".";
  // A token holds capitals, digits or underscores.
  const isHarmless = /^[a-z-]{1,30}$/.test(word);
  switch (code) {
    case "commander.unknownCommand":
      return `There is no ${isHarmless ? `command "${word}"` : "such command"}${ending}`;
    case "commander.unknownOption":
      return /token/i.test(word)
        ? "The token is never an option, since any program of this machine can read those: give it as COMPUTE_API_TOKEN."
        : `There is no ${isHarmless ? `option ${word}` : "such option"}${ending}`;
    case "commander.optionMissingArgument":
      return `The option ${word} lacks its value.`;
    case "commander.excessArguments":
      return "There are more arguments than the command takes.";
    default:
      return "The command line is wrong.";
  }
}
