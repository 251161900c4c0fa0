/** The command line of the emulator: what can be given, and what it means. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { like } from "./faults/script";
import {
  listOrders,
  OptionError,
  rateScopes,
  rateWindows,
  settingsFrom,
  type EmulatorOptions,
} from "./options";
import { scopes, type Scope, type TokenDeclaration } from "./tokens";

const defaults = settingsFrom({});
/** Of the program; a test's own emulator takes any free one. */
const port = "8420";

/** `takes`, `says` and `otherwise` are the help's: the value, the meaning, what holds without it. */
export const flags = {
  port: {
    type: "string",
    default: port,
    takes: "number",
    says: "port to listen on; 0 takes any free one",
    otherwise: port,
  },
  host: {
    type: "string",
    takes: "address",
    says: "address to listen on",
    otherwise: defaults.host,
  },
  database: {
    type: "string",
    takes: "file",
    says: "keep the instances in a file",
    otherwise: "in memory",
  },
  "provisioning-seconds": {
    type: "string",
    takes: "n|n-m",
    says: 'time in PROVISIONING; "never" is possible',
    otherwise: String(defaults.provisioningSeconds),
  },
  offline: {
    type: "string",
    multiple: true,
    default: [] as string[],
    takes: "pattern",
    says: "names that end OFFLINE, * for any text; repeatable",
  },
  "mac-addresses": {
    type: "boolean",
    default: defaults.macAddresses,
    says: "leave mac_address out of networks",
  },
  "ipv4-while-pending": {
    type: "boolean",
    default: defaults.ipv4WhilePending,
    says: "leave ipv4_public out while in PROVISIONING",
  },
  "list-order": {
    type: "string",
    takes: "order",
    says: listOrders.join(", "),
    otherwise: defaults.listOrder,
  },
  "cursor-parameter": {
    type: "string",
    takes: "name",
    says: "turn paging on: id of the last item seen",
    otherwise: "off",
  },
  "requests-per-minute": {
    type: "string",
    takes: "number",
    says: "rate limit",
    otherwise: String(defaults.requestsPerMinute),
  },
  "rate-window": {
    type: "string",
    takes: "window",
    says: rateWindows.join(", "),
    otherwise: defaults.rateWindow,
  },
  "rate-scope": {
    type: "string",
    takes: "scope",
    says: `${rateScopes.join(", ")}: GET and POST apart or not`,
    otherwise: defaults.rateScope,
  },
  "sandbox-lifetime-seconds": {
    type: "string",
    takes: "n",
    says: "how long instances of sk_test_ tokens live",
    otherwise: String(defaults.sandboxLifetimeSeconds),
  },
  token: {
    type: "string",
    multiple: true,
    default: [] as string[],
    takes: "token>=<what",
    says: `revoked, expired, valid, or the scopes it has\n(${scopes.join(",")}); repeatable`,
  },
  "strict-tokens": {
    type: "boolean",
    default: defaults.strictTokens,
    says: "accept no other tokens than those of --token",
  },
  "destroy-path": {
    type: "string",
    takes: "path",
    says: "offer DELETE there, say /v2/instances/{id}",
    otherwise: "off",
  },
  "destroy-seconds": {
    type: "string",
    takes: "number",
    says: "time from DELETE until gone",
    otherwise: String(defaults.destroySeconds),
  },
  control: {
    type: "boolean",
    default: defaults.controlEndpoints,
    says: "offer /control/... to tests on this machine",
  },
  log: { type: "boolean", default: false, says: "print a line for each request" },
  help: { type: "boolean", short: "h", default: false, says: "print this" },
} as const satisfies Record<string, Flag>;

type Flag = NonNullable<ParseArgsConfig["options"]>[string] & {
  takes?: string;
  says: string;
  otherwise?: string;
};

export const help = `The Compute Instances Service, emulated.

Usage: npm run emulator -- [options]

${Object.entries<Flag>(flags).map(helpLine).join("\n")}
`;

function helpLine([name, { default: on, takes, says, otherwise }]: [string, Flag]): string {
  const flag = `--${on === true ? "no-" : ""}${name}${takes === undefined ? "" : ` <${takes}>`}`;
  const meaning = says.replace("\n", `\n${" ".repeat(35)}`);
  const line = `  ${flag.padEnd(33)}${meaning}`;
  return otherwise === undefined ? line : `${line.padEnd(82)}(${otherwise})`;
}

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
