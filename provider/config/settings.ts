/** The type, the description and the default of each setting. The schema and the docs are generated from them. */
import * as z from "zod";
import { isLoopback } from "../addresses";
import {
  documentedRequestsPerMinute,
  tokenKindOf,
  tokenPrefixes,
  type TokenKind,
} from "../api/serviceConstants";

/** Also accepts the number as a string, because `pulumi config` passes every value as a string. */
const numeric = (type: z.ZodNumber) =>
  z.preprocess(
    (value) => (typeof value === "string" && value.trim() !== "" ? Number(value) : value),
    type,
  );

const wholeNumberError = { error: "must be a whole number greater than 0" };
const wholeNumber = numeric(z.int(wholeNumberError).positive(wholeNumberError));

function secondsUpTo(max: number) {
  const message = { error: `must be a number of seconds greater than 0, and at most ${max}` };
  return numeric(z.number(message).positive(message).max(max, message));
}

const seconds = secondsUpTo(24 * 60 * 60);
/** The longest settling time: how long a listing may lack an instance that the service has accepted. */
export const maxSettlingSeconds = 600;
/** The longest poll interval: two listings this far apart are a proof (G3), for which a refresh has 300 s. */
export const maxPollIntervalSeconds = 60;

const flag = z.preprocess(
  (value) => (value === "true" ? true : value === "false" ? false : value),
  z.boolean({ error: "must be true or false" }),
);

const nonEmptyString = z
  .string({ error: "must be a string" })
  .min(1, { error: "must not be empty", abort: true });

/** Becomes an address without a trailing slash, such as `https://host/v2`, so that addresses can be compared. */
const baseUrl = nonEmptyString.transform((value, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  const url = URL.parse(value.trim());
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    return refuse("must be an address such as https://api.example.com/v2");
  }
  if (url.username || url.password) {
    return refuse("must not hold a user name or password; the token is a setting of its own");
  }
  if (url.search || url.hash) return refuse("must not have a query or a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    // The token would be sent unencrypted (G8).
    return refuse("must be https (plain http only for an address on this machine)");
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  if (!path.endsWith("/v2")) {
    return refuse("must end in /v2, the version segment of the service's paths");
  }
  return url.origin + path;
});

/** What a person may copy together with a token, from the header of a request. */
export const schemeBefore = /^\s*(authorization:\s*)?bearer\s+/i;

/** Whether this is all of a token but its secret part. */
export function isTokenPrefix(text: string): boolean {
  return Object.values<string>(tokenPrefixes).includes(text);
}

