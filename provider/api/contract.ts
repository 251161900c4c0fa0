/**
 * The wire contract of the Compute Instances Service, API v2.0: the shape of every body as the client reads
 * it. It is tolerant, since the document does not say which fields are always present. The emulator checks
 * what it sends against strict shapes of its own.
 */
import * as z from "zod";
import { unknownTexts } from "../pulumiNames";
import { printable } from "../redaction";

export * from "./serviceConstants.js";

/** Body of POST /v2/instances. `user_data` is Base64. */
export const createBody = z.object({
  name: z.string(),
  flavor_id: z.string(),
  image_id: z.string(),
  vpc_id: z.string(),
  ssh_keys: z.array(z.string()).optional(),
  user_data: z.string().optional(),
});
/** Body of POST /v2/instances. */
export type CreateBody = z.infer<typeof createBody>;

/** Texts reach the state, and from there a terminal, so control and bidi characters are dropped (G8). */
const text = z.string().transform(printable);

/**
 * An id is never changed, or the instance that it names could be taken for gone (G3). An id that is not
 * printable, or that Pulumi would take for an unknown value, is not read.
 */
const id = z
  .string()
  .min(1)
  .refine(
    (value) => value === printable(value) && !value.includes("\t") && !unknownTexts.has(value),
  );

/** A field of another type than the document says is dropped, and fails nothing. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);

const network = z.object({
  type: text,
  ipv4: lenient(text),
  mac_address: lenient(text),
});

/** Of a list item only `id` is required: an odd item never spoils the others. */
const listItem = z.object({
  id,
  name: lenient(text),
  status: lenient(text),
  ipv4_public: lenient(text),
});

/** What the client accepts. */
export const tolerant = {
  listItem,
  /** Items are read one by one with `listItem`, so the envelope leaves them unread. */
  list: z.object({ data: z.array(z.unknown()), has_more: z.boolean() }),
  accepted: z.object({
    id,
    name: lenient(text),
    status: lenient(text),
    created_at: lenient(text),
    networks: z.array(z.unknown()).optional().catch(undefined),
  }),
  network,
  error: z.object({
    error: z.object({
      code: lenient(text),
      message: lenient(text),
      doc_url: lenient(text),
      request_id: lenient(text),
    }),
  }),
};
/** An instance as a listing shows it ("List envelope"). */
export type ListItem = z.infer<typeof listItem>;
/** An element of `networks` in the 202 ("Network"). */
export type WireNetwork = z.infer<typeof network>;
