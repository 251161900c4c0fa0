/** The command line of the emulator: what can be given, and what it means. */
import { parseArgs } from "node:util";
import { like } from "./faults/script";
import { listOrders, OptionError, rateScopes, rateWindows, type EmulatorOptions } from "./options";
import { scopes, type Scope, type TokenDeclaration } from "./tokens";

export const help = `The Compute Instances Service, emulated.

Usage: npm run emulator -- [options]

  --port <number>                  port to listen on; 0 takes any free one        (8420)
  --host <address>                 address to listen on                           (127.0.0.1)
  --database <file>                keep the instances in a file                   (in memory)
  --provisioning-seconds <n|n-m>   time in PROVISIONING; "never" is possible      (5)
  --offline <pattern>              names that end OFFLINE, * for any text; repeatable
  --no-mac-addresses               leave mac_address out of networks
  --no-ipv4-while-pending          leave ipv4_public out while in PROVISIONING
  --list-order <order>             ${listOrders.join(", ")}                       (oldest)
  --cursor-parameter <name>        turn paging on: id of the last item seen       (off)
  --requests-per-minute <number>   rate limit                                     (1000)
  --rate-window <window>           ${rateWindows.join(", ")}                                  (sliding)
  --rate-scope <scope>             ${rateScopes.join(", ")}: GET and POST apart or not     (endpoint)
  --sandbox-lifetime-seconds <n>   how long instances of sk_test_ tokens live     (86400)
  --token <token>=<what>           revoked, expired, valid, or the scopes it has
                                   (${scopes.join(",")}); repeatable
  --strict-tokens                  accept no other tokens than those of --token
  --destroy-path <path>            offer DELETE there, say /v2/instances/{id}     (off)
  --destroy-seconds <number>       time from DELETE until gone                    (0)
  --control                        offer /control/... to tests on this machine
  --log                            print a line for each request
  --help                           print this
`;

export const flags = {
  port: { type: "string", default: "8420" },
  host: { type: "string" },
  database: { type: "string" },
  "provisioning-seconds": { type: "string" },
  offline: { type: "string", multiple: true, default: [] as string[] },
  "mac-addresses": { type: "boolean", default: true },
  "ipv4-while-pending": { type: "boolean", default: true },
  "list-order": { type: "string" },
  "cursor-parameter": { type: "string" },
  "requests-per-minute": { type: "string" },
  "rate-window": { type: "string" },
  "rate-scope": { type: "string" },
  "sandbox-lifetime-seconds": { type: "string" },
  token: { type: "string", multiple: true, default: [] as string[] },
  "strict-tokens": { type: "boolean", default: false },
  "destroy-path": { type: "string" },
  "destroy-seconds": { type: "string" },
  control: { type: "boolean", default: false },
  log: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export interface CommandLine {
  help: boolean;
  log: boolean;
  options: EmulatorOptions;
}

/** Throws an OptionError for anything that can't be meant. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const values = parsed(args);
  const options: EmulatorOptions = {
    port: number("port", values.port),
    macAddresses: values["mac-addresses"],
    ipv4WhilePending: values["ipv4-while-pending"],
    strictTokens: values["strict-tokens"],
    controlEndpoints: values.control,
    tokens: Object.fromEntries(values.token.map(tokenDeclaration)),
    endStatus: (name) =>
      values.offline.some((pattern) => like(pattern, name)) ? "OFFLINE" : "ACTIVE",
    ...given("host", values.host, String),
    ...given("database", values.database, String),
    ...given("provisioningSeconds", values["provisioning-seconds"], provisioning),
    ...given("listOrder", values["list-order"], oneOf("list-order", listOrders)),
    ...given("cursorParameter", values["cursor-parameter"], String),
    ...given("requestsPerMinute", values["requests-per-minute"], (text) =>
      number("requests-per-minute", text),
    ),
    ...given("rateWindow", values["rate-window"], oneOf("rate-window", rateWindows)),
    ...given("rateScope", values["rate-scope"], oneOf("rate-scope", rateScopes)),
    ...given("sandboxLifetimeSeconds", values["sandbox-lifetime-seconds"], (text) =>
      number("sandbox-lifetime-seconds", text),
    ),
    ...given("destroyPath", values["destroy-path"], String),
    ...given("destroySeconds", values["destroy-seconds"], (text) =>
      number("destroy-seconds", text),
    ),
  };
  return { help: values.help, log: values.log, options };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowNegative: true }).values;
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

/** Nothing at all for an option that was not given, so that the emulator's own default holds. */
function given<K extends keyof EmulatorOptions, T extends EmulatorOptions[K]>(
  key: K,
  text: string | undefined,
  read: (text: string) => T,
): Partial<Record<K, T>> {
  return text === undefined ? {} : ({ [key]: read(text) } as Record<K, T>);
}

function number(flag: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new OptionError(`--${flag} must be a number, not "${text}"`);
  return Number(text);
}

function provisioning(text: string): number | [number, number] {
  if (text === "never") return Infinity;
  const [from = "", to] = text.split("-");
  const low = number("provisioning-seconds", from);
  return to === undefined ? low : [low, number("provisioning-seconds", to)];
}

function oneOf<T extends string>(flag: string, allowed: readonly T[]) {
  return (text: string): T => {
    const found = allowed.find((value) => value === text);
    if (found === undefined)
      throw new OptionError(`--${flag} must be one of ${allowed.join(", ")}, not "${text}"`);
    return found;
  };
}

function tokenDeclaration(text: string): [string, TokenDeclaration] {
  const [token = "", what = "valid"] = text.split(/=(?=[^=]*$)/);
  if (what === "revoked" || what === "expired" || what === "valid") return [token, { state: what }];
  const named = what === "" ? [] : what.split(",");
  const unknown = named.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown !== undefined)
    throw new OptionError(
      `--token: "${unknown}" is neither revoked, expired, valid nor a scope (${scopes.join(", ")})`,
    );
  return [token, { scopes: named as Scope[] }];
}