/** What each word of a setting that accepts only a few means. Follows "`word` " in a description. */
const meanings = {
  requireTokenKind: {
    live: "requires a token whose instances are billed",
    test: "requires a token of the sandbox, whose instances cost nothing and are ephemeral",
  },
  deletePolicy: {
    fail: "refuses the delete, because the service documents no destroy call (the default with a live token)",
    retain: "drops the instance from the state, and lets it run (the default with a test token)",
    destroy: "calls `destroyPath` (the default if `destroyPath` is set)",
  },
  leftovers: {
    warn: "names these leftovers and creates the instance",
    fail: "names these leftovers and creates nothing",
  },
  userDataInState: {
    secret: "holds the text, encrypted",
    hash: "holds only a salted hash, in inputs and outputs",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Makes the type of a setting that is one of a few words. The SDKs for Java and .NET send it as JSON text, in quotation marks.
 * `title` is its name in the schema, and `words` has the meaning of each word.
 */
const oneOf = <T extends string>(words: Readonly<Record<T, string>>, title: string) => {
  const names = Object.keys(words) as T[];
  const quoted = names.map((name) => `"${name}"`);
  const error = `must be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return z
    .preprocess(
      (value) => (typeof value === "string" ? value.replace(/^"(\w+)"$/, "$1") : value),
      z.enum(names, { error }),
    )
    .meta({ title, words });
};

/** Returns a sentence for each word. */
function explained(words: Readonly<Record<string, string>>): string {
  return Object.entries(words)
    .map(([word, meaning]) => "`" + word + "` " + meaning + ".")
    .join(" ");
}

/** The type of each setting. Every check has a message of ours, because the messages of zod may repeat the value. */
export const settingTypes = {
  baseUrl,
  apiToken: nonEmptyString
    .refine((value) => !schemeBefore.test(value), {
      error: "must be the token alone, without `Bearer ` in front of it",
      abort: true,
    })
    .refine((value) => tokenKindOf(value) !== undefined, {
      error: `must start with ${tokenPrefixes.live} or ${tokenPrefixes.test}`,
    })
    .refine((value) => !isTokenPrefix(value.trim()), {
      error: "ends after its prefix; was it copied whole?",
      abort: true,
    })
    .refine((value) => /^[\x21-\x7e]+$/.test(value), {
      error: "must be printable ASCII without spaces or line breaks; was it copied whole?",
    }),
  requireTokenKind: oneOf(meanings.requireTokenKind, "TokenKind"),
  requestsPerMinute: wholeNumber,
  requestTimeoutSeconds: seconds,
  pollIntervalSeconds: secondsUpTo(maxPollIntervalSeconds),
  settlingSeconds: secondsUpTo(maxSettlingSeconds),
  deletePolicy: oneOf(meanings.deletePolicy, "DeletePolicy"),
  destroyPath: nonEmptyString.refine((value) => /^\/v2\/[^?#\s]*\{id\}[^?#\s]*$/.test(value), {
    error: "must be a path that starts with /v2/ and holds {id}, such as /v2/instances/{id}",
  }),
  cursorParameter: nonEmptyString.refine((value) => /^[A-Za-z0-9_.[\]-]+$/.test(value), {
    error: "must be the name of a query parameter, such as starting_after",
  }),
  validateCredentials: flag,
  leftovers: oneOf(meanings.leftovers, "LeftoverPolicy"),
  userDataInState: oneOf(meanings.userDataInState, "UserDataInState"),
  refreshBeforeUpdate: flag,
} as const;

/** The name of a setting. */
export type SettingName = keyof typeof settingTypes;
/** The names of all settings. */
export const settingNames = Object.keys(settingTypes) as SettingName[];

/** The default of `deletePolicy` depends on other settings (`settingsFrom`). */
const defaults = {
  requestsPerMinute: documentedRequestsPerMinute,
  requestTimeoutSeconds: 30,
  pollIntervalSeconds: 3,
  settlingSeconds: 60,
  validateCredentials: true,
  userDataInState: "secret",
  refreshBeforeUpdate: false,
} as const satisfies { [K in SettingName]?: unknown };

/** The description of each setting, for the schema, the docs and the help of the commands. */
export const settingDescriptions: Record<SettingName, string> = {
  baseUrl:
    "Base address of the service, which ends in `/v2`. It must be https, except on loopback. Environment: `COMPUTE_BASE_URL`.",
  apiToken:
    "Token of the service, `sk_live_…` (billed) or `sk_test_…` (sandbox). Environment: `COMPUTE_API_TOKEN`, or `COMPUTE_API_TOKEN_FILE` with the path of a file that holds it.",
  requireTokenKind: `Which kind of token is required. ${explained(meanings.requireTokenKind)} A token of the other kind is refused, for example in review stacks.`,
  requestsPerMinute: `The service's limit on requests per minute to one endpoint. The provider stays 5 % below it. Default ${defaults.requestsPerMinute}.`,
  requestTimeoutSeconds: `How long one request may take, in seconds. Default ${defaults.requestTimeoutSeconds}.`,
  pollIntervalSeconds: `The longest pause between two listings while instances are PROVISIONING, in seconds. The first pauses are shorter. While all instances are ACTIVE and only a port is missing, the pause is five times as long. Default ${defaults.pollIntervalSeconds}, at most ${maxPollIntervalSeconds}.`,
  settlingSeconds: `How long a listing may lack an instance that the service has accepted, in seconds. After a create without a clear answer, the provider searches this long for the instance. A create also waits at most this long for an instance that is OFFLINE, or ACTIVE without an address. Default ${defaults.settlingSeconds}, at most ${maxSettlingSeconds}.`,
  deletePolicy: `What a delete does. ${explained(meanings.deletePolicy)} For one run: \`COMPUTE_DELETE_POLICY\` in the environment, \`retain\` or \`fail\`.`,
  destroyPath:
    "Path of the service's destroy call, such as `/v2/instances/{id}`, if the service has one. Not set by default.",
  cursorParameter:
    "Name of the list's cursor parameter, if the service has one. The provider passes the last id of a page in it. `none` says that the service has none. Not set by default: then the provider tries `starting_after` once a run, and uses it if it pages. Without a cursor, a create ends unfinished if no listing can show its instance, as with more than 100 ACTIVE ones, unless this is `none`.",
  validateCredentials: `Whether the provider checks the token with GET /v2/account before any other request. Default ${defaults.validateCredentials}.`,
  leftovers: `What a create does if the service lists instances that earlier creates of the same resource may have left. ${explained(meanings.leftovers)} Not set by default: then an instance whose name the provider generated for this resource stops the create if the token is live and a delete would fail (\`deletePolicy\`), and any other is only named. For one run: \`COMPUTE_LEFTOVERS\` in the environment.`,
  userDataInState: `What the state holds of the user data (\`userData\`, \`userDataBase64\`) of an instance. ${explained(meanings.userDataInState)} Default \`${defaults.userDataInState}\`.`,
  refreshBeforeUpdate: `Whether each preview, up and destroy first refreshes the instances, all with one listing. Then it sees that a server is gone, renamed or OFFLINE. Default ${defaults.refreshBeforeUpdate}.`,
};

/** The settings that are secret. */
export const secretSettings: ReadonlySet<SettingName> = new Set(["apiToken"]);
/** The environment variables for settings that the configuration leaves out. */
export const settingEnvironment: Partial<Record<SettingName, string>> = {
  baseUrl: "COMPUTE_BASE_URL",
  apiToken: "COMPUTE_API_TOKEN",
};

/** The environment variables that the settings of a run were taken from. */
export type SettingVariables = Readonly<Partial<Record<SettingName, string>>>;

/** The checked values of the given settings. The token's file, if it has one, is read again when the token is refused. */
export type SettingValues = { [K in SettingName]?: z.infer<(typeof settingTypes)[K]> } & {
  apiTokenFile?: string | undefined;
};

/** The settings of a run, with the defaults filled in. */
export interface Settings {
  baseUrl: string;
  apiToken: string;
  /** The file of the token, if it has one. */
  apiTokenFile?: string | undefined;
  tokenKind: TokenKind;
  requestsPerMinute: number;
  requestTimeoutMs: number;
  pollIntervalMs: number;
  settlingMs: number;
  deletePolicy: "fail" | "retain" | "destroy";
  destroyPath?: string | undefined;
  cursorParameter?: string | undefined;
  validateCredentials: boolean;
  leftovers?: "warn" | "fail" | undefined;
  /** Whether leftovers stop a create as with the policy "fail", which the configuration has. Only `decideForRun` sets it. */
  guardsLeftovers?: boolean | undefined;
  userDataInState: "secret" | "hash";
  refreshBeforeUpdate: boolean;
}

/**
 * Makes the settings of a run from checked values.
 *
 * @throws Error if the token is neither a live nor a test token. A token that was checked never causes it.
 */
export function settingsFrom(
  given: SettingValues & { baseUrl: string; apiToken: string },
): Settings {
  const { requireTokenKind: _, ...values } = { ...defaults, ...given };
  const { requestTimeoutSeconds, pollIntervalSeconds, settlingSeconds, ...unchanged } = values;
  const tokenKind = tokenKindOf(given.apiToken);
  if (!tokenKind) throw new Error("apiToken was not checked");
  const defaultPolicy = given.destroyPath ? "destroy" : tokenKind === "test" ? "retain" : "fail";
  return {
    ...unchanged,
    tokenKind,
    requestTimeoutMs: requestTimeoutSeconds * 1000,
    pollIntervalMs: pollIntervalSeconds * 1000,
    settlingMs: settlingSeconds * 1000,
    deletePolicy: given.deletePolicy ?? defaultPolicy,
  };
}
