/** The command line of the emulator (`npm run emulator`): its flags, its start line and its exit codes. */
import { Command, CommanderError } from "commander";
import { matchesPattern } from "./faults/script";
import {
  ListenError,
  OptionError,
  startEmulator,
  type Emulator,
  type EmulatorOptions,
  type TokenDeclaration,
} from "./index";
import { listOrders, rateScopes, rateWindows, validSettings } from "./options";
import { parseTokenKind, scopes, type Scope } from "./tokens";

/** The port of `npm run emulator`. An emulator that a test starts listens on any free port instead. */
const defaultPort = 8420;

/** Declares the flags. Each flag has the name of the option that it sets, except for those in `Flags`. */
export function createCommand(): Command {
  const defaults = validSettings({});
  const declarations = `revoked, expired, valid, or its scopes (${scopes.join(",")}); repeatable`;
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];
  const number = (flag: string) => (value: string) => parseNumber(flag, value);
  return new Command("npm run emulator --")
    .description("The Compute Instances Service, emulated.")
    .helpOption("-h, --help", "print this")
    .configureHelp({ helpWidth: 110 })
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
    .option(
      "--port <number>",
      "port to listen on; 0 takes any free one",
      number("port"),
      defaultPort,
    )
    .option("--host <address>", "address to listen on", defaults.host)
    .option("--database <file>", "keep the instances in a file, not in memory")
    .option(
      "--provisioning-seconds <n|n-m>",
      `time in PROVISIONING, or "never" (default: ${String(defaults.provisioningSeconds)})`,
      parseRange,
    )
    .option(
      "--offline <pattern>",
      "names of instances that end OFFLINE; * stands for any text; repeatable",
      collect,
    )
    .option("--no-mac-addresses", "leave mac_address out of networks")
    .option("--no-ipv4-while-pending", "leave ipv4_public out while in PROVISIONING")
    .option(
      "--list-order <order>",
      listOrders.join(", "),
      oneOf("list-order", listOrders),
      defaults.listOrder,
    )
    .option("--cursor-parameter <name>", "turn paging on: the parameter gets the last item's id")
    .option(
      "--requests-per-minute <number>",
      "rate limit",
      number("requests-per-minute"),
      defaults.requestsPerMinute,
    )
    .option(
      "--rate-window <window>",
      rateWindows.join(", "),
      oneOf("rate-window", rateWindows),
      defaults.rateWindow,
    )
    .option(
      "--rate-scope <scope>",
      `${rateScopes.join(", ")}: count GET and POST of a path apart or not`,
      oneOf("rate-scope", rateScopes),
      defaults.rateScope,
    )
    .option(
      "--sandbox-lifetime-seconds <n>",
      "how long instances of sk_test_ tokens live",
      number("sandbox-lifetime-seconds"),
      defaults.sandboxLifetimeSeconds,
    )
    .option("--token <token>=<what>", declarations, collect)
    .option("--strict-tokens", "accept no other tokens than those of --token")
    .option("--destroy-path <path>", "offer DELETE there, such as /v2/instances/{id}")
    .option("--destroy-seconds <n>", "time from DELETE until gone", number("destroy-seconds"), 0)
    .option("--control", "offer /control/... to tests on this machine")
    .option("--log", "print a line for each request");
}

/** The flags that have no option of the same name, or an option of another type. */
interface Flags extends Omit<EmulatorOptions, "log"> {
  offline?: readonly string[];
  token?: readonly string[];
  control?: boolean;
  log?: boolean;
}

/**
 * Parses the command line into options.
 * @throws {OptionError} for an invalid value
 * @throws {CommanderError} for an unknown flag, and for `--help` once the help is printed
 */
