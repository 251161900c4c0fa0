/** Runs the command line that a person typed. `main.ts` loads this file only for that, so the provider never loads commander. */
import { createInterface } from "node:readline";
import { Command, CommanderError } from "commander";
import metadata from "../metadata.json";
import { Canceled } from "../provider/abort";
import { pluginCommand } from "../provider/advice";
import { closest } from "../provider/closest";
import { defectMessage } from "../provider/errors";
import { endSignals, hasTerminal, pluginDescription } from "../provider/process/executable";
import { endWithStarter } from "../provider/process/starter";
import { addAudit } from "./audit";
import { addDoctor } from "./doctor";
import { addEmulator } from "./emulator";
import { explainError } from "./listings";
import { addProbe } from "./probe/probe";
import { addSettle } from "./settle/settle";
import { wrongCommandLine } from "./settings";
import { createTerminal, type Terminal } from "./terminal";

/**
 * Runs a command line in this process, and returns its exit code (`run`). At Ctrl-C, the process ends with 130, the emulator with 0,
 * and `probe` once it has destroyed what it has made.
 */
export async function runByHand(argv: readonly string[]): Promise<number> {
  const ended = new AbortController();
  let isOutlived = false;
  const end = (exitCode: number) => () => {
    if (isOutlived) ended.abort(new Canceled());
    else process.exit(exitCode);
  };
  const outlive = () => {
    isOutlived = true;
    for (const signal of endSignals) process.on(signal, end(130));
    return ended.signal;
  };
  process.on("SIGINT", end(130));
  endWithStarter();
  // The program that reads the output may end first (`doctor | head -1`).
  for (const stream of [process.stdout, process.stderr]) stream.on("error", end(1));
  const io = createTerminal(
    process.env,
    (line) => process.stdout.write(`${line}\n`),
    (line) => process.stderr.write(`${line}\n`),
    hasTerminal() ? lineReader() : undefined,
    outlive,
  );
  const exitCode = await run(argv, io);
  // Waits until a slow reader of a pipe has read all, because the exit drops what is left (`audit --json | jq`).
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
  return exitCode;
}

/** Returns a function that reads the next typed line, or "" at the end of stdin. */
function lineReader(): () => Promise<string> {
  let lines: AsyncIterator<string> | undefined;
  return async () => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const line = await lines.next();
    return line.done ? "" : line.value;
  };
}

/**
 * Runs a command line, and returns the exit code: 0 if all went well, 1 if the command failed or found something, 2 if
 * the command line is wrong, 70 for a defect of the plugin. The help of `audit` and `settle` describes their exit codes.
 */
export async function run(argv: readonly string[], io: Terminal): Promise<number> {
  const linesOf = (output: string) => output.trimEnd().split("\n");
  const program = new Command(pluginCommand())
    .description(pluginDescription)
    .version(metadata.version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText(
      "after",
      "\nWithout a command, the plugin starts the provider and prints its port, for\nPULUMI_DEBUG_PROVIDERS=compute:PORT. The provider then uses the environment of\nthis process.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: (output) => linesOf(output).forEach((line) => io.print(line)),
      writeErr: (output) => linesOf(output).forEach((line) => io.warn(line)),
      // Commander's messages repeat all that was typed. `usageError` repeats only a word that can't be a token.
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => refuseMissingValues(command));
  for (const add of [addDoctor, addSettle, addAudit, addProbe, addEmulator]) add(program, io);

  try {
    await program.parseAsync(argv, { from: "user" });
    return io.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const lines = explainError(error);
      (lines ?? [defectMessage(String(error))]).forEach((line) => io.warn(line));
      // Not 1 for a defect, since `audit` and `doctor` end with 1 if they find something.
      return lines ? 1 : 70;
    }
    // The help or the version was printed.
    if (error.exitCode === 0) return 0;
    const command = program.commands.find((known) => known.name() === argv[0]);
    io.warn(usageError(error, command ?? program));
    io.warn(`See ${pluginCommand(...(command ? [command.name()] : []), "--help")}`);
    return 2;
  }
}

/** Refuses a value that begins with "-", probably the next option, and an empty one, probably an unset shell variable. */
function refuseMissingValues(command: Command): void {
  for (const option of command.options) {
    const values: unknown[] = [command.getOptionValue(option.attributeName())].flat();
    if (!values.some((value) => typeof value === "string" && /^(-|$)/.test(value))) continue;
    command.error(`error: option '${option.flags}' argument missing`, {
      code: "commander.optionMissingArgument",
    });
  }
}

/** Says what is wrong with the command line, without its values, since any of them may be the token (G8). */
function usageError({ code, message }: CommanderError, { commands, options }: Command): string {
  if (code === wrongCommandLine) return message;
  if (code === "commander.excessArguments")
    return "There are more arguments than the command accepts.";
  const [, word = ""] = /'([^'=]*)/.exec(message) ?? [];
  if (code === "commander.optionMissingArgument") return `The option ${word} needs a value.`;
  const known = [...commands.map((one) => one.name()), ...options.map(({ long }) => long ?? "")];
  // Commander calls `--json=1` unknown, too.
  if (known.includes(word)) return `The option ${word} takes no value.`;
  if (/token/i.test(word))
    return "The token is never an option, since every program on this machine can read the options: set COMPUTE_API_TOKEN instead.";
  const what = code === "commander.unknownCommand" ? "command" : "option";
  // Every token of the service contains underscores, so no token matches.
  const named = /^[a-z-]{1,30}$/.test(word) ? ` ${word}` : "";
  const guess = closest(word, known);
  return `Unknown ${what}${named}${guess ? `; did you mean ${guess}?` : "."}`;
}
