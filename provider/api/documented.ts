/**
 * What the document of the Compute Instances Service, API v2.0, gives in numbers and words. Apart from
 * the shapes, which take a while to load and are not needed before the first request.
 */

/** Paths relative to the origin; the base address of the document ends in `/v2/`. */
export const paths = { account: "/v2/account", instances: "/v2/instances" } as const;

/** The statuses the document knows. "Complete set of states: not shown", so others may turn up. */
export const instanceStatuses = ["ACTIVE", "OFFLINE", "PROVISIONING"] as const;
export type InstanceStatus = (typeof instanceStatuses)[number];

/** Page size of GET /v2/instances ("Limits"). */
export const pageLimit = { min: 1, max: 100, default: 20 } as const;

/** Requests a minute, per endpoint ("Limits"). */
export const documentedRequestsPerMinute = 1000;

/** "Authentication", rule 3: token kinds are told apart by prefix. */
export const tokenPrefixes = { live: "sk_live_", test: "sk_test_" } as const;
export type TokenKind = keyof typeof tokenPrefixes;

export function tokenKindOf(token: string): TokenKind | undefined {
  if (token.startsWith(tokenPrefixes.live)) return "live";
  if (token.startsWith(tokenPrefixes.test)) return "test";
  return undefined;
}

/** Prefix of `request_id` in the error envelope. */
export const requestIdPrefix = "req_";
