/** The command line of the emulator: its first lines and its exit codes. The flags are in options.ts. */
import { Command, CommanderError, Option } from "commander";
import { ListenError, OptionError, startEmulator, type Emulator } from "./index";
import { optionFlags, validSettings, type Settings } from "./options";

function createCommand(name: string): Command {
  const append = (value: string, earlier: readonly string[] = []) => [...earlier, value];
  const command = new Command(name)
    .description("The Compute Instances Service, emulated.")
    .helpOption("-h, --help", "print this")
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  for (const { flag, help, isRepeatable } of optionFlags) {
    const option = new Option(flag, help);
    command.addOption(isRepeatable ? option.argParser(append) : option);
  }
  return command;
}

/**
 * Parses the command line. `name` is what a person types before it.
 * @throws {OptionError} for an invalid value
 * @throws {CommanderError} for an unknown flag, and for `--help` once the help is printed
 */
export function parseCommandLine(args: readonly string[], name: string): Settings {
  const command = createCommand(name).parse(args, { from: "user" });
  const pairs = optionFlags.map(({ option, flag, parse, flagDefault }) => {
    const attribute = new Option(flag).attributeName();
    const typed: unknown = command.getOptionValue(attribute);
    return [option, typed === undefined ? flagDefault : parse(typed)] as const;
  });
  return validSettings(Object.fromEntries(pairs));
}

/** Runs the emulator until a signal. Returns the exit code: 0 after a signal, 1 if it can't listen, 2 for wrong options. */
export async function main(args: readonly string[], name: string): Promise<number> {
  try {
    const options = parseCommandLine(args, name);
    const stopped = stopSignal();
    await using emulator = await startEmulator(options);
    process.stdout.write(`${startLines(emulator, options)}\n`);
    await stopped;
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const help = `(see \`${name} --help\`)`;
    if (error instanceof OptionError) return fail(`${optionError(error)} ${help}`, 2);
    if (error instanceof CommanderError) return fail(`${usageError(error)} ${help}`, 2);
    if (!(error instanceof ListenError)) throw error;
    const next = error.isPortInUse ? `. For any free port: ${name} --port 0` : "";
    return fail(error.message + next, 1);
  }
}

function optionError({ option, message, problem }: OptionError): string {
  const flag = optionFlags.find((flag) => flag.option === option)?.flag.split(" ")[0];
  return flag === undefined ? message : `${flag} ${problem}`;
}

/** Repeats an unknown option only if it can't be a token. */
function usageError({ code, message }: CommanderError): string {
  const text = message.replace(/^error: /, "").replaceAll("\n", " ");
  if (code !== "commander.unknownOption") return text;
  const switchWithValue = optionFlags.find(({ flag }) => text.includes(` '${flag}=`));
  if (switchWithValue) return `${switchWithValue.flag} takes no value`;
  return text.replace(/ '.*'/s, (typed) => (/^ '--[a-z-]{1,30}'$/.test(typed) ? typed : ""));
}

/** The first line is for a program that waits, and the last one for a person to copy. */
function startLines({ url, origin }: Emulator, settings: Settings): string {
  const where = settings.database === ":memory:" ? "in memory" : `in ${settings.database}`;
  return [
    `Compute emulator ready at ${url} (${where}; Ctrl-C stops it)`,
    ...(settings.controlEndpoints ? [`Its page: ${origin}`] : []),
    `To use it: export COMPUTE_BASE_URL=${url} COMPUTE_API_TOKEN=sk_test_emulator`,
  ].join("\n");
}

/** Resolves at the first signal that asks the process to stop. */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
  return promise;
}

function fail(message: string, exitCode: number): number {
  process.stderr.write(`emulator: ${message}\n`);
  return exitCode;
}
