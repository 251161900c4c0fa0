/**
 * The numbers and words of the service's document, API v2.0. They are apart from the shapes in `contract.ts`,
 * which take a while to load and are not needed before the first request.
 */

/** Paths relative to the origin ("Endpoints"); the base address of the document ends in `/v2/`. */
export const paths = { account: "/v2/account", instances: "/v2/instances" } as const;

/** The known statuses ("States and transitions"). The set is not complete, so others may turn up. */
export const instanceStatuses = ["ACTIVE", "OFFLINE", "PROVISIONING"] as const;
/** One of the known statuses. */
export type InstanceStatus = (typeof instanceStatuses)[number];

/** Page size of GET /v2/instances ("Limits"). */
export const pageLimit = { min: 1, max: 100, default: 20 } as const;

/** Requests a minute, per endpoint ("Limits"). */
export const documentedRequestsPerMinute = 1000;

/** Prefixes by which token kinds are told apart ("Authentication", rule 3). */
export const tokenPrefixes = { live: "sk_live_", test: "sk_test_" } as const;
/** `live` is billed; with `test` nothing is billed, and instances are ephemeral. */
export type TokenKind = keyof typeof tokenPrefixes;

/** The kind that the prefix of a token shows; undefined if it is none of the document. */
export function tokenKindOf(token: string): TokenKind | undefined {
  if (token.startsWith(tokenPrefixes.live)) return "live";
  if (token.startsWith(tokenPrefixes.test)) return "test";
  return undefined;
}

/** Prefix of `request_id` in the error envelope ("Error envelope"). */
export const requestIdPrefix = "req_";
