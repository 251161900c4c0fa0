/**
 * The constants of the service's document (API v2.0), and the longest id that is read. They are apart from the schemas
 * (`contract.ts`), which take long to load: of the provider, only `api/` loads those.
 */

/** The paths of the endpoints (section "Endpoints"). Their `/v2` is also the end of the base address. */
export const paths = { account: "/v2/account", instances: "/v2/instances" } as const;

/** The known statuses (section "States and transitions"). The service may send other statuses too. */
export const instanceStatuses = ["ACTIVE", "OFFLINE", "PROVISIONING"] as const;
/** One of the known statuses. */
export type InstanceStatus = (typeof instanceStatuses)[number];

/** The page size of GET /v2/instances (section "Limits"). */
export const pageLimit = { min: 1, max: 100, default: 20 } as const;

/** Requests per minute and endpoint (section "Limits"). */
export const documentedRequestsPerMinute = 1000;

/** The token prefix of each token kind (section "Authentication", rule 3). */
export const tokenPrefixes = { live: "sk_live_", test: "sk_test_" } as const;
/** Instances of a `live` token are billed. Instances of a `test` token are free and ephemeral. */
export type TokenKind = keyof typeof tokenPrefixes;

/** Returns the kind that the token's prefix shows, or undefined if the token has no documented prefix. */
export function tokenKindOf(token: string): TokenKind | undefined {
  const kinds = Object.keys(tokenPrefixes) as TokenKind[];
  return kinds.find((kind) => token.startsWith(tokenPrefixes[kind]));
}

/** The prefix of `request_id` in the error envelope (section "Error envelope"). */
export const requestIdPrefix = "req_";

/** The longest id that is read, in characters: ids are in the state, in messages and in each record of the ledger. */
export const maxIdLength = 1000;
