/**
 * The wire contract of the Compute Instances Service, API v2.0: a schema for every documented body. The schemas for
 * reading are tolerant, since the service's document does not say which fields are always present.
 */
import * as z from "zod";
import { unknownTexts } from "../pulumiNames";
import { printable } from "../redaction";

export * from "./serviceConstants.js";

/** The body of POST /v2/instances. `user_data` is Base64. */
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
 * A string as one line, without control characters except tabs. In the state or a terminal, those could hide or forge
 * text (G8).
 */
const printableText = z.string().transform(printable);

/**
 * An instance id, exactly as the service gave it: with a cleaned one, the instance could be taken for gone (G3). An id
 * that is not printable, or that Pulumi would take for an unknown value, does not fit.
 */
const id = z
  .string()
  .min(1)
  .refine(
    (value) => value === printable(value) && !value.includes("\t") && !unknownTexts.has(value),
  );

/** A field that is dropped if it does not have the documented type. The rest of the body is still read. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);
const text = lenient(printableText);

/** An array whose elements are read one by one: an element that does not fit becomes null. */
const elements = <T extends z.ZodType>(type: T) => z.array(type.nullable().catch(null));

const listItem = z.object({ id, name: text, status: text, ipv4_public: text });
const network = z.object({ type: printableText, ipv4: text, mac_address: text });

/** The schemas with which the client reads responses. */
export const tolerant = {
  /** Section "List envelope". A listing with an unreadable item never proves an absence. */
  page: z
    .object({ data: elements(listItem), has_more: z.boolean() })
    .transform(({ data, has_more: hasMore }) => {
      const items = data.filter((item) => item !== null);
      return { items, hasMore, unreadable: data.length - items.length };
    }),
  /** The body of the 202 to a POST. Only the id is required, since with it the instance can be found again (G1). */
  accepted: z
    .object({
      id,
      name: text,
      status: text,
      created_at: text,
      networks: lenient(elements(network)),
    })
    .transform(({ created_at: createdAt, networks = [], ...others }) => {
      return { ...others, createdAt, networks: networks.filter((it) => it !== null) };
    }),
  error: z.object({
    error: z.object({ code: text, message: text, doc_url: text, request_id: text }),
  }),
};
/** An instance as a listing shows it. */
export type ListItem = z.infer<typeof listItem>;
/** One page of GET /v2/instances, with the number of its unreadable items. */
export type Page = z.infer<typeof tolerant.page>;
/** The readable fields of the response to an accepted POST /v2/instances. `createdAt` may also be left out. */
export type Accepted = Omit<z.infer<typeof tolerant.accepted>, "createdAt"> & {
  createdAt?: string | undefined;
};
