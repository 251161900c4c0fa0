/** What can be set about the emulator, and what it does when nothing is set. */
import { documentedRequestsPerMinute } from "../provider/api/contract";
import { wallClock, type EmulatorClock } from "./clock";
import { cryptoRandom, type RandomSource } from "./random";
import type { TokenDeclaration } from "./tokens";

export const listOrders = ["oldest", "newest", "shuffled"] as const;
export type ListOrder = (typeof listOrders)[number];

export const rateWindows = ["sliding", "fixed"] as const;
export type RateWindow = (typeof rateWindows)[number];

/** Any JSON, or any text (also none) with a content type of its own. */
export type AccountBody = { json: unknown } | { text: string; contentType?: string };

export const rateScopes = ["endpoint", "path"] as const;
/** `endpoint`: GET and POST of one path are counted apart, as the document lists them; `path`: together. */
type RateScope = (typeof rateScopes)[number];

/** The status an instance has when it is done provisioning. */
type EndStatus = "ACTIVE" | "OFFLINE";

export interface EmulatorOptions {
  /** 0, the default, takes any free port. */
  port?: number;
  host?: string;
  /** `:memory:`, the default, or a file that is made when missing and survives a restart. */
  database?: string;
  /**
   * Time an instance stays in PROVISIONING: seconds, [from, to], or a function of its name.
   * `Infinity` waits for `control.settle()`.
   */
  provisioningSeconds?: number | readonly [number, number] | ((name: string) => number);
  endStatus?: EndStatus | ((name: string) => EndStatus);
  /** "Present in one variant of the provisioning response": off sends the other variant. */
  macAddresses?: boolean;
  /** "Present in list items": off leaves `ipv4_public` out while an instance is in PROVISIONING. */
  ipv4WhilePending?: boolean;
  /**
   * `shuffled` gives every listing an order of its own; when a cursor parameter is set, one order
   * that is unrelated to age but stays the same, since pages would lose items otherwise.
   */
  listOrder?: ListOrder;
  /** "Pagination cursor parameter: not shown", so none. When set: the id of the last item seen. */
  cursorParameter?: string | undefined;
  requestsPerMinute?: number;
  rateWindow?: RateWindow;
  rateScope?: RateScope;
  /** "Resources are ephemeral" for sandbox tokens; how long they live is not shown. */
  sandboxLifetimeSeconds?: number;
  /** What is known of single tokens; others are valid when well-formed, unless `strictTokens`. */
  tokens?: Readonly<Record<string, TokenDeclaration>>;
  strictTokens?: boolean;
  /** An extension for testing `destroyPath`, say `/v2/instances/{id}`; the document shows no such call. */
  destroyPath?: string | undefined;
  /** Time from DELETE until the instance is gone. */
  destroySeconds?: number;
  /** What GET /v2/account answers. "Response: not shown." */
  account?: AccountBody;
  /** Opens `/control/...` on the same port, to this machine only. */
  controlEndpoints?: boolean;
  clock?: EmulatorClock;
  random?: RandomSource;
  /** Takes one line per request; never a token or a body. */
  log?: (line: string) => void;
  /** Takes what is a mistake of the emulator itself. */
  errorLog?: (line: string) => void;
}

type Optional = "cursorParameter" | "destroyPath" | "log" | "account";
export type Settings = Required<Omit<EmulatorOptions, Optional>> & Pick<EmulatorOptions, Optional>;

/** The options of a person are wrong; the message says which and why. */
export class OptionError extends Error {
  override name = "OptionError";
}

export function settingsFrom(options: EmulatorOptions): Settings {
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
  check(settings);
  return settings;
}

function check(settings: Settings): void {
  const { provisioningSeconds: time, destroyPath, cursorParameter, port } = settings;
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new OptionError(`port must be a whole number from 0 to 65535, not ${String(port)}`);
  const spans = typeof time === "function" ? [] : typeof time === "number" ? [time] : [...time];
  if (spans.some((span) => !(span >= 0)) || (spans[1] ?? Infinity) < (spans[0] ?? 0))
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
