/** The emulator as a program of its own. */
import { help, readCommandLine, type CommandLine } from "./cliOptions";
import { ListenError, OptionError, startEmulator, type Emulator } from "./index";

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
  return (
    `Compute emulator ready at ${url} (${where}; Ctrl-C stops it). To use it: ` +
    `pulumi config set compute:baseUrl ${url} && export COMPUTE_API_TOKEN=sk_test_emulator`
  );
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
