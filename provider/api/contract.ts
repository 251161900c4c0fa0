/**
 * The wire contract of the Compute Instances Service, API v2.0: field names, and the shape of every
 * body as the client reads it, tolerantly, since the document does not say which fields are always
 * present. (The emulator holds what it sends against strict forms of its own.)
 */
import * as z from "zod";
import { printable } from "../redaction";

export * from "./documented.js";

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

/**
 * Texts reach the state, and from there a terminal: what JSON can say and a line of text should not hold
 * (half a character, ESC, bidi marks) is mended or dropped (G8).
 */
const text = z.string().transform(printable);

/** An id has to stay what it is, or what it names could be taken for gone (G3): an odd one is not read. */
const id = z
  .string()
  .min(1)
  .refine((value) => value === printable(value) && !value.includes("\t"));

/** A field that is dropped, not fatal, when it has another type than the document says. */
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
export type ListItem = z.infer<typeof listItem>;
export type WireNetwork = z.infer<typeof network>;
