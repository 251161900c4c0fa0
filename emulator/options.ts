/**
 * The one table of the emulator's options: types, defaults, validation, and the flags of the command line with their
 * help. Quoted phrases are from the service's document.
 */
import * as z from "zod";
import { documentedRequestsPerMinute } from "../provider/api/serviceConstants";
import { parseNet } from "./instances/addresses";
import { wallClock, type EmulatorClock } from "./clock";
import { matchesPattern } from "./pattern";
import type { RandomSource } from "./random";
import { scopes, tokenStates } from "./tokens";

/** What error messages and the command line say about an option. */
interface OptionInfo extends OptionDetails {
  /** Completes "… must be" in error messages. */
  must: string;
}

interface OptionDetails {
  /** In the syntax of commander. Undefined for an option that only code sets. */
  flag?: string;
  help?: string;
  /** The default of the flag, if it differs from the default of the option. */
  flagDefault?: number;
  /** Whether the flag can be given several times. `parse` then gets all values. */
  isRepeatable?: true;
  /** Whether error messages must not repeat the value. */
  isSecret?: true;
  /** Makes the option's value from what was typed. Returns a wrong string unchanged, so that the schema refuses it. */
  parse?: (typed: never) => unknown;
}

const infos = z.registry<OptionInfo>();

const listOrders = ["oldest", "newest", "shuffled"] as const;
/** The order of the instances in a listing. */
export type ListOrder = (typeof listOrders)[number];

const rateWindows = ["sliding", "fixed"] as const;
/** The window of the rate limit: any 60 seconds (`sliding`), or each minute of the clock (`fixed`). */
export type RateWindow = (typeof rateWindows)[number];

/** The body of GET /v2/account: any JSON, or any string (also an empty one) with its content type. */
export type AccountBody = { json: unknown } | { text: string; contentType?: string };

type EndStatus = "ACTIVE" | "OFFLINE";

/** A status between PROVISIONING and the end status, and how long an instance has it. */
const statusBetween = z.object({
  status: z.string().regex(/^[A-Za-z_]+$/),
  seconds: z.number().nonnegative(),
});
/** A status between PROVISIONING and the end status. */
export type StatusBetween = z.output<typeof statusBetween>;

const isFunction = (value: unknown) => typeof value === "function";

const numberOption = (isValid: (value: number) => boolean, byDefault: number, info: OptionInfo) =>
  z
    .custom<number>((value) => typeof value === "number" && isValid(value))
    .default(byDefault)
    .register(infos, { parse: parseNumber, ...info });

const switchOption = (byDefault: boolean, info: OptionDetails) =>
  z
    .boolean()
    .default(byDefault)
    .register(infos, { must: "true or false", ...info });

/** The first value is the default. */
const choiceOption = <Value extends string>(
  values: readonly [Value, ...Value[]],
  info: OptionDetails,
) =>
  z
    .enum(values)
    .default(() => values[0])
    .register(infos, { must: `one of ${values.join(", ")}`, ...info });

const tokenDeclaration = z.object({
  state: z.enum(tokenStates).optional(),
  scopes: z.array(z.enum(scopes)).readonly().optional(),
});