export function parseCommandLine(args: readonly string[]): EmulatorOptions {
  const {
    offline = [],
    token = [],
    control,
    log,
    ...options
  } = createCommand().parse(args, { from: "user" }).opts<Flags>();
  return {
    ...options,
    tokens: Object.fromEntries(token.map(parseDeclaration)),
    endStatus: (name) =>
      offline.some((pattern) => matchesPattern(pattern, name)) ? "OFFLINE" : "ACTIVE",
    ...(control === true && { controlEndpoints: true }),
    ...(log === true && { log: print }),
  };
}

/** @throws {OptionError} for anything but a decimal number */
function parseNumber(flag: string, value: string): number {
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  throw new OptionError(`--${flag} must be a number, not "${value}"`);
}

/**
 * Parses the seconds of `--provisioning-seconds`: "5", "2-8" or "never".
 * @throws {OptionError} for anything else
 */
function parseRange(value: string): number | [number, number] {
  if (value === "never") return Infinity;
  const [from = 0, to] = value.split("-").map((part) => parseNumber("provisioning-seconds", part));
  return to === undefined ? from : [from, to];
}

function oneOf<T extends string>(flag: string, allowed: readonly T[]) {
  return (value: string): T => {
    const found = allowed.find((it) => it === value);
    if (found !== undefined) return found;
    throw new OptionError(`--${flag} must be one of ${allowed.join(", ")}, not "${value}"`);
  };
}

/**
 * Parses the value of `--token`, such as `sk_test_1=revoked`. Without `=`, the token is valid.
 * @throws {OptionError} with a message that does not contain the token
 */
function parseDeclaration(value: string): [token: string, TokenDeclaration] {
  const [token = "", what = "valid"] = value.split(/=(?=[^=]*$)/);
  if (what === "revoked" || what === "expired" || what === "valid") return [token, { state: what }];
  const tokenScopes = what === "" ? [] : what.split(",");
  const unknown = tokenScopes.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown === undefined) return [token, { scopes: tokenScopes as Scope[] }];
  const known = scopes.join(", ");
  throw new OptionError(
    `--token: "${unknown}" is neither revoked, expired, valid nor a scope (${known})`,
  );
}

/**
 * Runs the emulator until a signal stops it. Returns the exit code: 0 after a signal, 1 if it can't listen, 2 for
 * wrong options.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseCommandLine(args);
    const stopped = stopSignal();
    await using emulator = await startEmulator(options);
    print(startLine(emulator, options));
    await stopped;
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (error instanceof OptionError || error instanceof CommanderError) {
      return fail(`${error.message.replace(/^error: /, "")} (see --help)`, 2);
    }
    if (error instanceof ListenError) return fail(error.message, 1);
    throw error;
  }
}

/** One line that a person can copy from and a program can wait for. */
function startLine({ url }: Emulator, options: EmulatorOptions): string {
  const where = options.database === undefined ? "in memory" : `in ${options.database}`;
  const token = acceptedToken(options);
  return (
    `Compute emulator ready at ${url} (${where}; Ctrl-C stops it). To use it: ` +
    (token === undefined
      ? "no --token is a valid sk_live_ or sk_test_ one, and --strict-tokens accepts no other"
      : `pulumi config set compute:baseUrl ${url} && export COMPUTE_API_TOKEN=${token}`)
  );
}

/** A token that the emulator accepts. Undefined if it accepts none. A declared token with all scopes comes first. */
function acceptedToken({ tokens = {}, strictTokens }: EmulatorOptions): string | undefined {
  if (strictTokens !== true) return "sk_test_emulator";
  const valid = Object.keys(tokens).filter(
    (token) => parseTokenKind(token) !== undefined && (tokens[token]?.state ?? "valid") === "valid",
  );
  return valid.find((token) => tokens[token]?.scopes === undefined) ?? valid[0];
}

/** Resolves at the first signal that asks the process to stop. */
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

/** Prints an error, and returns the exit code. */
function fail(message: string, exitCode: number): number {
  process.stderr.write(`emulator: ${message}\n`);
  return exitCode;
}
