/**
 * The wire contract of the Compute Instances Service, API v2.0: a schema for every documented body. The schemas for
 * reading are tolerant, since the service's document does not say which fields are always present.
 */
import * as z from "zod";
import { isUnspecified } from "../addresses";
import { unknownTexts } from "../pulumi/names";
import { printable, redactionMark } from "../redaction";
import { maxIdLength } from "./serviceConstants";

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
 * that is not printable, that Pulumi would take for an unknown value, that had the token in it, or that is too long for the
 * messages to the engine, does not fit.
 */
const id = z
  .string()
  .min(1)
  .max(maxIdLength)
  .refine(
    (value) =>
      value === printable(value) &&
      !value.includes("\t") &&
      !value.includes(redactionMark) &&
      !unknownTexts.has(value),
  );

/** A field that is dropped if it does not have the documented type. The rest of the body is still read. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);
/** An empty text counts as missing. */
const text = lenient(printableText.pipe(z.string().min(1)));
/** An address that stands for none counts as missing. */
const address = lenient(
  printableText.pipe(
    z
      .string()
      .min(1)
      .refine((value) => !isUnspecified(value)),
  ),
);

/** An array whose elements are read one by one: an element that does not fit becomes null. */
const elements = <T extends z.ZodType>(type: T) => z.array(type.nullable().catch(null));

const listItem = z.object({ id, name: text, status: text, ipv4_public: address });
const network = z.object({ type: printableText, ipv4: address, mac_address: text });
/** The body of the 202 to a POST. Only the id is required, since with it the instance can be found again (G1). */
const accepted = z.object({
  id,
  name: text,
  status: text,
  created_at: text,
  networks: lenient(elements(network)),
});

/** The schemas with which the client reads responses. */
export const tolerant = {
  /** Section "List envelope". A listing with an unreadable item never proves an absence. */
  page: z
    .object({ data: z.array(z.unknown()), has_more: z.boolean() })
    .transform(({ data, has_more: hasMore }): Page => {
      const items = data.flatMap((element) => listItem.safeParse(element).data ?? []);
      return { items, hasMore, unreadable: data.length - items.length };
    }),
  /** Of a page, what stands where the address of each item belongs, by id. */
  addresses: z
    .object({ data: elements(z.object({ id, ipv4_public: z.unknown().optional() })) })
    .transform(
      ({ data }): ReadonlyMap<string, unknown> =>
        new Map(data.flatMap((item) => (item ? [[item.id, item.ipv4_public] as const] : []))),
    ),
  accepted: accepted.transform(({ created_at: createdAt, networks = [], ...others }): Accepted => ({
    ...others,
    createdAt,
    networks: networks.filter((network) => network !== null),
  })),
  error: z.object({
    error: z.object({ code: text, message: text, doc_url: text, request_id: text }),
  }),
};
/** An instance as a listing shows it. */
export type ListItem = z.infer<typeof listItem>;
/** One page of GET /v2/instances. */
export interface Page {
  items: ListItem[];
  hasMore: boolean;
  /** How many items could not be read. It always is because of their ids. */
  unreadable: number;
}
/** A page, and what stands where the address of each item belongs, by id: any value, or undefined. */
export interface ProbePage extends Page {
  addresses: ReadonlyMap<string, unknown>;
}
/** The readable fields of the response to an accepted POST /v2/instances. */
export interface Accepted extends Omit<z.infer<typeof accepted>, "created_at" | "networks"> {
  createdAt?: string | undefined;
  networks: z.infer<typeof network>[];
}