const definition = z.strictObject({
  /** 0 means any free port. */
  port: numberOption((port) => Number.isInteger(port) && port >= 0 && port <= 65535, 0, {
    must: "a whole number from 0 to 65535",
    flag: "--port <number>",
    help: "port to listen on; 0 takes any free one",
    flagDefault: 8420,
  }),

  host: z.string().min(1).default("127.0.0.1").register(infos, {
    must: "an address of this machine",
    flag: "--host <address>",
    help: "address to listen on",
  }),

  database: z.string().min(1).default(":memory:").register(infos, {
    must: "the path of a file, or :memory:",
    flag: "--database <file>",
    help: "keep the instances in a file, not in memory",
  }),

  /** Seconds, a range of seconds, or a function of the name. `Infinity` lasts until `control.finishProvisioning()`. */
  provisioningSeconds: z
    .custom<number | readonly [number, number] | ((name: string) => number)>(isProvisioningTime)
    .default(5)
    .register(infos, {
      must: 'seconds from 0, a range of them that goes upwards, such as 2-8, or "never"',
      flag: "--provisioning-seconds <n|n-m>",
      help: 'time in PROVISIONING, or "never"',
      parse: parseRange,
    }),

  endStatus: z
    .custom<EndStatus | ((name: string) => EndStatus)>(
      (value) => value === "ACTIVE" || value === "OFFLINE" || isFunction(value),
    )
    .default("ACTIVE")
    .register(infos, {
      must: "ACTIVE, OFFLINE or a function",
      flag: "--offline <pattern>",
      help: "names of instances that end OFFLINE; * stands for any text; repeatable",
      isRepeatable: true,
      parse: (patterns: readonly string[]) => (name: string) =>
        patterns.some((pattern) => matchesPattern(pattern, name)) ? "OFFLINE" : "ACTIVE",
    }),

  statusesBetween: z
    .array(statusBetween)
    .readonly()
    .default([])
    .register(infos, {
      must: "<status>=<seconds>, such as BOOTING=2",
      flag: "--status-between <status=n>",
      help: "a status after PROVISIONING, for n seconds; repeatable",
      isRepeatable: true,
      parse: (typed: readonly string[]) => typed.map(parseStatusBetween),
    }),

  /** 0 shows the address from the start. */
  addressSeconds: numberOption((seconds) => seconds >= 0, 0, {
    must: "0 or more",
    flag: "--address-seconds <n>",
    help: "time from the end status until the address is listed",
  }),

  addressBefore: z.string().default("").register(infos, {
    must: "a text",
    flag: "--address-before <text>",
    help: "what stands there until then, such as 0.0.0.0",
  }),

  listingSeconds: numberOption((seconds) => seconds >= 0, 0, {
    must: "0 or more",
    flag: "--listing-seconds <n>",
    help: "time until listings show a new instance",
  }),

  uniqueNames: switchOption(false, {
    flag: "--unique-names",
    help: "refuse a name that another instance has",
  }),

  nameSuffix: z.string().default("").register(infos, {
    must: "a text",
    flag: "--name-suffix <text>",
    help: "append this to each name, such as .dc1.example",
  }),

  /** "Present in one variant of the provisioning response": false sends the other variant. */
  macAddresses: switchOption(true, {
    flag: "--no-mac-addresses",
    help: "leave mac_address out of networks",
  }),

  addresses: z
    .string()
    .refine((text) => parseNet(text) !== undefined)
    .optional()
    .register(infos, {
      must: "a net of IPv4 addresses, such as 127.0.0.0/8",
      flag: "--addresses <net>",
      help: "net of the public addresses; you can listen in 127.0.0.0/8 (macOS: 127.0.0.1/32)",
    }),

  /** With `shuffled`, each listing has another order, unless there is a cursor parameter. */
  listOrder: choiceOption(listOrders, {
    flag: "--list-order <order>",
    help: listOrders.join(", "),
  }),

  /** "Pagination cursor parameter: not shown", so the default is none. */
  cursorParameter: z
    .string()
    .regex(/^(?!(?:limit|status)$)[A-Za-z0-9_.[\]-]+$/)
    .optional()
    .register(infos, {
      must: "the name of a query parameter other than limit and status",
      flag: "--cursor-parameter <name>",
      help: "turn paging on: it gets the last id (page, offset: a number)",
    }),

  /** As in most services, an unknown parameter, such as a guessed cursor, is ignored by default. */
  refuseUnknownParameters: switchOption(false, {
    flag: "--refuse-unknown-parameters",
    help: "answer 400 to an unknown query parameter",
  }),

  requestsPerMinute: numberOption((count) => count >= 1, documentedRequestsPerMinute, {
    must: "1 or more",
    flag: "--requests-per-minute <number>",
    help: "rate limit",
  }),

  rateWindow: choiceOption(rateWindows, {
    flag: "--rate-window <window>",
    help: `${rateWindows.join(", ")}: any 60 seconds, or each minute of the clock`,
  }),

  rateScope: choiceOption(["endpoint", "path"], {
    flag: "--rate-scope <scope>",
    help: "endpoint, path: count GET and POST of a path apart or not",
  }),

  /** Other tokens are valid if they are well-formed. */
  tokens: z
    .record(z.string(), tokenDeclaration)
    .default({})
    .register(infos, {
      must: `<token>=<what>, such as sk_test_1=revoked; <what> is revoked, expired, valid, or some of the scopes ${scopes.join(",")}`,
      flag: "--token <token>=<what>",
      help: `revoked, expired, valid, or its scopes (${scopes.join(",")}); repeatable`,
      isRepeatable: true,
      isSecret: true,
      parse: (typed: readonly string[]) => Object.fromEntries(typed.map(parseDeclaration)),
    }),

  /** The service has no DELETE, so the default is none. */
  destroyPath: z
    .string()
    .regex(/^\/v2\/[^?#]*\{id\}[^?#]*$/)
    .optional()
    .register(infos, {
      must: "a path that starts with /v2/ and contains {id}",
      flag: "--destroy-path <path>",
      help: "offer DELETE there, such as /v2/instances/{id}",
    }),

  destroySeconds: numberOption((seconds) => seconds >= 0, 0, {
    must: "0 or more",
    flag: "--destroy-seconds <n>",
    help: "time from DELETE until gone",
  }),

  controlEndpoints: switchOption(false, {
    flag: "--no-control",
    help: "offer neither the page at / nor /control/... to this machine",
  }),

  /** Called with one line for each request, without tokens and bodies. */
  log: z
    .custom<(line: string) => void>(isFunction)
    .optional()
    .register(infos, {
      must: "a function",
      flag: "--log",
      help: "print a line for each request",
      parse: () => (line: string) => void process.stdout.write(`${line}\n`),
    }),

  /** Called with one line for each defect of the emulator itself. */
  errorLog: z
    .custom<(line: string) => void>(isFunction)
    .default(() => (line: string) => void process.stderr.write(`${line}\n`))
    .register(infos, { must: "a function" }),

  clock: z.custom<EmulatorClock>().default(wallClock).register(infos, { must: "a clock" }),

  random: z
    .custom<RandomSource>(isFunction)
    .default(() => Math.random)
    .register(infos, { must: "a function" }),
});

/** The options that a test or the command line can set. */
export type EmulatorOptions = z.input<typeof definition>;

/** The options with their defaults. */
export type Settings = z.output<typeof definition>;

type OptionName = keyof Settings;

/** An option or a request to the control API is wrong. `problem` is the message without the name of the option. */
export class OptionError extends Error {
  override name = "OptionError";
  constructor(
    readonly problem: string,
    readonly option?: OptionName,
  ) {
    super(option === undefined ? problem : `${option} ${problem}`);
  }
}

/** @throws {OptionError} for an invalid value */
export function validSettings(options: EmulatorOptions): Settings {
  const { data, error } = definition.safeParse(options);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const option = issue?.path[0] as OptionName | undefined;
  if (option === undefined) {
    const unknown = issue?.code === "unrecognized_keys" ? issue.keys.join(", ") : "";
    const known = Object.keys(definition.shape).join(", ");
    throw new OptionError(`there is no option ${unknown}; the options are ${known}`);
  }
  const { must, isSecret } = infoOf(option);
  const value = options[option];
  const given = typeof value === "number" ? String(value) : JSON.stringify(value);
  throw new OptionError(`must be ${must}${isSecret === true ? "" : `, not ${given}`}`, option);
}

function infoOf(option: OptionName): OptionInfo {
  return infos.get(definition.shape[option]) ?? { must: "valid" };
}

/** The flags of all options, in the order of the help, which has the defaults. `parse` validates nothing. */
export const optionFlags = (Object.keys(definition.shape) as OptionName[]).flatMap((option) => {
  const { flag, help = "", parse, flagDefault, isRepeatable = false } = infoOf(option);
  if (flag === undefined) return [];
  const defaultValue = flagDefault ?? definition.shape[option].safeParse(undefined).data;
  // The help does not show the defaults of switches and of repeatable flags.
  const isShown =
    !isRepeatable && (typeof defaultValue === "number" || typeof defaultValue === "string");
  return {
    option,
    flag,
    isRepeatable,
    flagDefault,
    help: isShown ? `${help} (default: ${defaultValue})` : help,
    parse: (parse as ((typed: unknown) => unknown) | undefined) ?? ((typed) => typed),
  };
});

function isProvisioningTime(value: unknown): boolean {
  if (typeof value === "function") return true;
  const [from = NaN, to = from] = (Array.isArray(value) ? value : [value]) as number[];
  return typeof from === "number" && typeof to === "number" && from >= 0 && to >= from;
}

/** Returns a string that is no number unchanged. */
function parseNumber(typed: string): number | string {
  return /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed;
}

/** Parses "5", "2-8" or "never". */
function parseRange(typed: string): unknown {
  if (typed === "never") return Infinity;
  const numbers = typed.split("-").map(parseNumber);
  if (numbers.length > 2 || numbers.some((number) => typeof number === "string")) return typed;
  const range = numbers.length === 1 ? numbers[0] : numbers;
  return isProvisioningTime(range) ? range : typed;
}

/** Parses `BOOTING=2`. Without `=`, the seconds are not a number, which is invalid. */
function parseStatusBetween(typed: string): unknown {
  const [status, seconds = ""] = typed.split("=");
  return { status, seconds: parseNumber(seconds) };
}

/** Parses `sk_test_1=revoked`. Without `=`, the declaration is undefined, which is invalid. */
function parseDeclaration(typed: string): [token: string, declaration: unknown] {
  const [token = "", what] = typed.split(/=(?=[^=]*$)/);
  if (what === undefined) return [token, undefined];
  if (tokenStates.some((state) => state === what)) return [token, { state: what }];
  return [token, { scopes: what === "" ? [] : what.split(",") }];
}
