/**
 * The wire contract of the Compute Instances Service, API v2.0, as its document gives it: paths,
 * field names, limits, and the shape of every answer. The emulator validates what it sends with the
 * strict forms; the client reads with the tolerant ones, since the document does not say which
 * fields are always present.
 */
import * as z from "zod";

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

/** Body of POST /v2/instances. `user_data` is Base64. */
export const createBody = z.object({
  name: z.string(),
  flavor_id: z.string(),
  image_id: z.string(),
  vpc_id: z.string(),
  ssh_keys: z.array(z.string()).optional(),
  user_data: z.string().optional(),
});
export type CreateBody = z.infer<typeof createBody>;

/** What the service sends when it keeps to the document to the letter. */
export const strict = {
  listItem: z.strictObject({
    id: z.string().min(1),
    name: z.string(),
    status: z.enum(instanceStatuses),
    ipv4_public: z.ipv4().optional(),
  }),
  network: z.strictObject({
    type: z.string(),
    ipv4: z.ipv4(),
    mac_address: z
      .string()
      .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i)
      .optional(),
  }),
  get list() {
    return z.strictObject({
      object: z.literal("list"),
      data: z.array(this.listItem).max(pageLimit.max),
      has_more: z.boolean(),
    });
  },
  get accepted() {
    return z.strictObject({
      id: z.string().min(1),
      name: z.string(),
      status: z.literal("PROVISIONING"),
      created_at: z.iso.datetime(),
      networks: z.array(this.network),
    });
  },
  error: z.strictObject({
    error: z.strictObject({
      code: z.string().min(1),
      message: z.string().min(1),
      doc_url: z.string().regex(/\/errors#.+$/),
      request_id: z.string().startsWith(requestIdPrefix),
    }),
  }),
};

/** A field that is dropped, not fatal, when it has another type than the document says. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);

const network = z.object({
  type: z.string(),
  ipv4: lenient(z.string()),
  mac_address: lenient(z.string()),
});

/** Of a list item only `id` is required (DESIGN section 3): an odd item never spoils the others. */
const listItem = z.object({
  id: z.string().min(1),
  name: lenient(z.string()),
  status: lenient(z.string()),
  ipv4_public: lenient(z.string()),
});

/** What the client accepts. */
export const tolerant = {
  listItem,
  /** Items are read one by one with `listItem`, so the envelope leaves them unread. */
  list: z.object({ data: z.array(z.unknown()), has_more: z.boolean() }),
  accepted: z.object({
    id: z.string().min(1),
    name: lenient(z.string()),
    status: lenient(z.string()),
    created_at: lenient(z.string()),
    networks: z.array(z.unknown()).optional().catch(undefined),
  }),
  network,
  error: z.object({
    error: z.object({
      code: lenient(z.string()),
      message: lenient(z.string()),
      doc_url: lenient(z.string()),
      request_id: lenient(z.string()),
    }),
  }),
};
export type ListItem = z.infer<typeof listItem>;
export type WireNetwork = z.infer<typeof network>;
