/** A property in the schema, made from the zod type that the provider checks it by. */
import * as z from "zod";

export interface Property {
  type?: string;
  items?: Property;
  $ref?: string;
  description?: string;
  secret?: boolean;
  willReplaceOnChanges?: boolean;
}

export const text = (description: string): Property => ({ type: "string", description });
export const ref = (token: string): Property => ({ $ref: `#/types/${token}` });

/** Text, number, boolean or a list of these: all that our inputs are. */
export function typeOf(type: z.ZodType): Property {
  const json = z.toJSONSchema(type, { io: "input", unrepresentable: "any" }) as {
    type?: string;
    items?: { type?: string };
  };
  const name = json.type ?? "string";
  return json.items ? { type: name, items: { type: json.items.type ?? "string" } } : { type: name };
}
