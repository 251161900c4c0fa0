import { ListValue, NullValue, Struct, Value } from "google-protobuf/google/protobuf/struct_pb";
import { Opaque, Secret, Unknown, type PropertyMap } from "../propertyValue";
import { deepest, signature, signatureKey, textToWire, unknownText } from "./wire";

/** A value that cannot be sent as it is. A defect of ours; names the property, never its value. */
export class Unencodable extends Error {
  override readonly name = "Unencodable";
}

/**
 * - `preview`: unknown values may stand anywhere.
 * - `final`: an unknown value is refused, as the engine would refuse the whole reply for it, and
 *   after a Create that loses the instance (G1).
 * - `salvage`: whatever can't be sent is left out, so that the rest gets through.
 */
export type Strictness = "preview" | "final" | "salvage";

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly strictness: Strictness;
}

/** The other way of `decodeProperties`. Throws `Unencodable`, except to salvage. */
export function encodeProperties(map: PropertyMap, strictness: Strictness): Struct {
  return encodeMap(map, { path: "", depth: 0, strictness });
}

function encodeMap(map: object, at: Place, marked = false): Struct {
  const struct = new Struct();
  const fields = struct.getFieldsMap();
  for (const [name, content] of Object.entries(map) as [string, unknown][]) {
    const key = name.toWellFormed();
    // google-protobuf can't hold it (see decode.ts), and would take its entry for a prototype.
    if (key === "__proto__") continue;
    const inner = below(at, at.path === "" ? key : `${at.path}.${key}`);
    if (key === signatureKey && !marked) {
      // From the service, this could pass for a secret or break the whole reply.
      refuse(inner, "this name is reserved by Pulumi");
      continue;
    }
    const value = encodeValue(content, inner);
    if (value) fields.set(key, value);
  }
  return struct;
}

/** `undefined`: to be left out. Takes what the types forbid as well: it is the last look. */
function encodeValue(content: unknown, at: Place): Value | undefined {
  if (at.depth > deepest) return refuse(at, `nested more than ${deepest} levels deep`);
  switch (typeof content) {
    case "boolean":
      return new Value().setBoolValue(content);
    case "number":
      if (!Number.isFinite(content))
        return refuse(at, `${content} is not a number Pulumi can keep`);
      return new Value().setNumberValue(content);
    case "string":
      return new Value().setStringValue(textToWire(content));
    case "object":
      return content === null
        ? new Value().setNullValue(NullValue.NULL_VALUE)
        : encodeObject(content, at);
    case "undefined":
      return undefined;
    case "bigint":
    case "function":
    case "symbol":
      return refuse(at, `a ${typeof content} is not a property value`);
  }
}

function encodeObject(content: object, at: Place): Value | undefined {
  if (content instanceof Unknown) return encodeUnknown(at);
  if (content instanceof Secret) return encodeSecret(content, at);
  if (content instanceof Opaque) return structValue(encodeMap(content.fields, at, true));
  if (Array.isArray(content)) return encodeList(content, at);
  if (!isPlain(content)) return refuse(at, "an object of a class is not a property value");
  return structValue(encodeMap(content, at));
}

function encodeList(items: readonly unknown[], at: Place): Value {
  const list = new ListValue();
  for (const [index, item] of items.entries()) {
    // A gap would shift those behind it.
    const value = encodeValue(item, below(at, `${at.path}[${index}]`)) ?? encodeValue(null, at);
    if (value) list.addValues(value);
  }
  return new Value().setListValue(list);
}

function encodeSecret(secret: Secret, at: Place): Value | undefined {
  const value = encodeValue(secret.value, below(at, at.path));
  if (!value) return undefined;
  const struct = new Struct();
  struct.getFieldsMap().set(signatureKey, new Value().setStringValue(signature.secret));
  struct.getFieldsMap().set("value", value);
  return structValue(struct);
}

function encodeUnknown(at: Place): Value | undefined {
  if (at.strictness === "preview") return new Value().setStringValue(unknownText);
  return refuse(at, "still unknown, and this is not a preview");
}

function refuse(at: Place, reason: string): undefined {
  if (at.strictness === "salvage") return undefined;
  throw new Unencodable(`property ${at.path}: ${reason}`);
}

function below(at: Place, path: string): Place {
  return { path, depth: at.depth + 1, strictness: at.strictness };
}

function structValue(struct: Struct): Value {
  return new Value().setStructValue(struct);
}

/** Without a prototype, or with that of `{}`, in whichever realm it was made. */
function isPlain(content: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(content);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
