/**
 * The options of the emulator, their defaults and their validation. Quoted phrases are from the service's API
 * document.
 */
import { documentedRequestsPerMinute } from "../provider/api/contract";
import { wallClock, type EmulatorClock } from "./clock";
import { cryptoRandom, type RandomSource } from "./random";
import type { TokenDeclaration } from "./tokens";

export const listOrders = ["oldest", "newest", "shuffled"] as const;
/** The order of the instances in a listing. */
export type ListOrder = (typeof listOrders)[number];

export const rateWindows = ["sliding", "fixed"] as const;
/** The window of the rate limit: any 60 seconds (`sliding`), or each minute of the clock (`fixed`). */
export type RateWindow = (typeof rateWindows)[number];

export const rateScopes = ["endpoint", "path"] as const;
/**
 * With `endpoint`, GET and POST of a path have a limit each, as the API document lists them. With `path`, they
 * share one.
 */
type RateScope = (typeof rateScopes)[number];

/** The body of GET /v2/account: any JSON, or any string (also an empty one) with its content type. */
export type AccountBody = { json: unknown } | { text: string; contentType?: string };

/** The status of an instance when provisioning ends. */
type EndStatus = "ACTIVE" | "OFFLINE";

/** The options that a test or the command line can set. */
export interface EmulatorOptions {
  /** The port to listen on. The default, 0, means any free port. */
  port?: number;
  host?: string;
  /** `:memory:`, which is the default, or a file. The file is created if it is missing, and survives a restart. */
  database?: string;
  /**
   * How long an instance stays in PROVISIONING: seconds, a range of seconds, or a function from its name to seconds.
   * `Infinity` means until `control.settle()` is called.
   */
  provisioningSeconds?: number | readonly [number, number] | ((name: string) => number);
  /** The status after PROVISIONING. The default is ACTIVE. */
  endStatus?: EndStatus | ((name: string) => EndStatus);
  /** "Present in one variant of the provisioning response": false sends the other variant. */
  macAddresses?: boolean;
  /** "Present in list items": false leaves `ipv4_public` out while an instance is in PROVISIONING. */
  ipv4WhilePending?: boolean;
  /**
   * With `shuffled`, each listing has another order. If there is a cursor parameter, all listings have the same
   * random order.
   */
  listOrder?: ListOrder;
  /**
   * The cursor parameter, whose value is the id of the last item. "Pagination cursor parameter: not shown", so the
   * default is none.
   */
  cursorParameter?: string | undefined;
  requestsPerMinute?: number;
  rateWindow?: RateWindow;
  rateScope?: RateScope;
  /**
   * How long instances of a sandbox token live. "Resources are ephemeral", and the API document does not show for
   * how long.
   */
  sandboxLifetimeSeconds?: number;
  /** Declarations of single tokens. Other tokens are valid if they are well-formed, unless `strictTokens` is set. */
  tokens?: Readonly<Record<string, TokenDeclaration>>;
  strictTokens?: boolean;
  /**
   * The path of DELETE, such as `/v2/instances/{id}`. This is an extension to test `compute:destroyPath`. Undefined
   * for no DELETE.
   */
  destroyPath?: string | undefined;
  /** The time from DELETE until the instance is gone. */
  destroySeconds?: number;
  /** The body of GET /v2/account ("Response: not shown"). The default is an id and a name. */
  account?: AccountBody;
  /** Serves the control API at `/control/...` on the same port, to this machine only. */
  controlEndpoints?: boolean;
  clock?: EmulatorClock;
  random?: RandomSource;
  /** Called with one line for each request, without tokens and bodies. */
  log?: (line: string) => void;
  /** Called with one line for each defect of the emulator itself. The default prints to stderr. */
  errorLog?: (line: string) => void;
}

type Optional = "cursorParameter" | "destroyPath" | "log" | "account";

/** The options with their defaults. */
export type Settings = Required<Omit<EmulatorOptions, Optional>> & Pick<EmulatorOptions, Optional>;

/** An option, or a request to the control API, is wrong. The message says which one and why. */
export class OptionError extends Error {
  override name = "OptionError";
}

/**
 * Fills in the defaults, and validates the options.
 * @throws {OptionError} for an invalid value
 */
export function validSettings(options: EmulatorOptions): Settings {
  const settings: Settings = {
    port: 0,
    host: "127.0.0.1",
    database: ":memory:",
    provisioningSeconds: 5,
    endStatus: "ACTIVE",
    macAddresses: true,
    ipv4WhilePending: true,
    listOrder: "oldest",
    requestsPerMinute: documentedRequestsPerMinute,
    rateWindow: "sliding",
    rateScope: "endpoint",
    sandboxLifetimeSeconds: 24 * 60 * 60,
    tokens: {},
    strictTokens: false,
    destroySeconds: 0,
    controlEndpoints: false,
    clock: wallClock,
    random: cryptoRandom,
    errorLog: (line) => process.stderr.write(`${line}\n`),
    ...options,
  };
  validate(settings);
  return settings;
}

function validate(settings: Settings): void {
  const { provisioningSeconds: time, destroyPath, cursorParameter, port } = settings;
  const range = typeof time === "function" ? [] : typeof time === "number" ? [time] : [...time];
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new OptionError(`port must be a whole number from 0 to 65535, not ${String(port)}`);
  if (range.some((seconds) => !(seconds >= 0)) || (range[1] ?? Infinity) < (range[0] ?? 0))
    throw new OptionError("provisioningSeconds must be 0 or more, and a range must go upwards");
  if (!(settings.sandboxLifetimeSeconds > 0))
    throw new OptionError("sandboxLifetimeSeconds must be more than 0");
  if (!(settings.destroySeconds >= 0)) throw new OptionError("destroySeconds must be 0 or more");
  if (!(settings.requestsPerMinute >= 1))
    throw new OptionError("requestsPerMinute must be 1 or more");
  if (cursorParameter !== undefined && !/^[A-Za-z0-9_.[\]-]+$/.test(cursorParameter))
    throw new OptionError("cursorParameter must be the name of a query parameter");
  if (cursorParameter === "limit" || cursorParameter === "status")
    throw new OptionError(
      `cursorParameter cannot be ${cursorParameter}, which has another meaning`,
    );
  if (destroyPath !== undefined && !/^\/v2\/[^?#]*\{id\}[^?#]*$/.test(destroyPath))
    throw new OptionError("destroyPath must start with /v2/ and contain {id}");
}
