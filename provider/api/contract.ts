/**
 * The wire contract of the Compute Instances Service, API v2.0: a schema for every documented body that the client
 * sends or reads. The schemas for reading are tolerant, since the service's API document does not say which fields are
 * always present. The emulator checks its responses with strict schemas of its own.
 */
import * as z from "zod";
import { unknownTexts } from "../pulumiNames";
import { printable } from "../redaction";

export * from "./serviceConstants.js";

/** The schema of the body of POST /v2/instances. `user_data` is Base64. */
export const createBody = z.object({
  name: z.string(),
  flavor_id: z.string(),
  image_id: z.string(),
  vpc_id: z.string(),
  ssh_keys: z.array(z.string()).optional(),
  user_data: z.string().optional(),
});
/** The body of POST /v2/instances. */
export type CreateBody = z.infer<typeof createBody>;

/**
 * A string of a response. It becomes one line without control characters, because the string goes into the state and from
 * there to a terminal, where such characters could hide or forge text (G8).
 */
const printableText = z.string().transform(printable);

/**
 * An instance id. The id is never changed, since an instance with a changed id could be taken for gone (an
 * instance counts as gone only with proof, G3). An id that is not printable, or that Pulumi would take for an
 * unknown value, does not fit the schema.
 */
const id = z
  .string()
  .min(1)
  .refine(
    (value) => value === printable(value) && !value.includes("\t") && !unknownTexts.has(value),
  );

/** The schema of a field that is dropped if it does not have the documented type. The rest of the body is still read. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);

const network = z.object({
  type: printableText,
  ipv4: lenient(printableText),
  mac_address: lenient(printableText),
});

/** An item of the list. Only `id` is required. */
const listItem = z.object({
  id,
  name: lenient(printableText),
  status: lenient(printableText),
  ipv4_public: lenient(printableText),
});

/** The schemas with which the client reads responses. */
export const tolerant = {
  listItem,
  /** The list envelope. It accepts any items, because each item is read with `listItem` afterwards. */
  list: z.object({ data: z.array(z.unknown()), has_more: z.boolean() }),
  /** The body of the 202 to a POST. */
  accepted: z.object({
    id,
    name: lenient(printableText),
    status: lenient(printableText),
    created_at: lenient(printableText),
    networks: z.array(z.unknown()).optional().catch(undefined),
  }),
  network,
  error: z.object({
    error: z.object({
      code: lenient(printableText),
      message: lenient(printableText),
      doc_url: lenient(printableText),
      request_id: lenient(printableText),
    }),
  }),
};
/** An instance as a listing shows it (section "List envelope"). */
export type ListItem = z.infer<typeof listItem>;
/** An element of `networks` in the response to an accepted POST (section "Network"). */
export type WireNetwork = z.infer<typeof network>;
