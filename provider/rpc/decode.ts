import { Struct, Value } from "google-protobuf/google/protobuf/struct_pb";
import { Opaque, Secret, Unknown, type PropertyMap, type PropertyValue } from "../propertyValue";
import { deepest, signature, signatureKey, textFromWire, unknownTexts } from "./wire";

/** A message that no sound engine sends. The caller's fault, not ours: INVALID_ARGUMENT. */
export class InvalidMessage extends Error {
  override readonly name = "InvalidMessage";
}

/**
 * The engine's properties in the provider's own types; a missing Struct is an empty map.
 *
 * google-protobuf keeps a map's entries in a plain object and so loses a key named `__proto__`; it
 * never gets here. All others, `constructor` and the like too, are keys like any other.
 */
export function decodeProperties(struct: Struct | undefined): PropertyMap {
  return struct ? decodeMap(struct, 0) : (Object.create(null) as PropertyMap);
}

function decodeMap(struct: Struct, depth: number): PropertyMap {
  const map = Object.create(null) as Record<string, PropertyValue>;
  struct.getFieldsMap().forEach((value, key) => {
    map[key] = decodeValue(value, depth + 1);
  });
  return map;
}

function decodeValue(value: Value, depth: number): PropertyValue {
  if (depth > deepest) {
    throw new InvalidMessage(`a property is nested more than ${deepest} levels deep`);
  }
  switch (value.getKindCase()) {
    case Value.KindCase.NULL_VALUE:
      return null;
    case Value.KindCase.BOOL_VALUE:
      return value.getBoolValue();
    case Value.KindCase.NUMBER_VALUE:
      return value.getNumberValue();
    case Value.KindCase.STRING_VALUE: {
      const text = value.getStringValue();
      return unknownTexts.has(text) ? Unknown.value : textFromWire(text);
    }
    case Value.KindCase.LIST_VALUE: {
      const items = value.getListValue()?.getValuesList() ?? [];
      return items.map((item) => decodeValue(item, depth + 1));
    }
    case Value.KindCase.STRUCT_VALUE:
      return special(decodeMap(value.getStructValue() ?? new Struct(), depth));
    case Value.KindCase.KIND_NOT_SET:
      throw new InvalidMessage("a property has a value of no kind");
  }
}

/** What the signature makes of a map; a map without one is itself. */
function special(fields: PropertyMap): PropertyValue {
  const sign = fields[signatureKey];
  if (sign === undefined) return fields;
  if (typeof sign !== "string") throw new InvalidMessage("a property's signature is no text");
  const { value, secret = false } = fields;
  switch (sign) {
    case signature.secret:
      if (value === undefined) throw new InvalidMessage("a secret property has no value");
      return new Secret(value);
    case signature.output: {
      if (typeof secret !== "boolean") {
        throw new InvalidMessage("an output property's secret flag is neither true nor false");
      }
      const content = value === undefined ? Unknown.value : value;
      return secret ? new Secret(content) : content;
    }
    default:
      // It goes back as it came, and Check refuses it where it matters.
      return new Opaque(fields);
  }
}
