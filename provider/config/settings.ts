/** The provider's settings: what each is, what it may be, and its default. */
import * as z from "zod";
import {
  documentedRequestsPerMinute,
  tokenKindOf,
  tokenPrefixes,
  type TokenKind,
} from "../api/serviceConstants";
import { normaliseBaseUrl } from "./baseUrl";

/** A number greater than 0, also as text: `pulumi config` hands every value over as text. */
function positive(what: string, type: (error: string) => z.ZodNumber) {
  return z.preprocess(
    (value) => (typeof value === "string" && value.trim() !== "" ? Number(value) : value),
    type(`must be ${what}`),
  );
}

const wholeNumber = positive("a whole number greater than 0", (error) =>
  z.number({ error }).positive({ error }).int({ error }),
);

const secondsUpTo = (most: number) =>
  positive(`a number of seconds greater than 0, and ${most} at the most`, (error) =>
    z.number({ error }).positive({ error }).max(most, { error }),
  );

/** A day: timers can't be set for more than 24 of them, and are over at once if they are. */
const seconds = secondsUpTo(24 * 60 * 60);
/** How long a create whose outcome is open may hold a run up (G2). */
const mostSettlingSeconds = 60;

const flag = z.preprocess(
  (value) => (value === "true" ? true : value === "false" ? false : value),
  z.boolean({ error: "must be true or false" }),
);

const text = z.string({ error: "must be text" }).min(1, { error: "must not be empty" });

/** Every text has `error` as its message, so that no message repeats the value. */
export const settingTypes = {
  baseUrl: text.transform((value, context) => {
    const url = normaliseBaseUrl(value);
    if (typeof url === "string") return url;
    context.addIssue({ code: "custom", message: url.problem });
    return z.NEVER;
  }),
  apiToken: text
    .refine((value) => tokenKindOf(value) !== undefined, {
      error: `must start with ${tokenPrefixes.live} or ${tokenPrefixes.test}`,
    })
    .refine((value) => /^[\x21-\x7e]+$/.test(value), {
      error: "must be printable ASCII without spaces or line breaks; was it copied whole?",
    }),
  requireTokenKind: z.enum(["live", "test"], { error: 'must be "live" or "test"' }),
  requestsPerMinute: wholeNumber,
  requestTimeoutSeconds: seconds,
  pollIntervalSeconds: seconds,
  // G2: the provider looks for a pending create for this long at the most.
  settlingSeconds: secondsUpTo(mostSettlingSeconds),
  deletePolicy: z.enum(["fail", "retain", "destroy"], {
    error: 'must be "fail", "retain" or "destroy"',
  }),
  destroyPath: text.refine((value) => /^\/v2\/[^?#\s]*\{id\}[^?#\s]*$/.test(value), {
    error: "must be a path that starts with /v2/ and holds {id}, such as /v2/instances/{id}",
  }),
  cursorParameter: text.refine((value) => /^[A-Za-z0-9_.[\]-]+$/.test(value), {
    error: "must be the name of a query parameter, such as starting_after",
  }),
  validateCredentials: flag,
  leftovers: z.enum(["warn", "fail"], { error: 'must be "warn" or "fail"' }),
} as const;

export type SettingName = keyof typeof settingTypes;
export const settingNames = Object.keys(settingTypes) as SettingName[];

/** What holds where nothing is given; the delete policy's hangs on others. */
const defaults = {
  requestsPerMinute: documentedRequestsPerMinute,
  requestTimeoutSeconds: 30,
  pollIntervalSeconds: 3,
  settlingSeconds: mostSettlingSeconds,
  validateCredentials: true,
  leftovers: "warn",
} as const satisfies { [K in SettingName]?: unknown };

export const settingDescriptions: Record<SettingName, string> = {
  baseUrl:
    "Base address of the service; ends in `/v2`. Plain http only on loopback. Environment: `COMPUTE_BASE_URL`.",
  apiToken:
    "Token of the service, `sk_live_…` (billed) or `sk_test_…` (sandbox). Environment: `COMPUTE_API_TOKEN`.",
  requireTokenKind:
    "`live` or `test`: refuse a token of the other kind, for example in previews and review stacks.",
  requestsPerMinute: `The service's limit on requests a minute to one endpoint; the provider stays 5 % below. Default ${defaults.requestsPerMinute}.`,
  requestTimeoutSeconds: `How long one request may take. Default ${defaults.requestTimeoutSeconds}.`,
  pollIntervalSeconds: `Longest time between two looks at the instances that are waited for, in seconds. Default ${defaults.pollIntervalSeconds}.`,
  settlingSeconds: `How long a created instance may take to turn up in a listing, in seconds: how long the provider looks for it after a create that was not answered. Default and maximum ${mostSettlingSeconds}.`,
  deletePolicy:
    "What a delete does: `fail` (default with a live token: the service documents no destroy call), `retain` (default with a test token: drop it from the state with a warning), or `destroy` (needs `destroyPath`, and is the default with it).",
  destroyPath:
    "Path of the service's destroy call, for a service that has one, such as `/v2/instances/{id}`. Off by default.",
  cursorParameter:
    "Name of the list's cursor parameter, for a service that has one, such as `starting_after` (it gets the last id of a page). Off by default.",
  validateCredentials: `Whether the token is checked with GET /v2/account before it is first needed. Default ${defaults.validateCredentials}.`,
  leftovers: `What a create does where the service shows instances that may be left of earlier creates of the same resource: \`warn\` (name them, and create) or \`fail\` (name them, and create nothing: for pipelines, whose machines are gone afterwards). Default \`${defaults.leftovers}\`.`,
};

/** Settings that are secret, and the environment variable that stands in for an absent setting. */
export const secretSettings: ReadonlySet<SettingName> = new Set(["apiToken"]);
export const settingEnvironment: Partial<Record<SettingName, string>> = {
  baseUrl: "COMPUTE_BASE_URL",
  apiToken: "COMPUTE_API_TOKEN",
};

type DeletePolicy = z.infer<typeof settingTypes.deletePolicy>;

export interface Settings {
  baseUrl: string;
  apiToken: string;
  tokenKind: TokenKind;
  requestsPerMinute: number;
  requestTimeoutMs: number;
  pollIntervalMs: number;
  settlingMs: number;
  deletePolicy: DeletePolicy;
  destroyPath: string | undefined;
  cursorParameter: string | undefined;
  validateCredentials: boolean;
  leftovers: "warn" | "fail";
}

export type SettingValues = { [K in SettingName]?: z.infer<(typeof settingTypes)[K]> };

/** The settings in force, once each value is good and the two that are required are there. */
export function settingsFrom(
  values: SettingValues & { baseUrl: string; apiToken: string },
): Settings {
  const tokenKind = tokenKindOf(values.apiToken);
  if (!tokenKind) throw new Error("apiToken was not checked");
  const inForce = { ...defaults, ...values };
  return {
    baseUrl: values.baseUrl,
    apiToken: values.apiToken,
    tokenKind,
    requestsPerMinute: inForce.requestsPerMinute,
    requestTimeoutMs: inForce.requestTimeoutSeconds * 1000,
    pollIntervalMs: inForce.pollIntervalSeconds * 1000,
    settlingMs: inForce.settlingSeconds * 1000,
    deletePolicy:
      values.deletePolicy ??
      (values.destroyPath ? "destroy" : tokenKind === "test" ? "retain" : "fail"),
    destroyPath: values.destroyPath,
    cursorParameter: values.cursorParameter,
    validateCredentials: inForce.validateCredentials,
    leftovers: inForce.leftovers,
  };
}
