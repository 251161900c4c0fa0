/** The emulator as a program of its own. */
import { help, readCommandLine, type CommandLine } from "./cliOptions";
import {
  ListenError,
  OptionError,
  startEmulator,
  type Emulator,
  type EmulatorOptions,
} from "./index";
import { wellFormedKind } from "./tokens";

/** Exit codes: 0 stopped when asked to, 1 cannot listen, 2 wrong options. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const commandLine = readCommandLine(args);
    if (commandLine.help) {
      print(help.trimEnd());
      return 0;
    }
    const stopped = stopSignal();
    await using emulator = await start(commandLine);
    print(startLine(emulator, commandLine));
    await stopped;
    return 0;
  } catch (error) {
    if (error instanceof OptionError) return complain(`${error.message} (see --help)`, 2);
    if (error instanceof ListenError) return complain(error.message, 1);
    throw error;
  }
}

async function start({ options, log }: CommandLine): Promise<Emulator> {
  return await startEmulator(log ? { ...options, log: print } : options);
}

/** One line, which a person can copy from and a program can wait for. */
function startLine({ url }: Emulator, { options }: CommandLine): string {
  const where = options.database === undefined ? "in memory" : `in ${options.database}`;
  const token = usableToken(options);
  return (
    `Compute emulator ready at ${url} (${where}; Ctrl-C stops it). To use it: ` +
    (token === undefined
      ? "no --token is a valid sk_live_ or sk_test_ one, and --strict-tokens accepts no other"
      : `pulumi config set compute:baseUrl ${url} && export COMPUTE_API_TOKEN=${token}`)
  );
}

/** One that it accepts; of those that are declared, one with all scopes before any other. */
function usableToken({ tokens = {}, strictTokens }: EmulatorOptions): string | undefined {
  if (strictTokens !== true) return "sk_test_emulator";
  const valid = Object.keys(tokens).filter(
    (token) => wellFormedKind(token) !== undefined && (tokens[token]?.state ?? "valid") === "valid",
  );
  return valid.find((token) => tokens[token]?.scopes === undefined) ?? valid[0];
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      resolve();
    });
  return promise;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(message: string, code: number): number {
  process.stderr.write(`emulator: ${message}\n`);
  return code;
}
