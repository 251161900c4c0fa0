/**
 * Decodes and encodes property maps, which are sent as protobuf Structs. Values that JSON does not have are sent as one
 * of seven strings (unknown) or as a map with a signature (secret, output, asset).
 */
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { signatureKey, signatures, unknownText, unknownTexts } from "../pulumi/names";
import {
  isList,
  mapValues,
  Opaque,
  Secret,
  Unknown,
  type OpaqueKind,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";

/** The signatures of assets, archives and resource references. */
const opaqueKinds: Readonly<Record<string, OpaqueKind>> = {
  c44067f5952c0a294b673a41bacd8c17: "asset",
  "0def7320c3a5731c473e5ecbe6d01bc7": "archive",
  "5cf8f73096256a8f31e491e813e4eb8e": "resource",
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A missing Struct becomes an empty map. A key `__proto__` is lost, because google-protobuf uses a plain object. */
export function decodeProperties(struct: Struct | undefined): PropertyMap {
  const json: Record<string, Json> = struct?.toJavaScript() ?? {};
  return mapValues(json, decodeValue);
}

function decodeValue(json: Json): PropertyValue {
  if (typeof json === "string") return unknownTexts.has(json) ? Unknown.value : json;
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(decodeValue);
  return openSignedMap(mapValues(json, decodeValue));
}

/** Returns the special value that a map stands for, or the map itself if it has no signature. */
function openSignedMap(fields: PropertyMap): PropertyValue {
  const { [signatureKey]: signature, value = Unknown.value, secret } = fields;
  if (signature === undefined) return fields;
  if (signature === signatures.secret) return new Secret(value);
  if (signature === signatures.output) return secret === true ? new Secret(value) : value;
  return new Opaque(fields, opaqueKinds[signature as string] ?? "newer");
}

/**
 * Where the values go. In the reply of a preview, an unknown value is sent as that. In any other reply, it is left out: the engine
 * would refuse the reply, and lose the instance (G1).
 */
export type ReplyKind = "preview" | "final";

/** A string that equals one of the seven strings for unknown values gets a `~`. */
export function encodeProperties(map: PropertyMap, kind: ReplyKind): Struct {
  return Struct.fromJavaScript(encodeMap(map, kind));
}

function encodeMap(map: PropertyMap, kind: ReplyKind) {
  const fields: Record<string, Json> = {};
  for (const [key, content] of Object.entries(map)) {
    const value = encodeValue(content, kind);
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

/** Returns undefined if the value is to be left out. */
function encodeValue(content: PropertyValue, kind: ReplyKind): Json | undefined {
  if (typeof content === "string")
    return unknownTexts.has(content) ? `${content}~` : content.toWellFormed();
  if (typeof content !== "object" || content === null) return content;
  if (content instanceof Unknown) return kind === "preview" ? unknownText : undefined;
  if (content instanceof Secret) {
    const value = encodeValue(content.value, kind);
    return value === undefined ? undefined : { [signatureKey]: signatures.secret, value };
  }
  if (content instanceof Opaque) return encodeMap(content.fields, kind);
  // With null for an item that is left out, the items after it keep their positions.
  if (isList(content)) return content.map((item) => encodeValue(item, kind) ?? null);
  return encodeMap(content, kind);
}
