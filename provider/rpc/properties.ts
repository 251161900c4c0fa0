/**
 * Property maps as protobuf Structs. Pulumi marks the values that JSON has no case for: one of seven
 * fixed texts is an unknown value, and a map with a signature is a secret, an output or an asset.
 */
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { unknownText, unknownTexts } from "../pulumiNames";
import { Opaque, Secret, Unknown, type PropertyMap, type PropertyValue } from "../propertyValue";

/** A map with this key is not a plain map: the text under the key says which special value it is. */
export const signatureKey = "4dabf18193072939515e22adb298388d";

/** The texts under `signatureKey` for the special values that this provider opens. */
export const signatures = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/**
 * Deeper values are refused in both directions: google-protobuf recurses, and a stack overflow while a
 * reply is written would lose the reply. grpc-js answers INTERNAL to a request that is too deep even for
 * google-protobuf.
 */
export const maxDepth = 200;

/** A request that the engine never sends. The call fails with INVALID_ARGUMENT. */
export class InvalidMessage extends Error {
  override readonly name = "InvalidMessage";
}

/** The provider made a value that can't be sent. The message names the property, never its value. */
export class Unencodable extends Error {
  override readonly name = "Unencodable";
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The engine's properties in the provider's own types; a missing Struct is an empty map. A key named
 * `__proto__` is lost, because google-protobuf keeps the entries in a plain object.
 *
 * @throws InvalidMessage
 */
export function decodeProperties(struct: Struct | undefined): PropertyMap {
  if (!struct) return decodeMap({}, 0);
  let json: Record<string, Json>;
  try {
    json = struct.toJavaScript();
  } catch (error) {
    throw new InvalidMessage("a property has no value, or is nested too deep", { cause: error });
  }
  return decodeMap(json, 0);
}

function decodeMap(json: Record<string, Json>, depth: number): PropertyMap {
  const map = Object.create(null) as Record<string, PropertyValue>;
  for (const [key, value] of Object.entries(json)) map[key] = decodeValue(value, depth + 1);
  return map;
}

function decodeValue(json: Json, depth: number): PropertyValue {
  if (depth > maxDepth) {
    throw new InvalidMessage(`a property is nested more than ${maxDepth} levels deep`);
  }
  if (typeof json === "string") return unknownTexts.has(json) ? Unknown.value : json;
  if (Array.isArray(json)) return json.map((item) => decodeValue(item, depth + 1));
  if (typeof json !== "object" || json === null) return json;
  return openSignedMap(decodeMap(json, depth));
}

/**
 * The special value that a signed map stands for. A map without a signature stays a map.
 *
 * @throws InvalidMessage
 */
function openSignedMap(fields: PropertyMap): PropertyValue {
  const signature = fields[signatureKey];
  if (signature === undefined) return fields;
  const { value, secret = false } = fields;
  if (signature === signatures.secret) {
    if (value === undefined) throw new InvalidMessage("a secret property has no value");
    return new Secret(value);
  }
  if (signature === signatures.output) {
    if (typeof secret !== "boolean") {
      throw new InvalidMessage("an output property's secret flag is neither true nor false");
    }
    const content = value === undefined ? Unknown.value : value;
    return secret ? new Secret(content) : content;
  }
  if (typeof signature !== "string") throw new InvalidMessage("a property's signature is no text");
  // An asset, or something newer: it goes back as it came, and Check refuses it as an input.
  return new Opaque(fields);
}

/**
 * - `preview`: unknown values are allowed.
 * - `final`: an unknown value is refused. The engine would refuse the whole reply because of it, and
 *   would forget the instance of a Create (G1).
 * - `salvage`: a value that can't be sent is left out, so that the others are sent.
 */
export type Strictness = "preview" | "final" | "salvage";

/** Where the encoder is: `path` names the value in errors, as in `networks[0].ipv4`. */
interface Position {
  readonly path: string;
  readonly depth: number;
  readonly strictness: Strictness;
}

/**
 * The provider's properties as a Struct for the engine.
 *
 * @throws Unencodable for a value that can't be sent, except with `salvage`
 */
export function encodeProperties(map: PropertyMap, strictness: Strictness): Struct {
  return Struct.fromJavaScript(encodeMap(map, { path: "", depth: 0, strictness }));
}

function encodeMap(map: object, at: Position, isSigned = false): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const [name, content] of Object.entries(map) as [string, unknown][]) {
    const key = name.toWellFormed();
    // google-protobuf would set the prototype of its own object.
    if (key === "__proto__") continue;
    const inner = stepInto(at, at.path === "" ? key : `${at.path}.${key}`);
    if (key === signatureKey && !isSigned) {
      // The map came from the service. With this key it would pass for a secret, or break the reply.
      refuse(inner, "this name is reserved by Pulumi");
      continue;
    }
    const value = encodeValue(content, inner);
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

/**
 * `undefined`: the value is to be left out. Values that the types forbid are handled too, because
 * nothing checks them after this.
 */
function encodeValue(content: unknown, at: Position): Json | undefined {
  if (at.depth > maxDepth) return refuse(at, `nested more than ${maxDepth} levels deep`);
  switch (typeof content) {
    case "undefined":
    case "boolean":
      return content;
    case "number":
      return Number.isFinite(content)
        ? content
        : refuse(at, `${content} is not a number Pulumi can keep`);
    case "string":
      // An instance's name may read like an unknown value. One more character makes it a plain text.
      return unknownTexts.has(content) ? `${content}~` : content.toWellFormed();
    case "object":
      return content === null ? null : encodeObject(content, at);
    case "bigint":
    case "function":
    case "symbol":
      return refuse(at, `a ${typeof content} is not a property value`);
  }
}

function encodeObject(content: object, at: Position): Json | undefined {
  if (content instanceof Unknown) {
    return at.strictness === "preview"
      ? unknownText
      : refuse(at, "still unknown, and this is not a preview");
  }
  if (content instanceof Secret) {
    const value = encodeValue(content.value, stepInto(at, at.path));
    return value === undefined ? undefined : { [signatureKey]: signatures.secret, value };
  }
  if (content instanceof Opaque) return encodeMap(content.fields, at, true);
  if (Array.isArray(content)) {
    // An item that is left out becomes null, so that the items behind it keep their places.
    return content.map(
      (item, index) => encodeValue(item, stepInto(at, `${at.path}[${index}]`)) ?? null,
    );
  }
  return isPlainObject(content)
    ? encodeMap(content, at)
    : refuse(at, "an object of a class is not a property value");
}

function refuse(at: Position, reason: string): undefined {
  if (at.strictness === "salvage") return undefined;
  throw new Unencodable(`property ${at.path}: ${reason}`);
}

function stepInto(at: Position, path: string): Position {
  return { ...at, path, depth: at.depth + 1 };
}

/** Without a prototype, or with that of `{}`, in whichever realm it was made. */
function isPlainObject(content: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(content);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
