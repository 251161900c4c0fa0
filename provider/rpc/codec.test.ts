/** Tests of the encoder and the decoder of property maps, partly with generated values. */
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Struct, type Value } from "google-protobuf/google/protobuf/struct_pb";
import {
  Opaque,
  type OpaqueKind,
  Secret,
  Unknown,
  propertyMap,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import { decodeProperties, encodeProperties } from "./properties";
import { signatureKey, signatures, unknownText, unknownTexts } from "../pulumi/names";

/** Signatures of values that this provider does not open. */
const asset = "c44067f5952c0a294b673a41bacd8c17";
const archive = "0def7320c3a5731c473e5ecbe6d01bc7";
const reference = "5cf8f73096256a8f31e491e813e4eb8e";

type Json = Parameters<typeof Value.fromJavaScript>[0];

/** Makes a Struct with the conversion of google-protobuf, as another program would, and not with our encoder. */
function fromEngine(fields: Record<string, Json>): PropertyMap {
  const bytes = Struct.fromJavaScript(fields).serializeBinary();
  return decodeProperties(Struct.deserializeBinary(bytes));
}

/** Serializes and parses a Struct, as if it was sent. */
function sendAndReceive(map: PropertyMap): PropertyMap {
  return decodeProperties(
    Struct.deserializeBinary(encodeProperties(map, "preview").serializeBinary()),
  );
}

const stringArbitrary = fc
  .string({ unit: "binary", maxLength: 12 })
  .filter((text) => text !== signatureKey && text !== "__proto__");
const unusualKeys = ["", "constructor", "toString", "value", "length", "a.b", "1", "\0"];
const keyArbitrary = fc.oneof(fc.constantFrom(...unusualKeys), stringArbitrary);

function mapOf(value: fc.Arbitrary<PropertyValue>): fc.Arbitrary<PropertyMap> {
  return fc.array(fc.tuple(keyArbitrary, value), { maxLength: 4 }).map((entries) => {
    const map = Object.create(null) as Record<string, PropertyValue>;
    for (const [key, item] of entries) map[key] = item;
    return map;
  });
}

const { value: valueArbitrary } = fc.letrec<{ value: PropertyValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    stringArbitrary,
    fc.constant(Unknown.value),
    fc.constant(new Opaque(propertyMap({ [signatureKey]: asset, text: "hello" }), "asset")),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("value").map((inner) => new Secret(inner)),
    mapOf(tie("value")),
  ),
}));

test("every value is the same after encoding and decoding, also if it is serialized between them", () => {
  fc.assert(
    fc.property(mapOf(valueArbitrary), (map) => {
      // The comparison of jest would read a key named "constructor" as the class.
      const encoded = encodeProperties(map, "preview");
      return (
        isDeepStrictEqual(decodeProperties(encoded), map) &&
        isDeepStrictEqual(sendAndReceive(map), map)
      );
    }),
    { numRuns: 400 },
  );
});

test("google-protobuf's own conversion, as other programs use it, reads what we encode", () => {
  const values = { name: "web", keys: ["a"], secret: new Secret(1), later: Unknown.value };
  const map = propertyMap(values);
  expect(encodeProperties(map, "preview").toJavaScript()).toEqual({
    name: "web",
    keys: ["a"],
    secret: { [signatureKey]: signatures.secret, value: 1 },
    later: unknownText,
  });
});

test.each([...unknownTexts])("the sentinel %s is an unknown value at any depth", (sentinel) => {
  expect(
    fromEngine({
      top: sentinel,
      list: [sentinel],
      secret: { [signatureKey]: signatures.secret, value: { inner: sentinel } },
    }),
  ).toStrictEqual(
    propertyMap({
      top: Unknown.value,
      list: [Unknown.value],
      secret: new Secret(propertyMap({ inner: Unknown.value })),
    }),
  );
});

test.each([...unknownTexts])(
  "a plain string that equals the sentinel %s is never sent as an unknown value",
  (sentinel) => {
    for (const kind of ["preview", "final"] as const) {
      const sent = encodeProperties(propertyMap({ name: sentinel, keys: [sentinel] }), kind);
      expect(sent.toJavaScript()).toEqual({ name: `${sentinel}~`, keys: [`${sentinel}~`] });
    }
  },
);

test("all seven sentinels are known", () => expect(unknownTexts.size).toBe(7));

test("an output value is decoded as plain, secret, unknown, or secret and unknown", () => {
  const output = (fields: Record<string, Json>) => ({
    [signatureKey]: signatures.output,
    ...fields,
  });
  expect(
    fromEngine({
      plain: output({ value: "a", dependencies: ["urn:x"] }),
      secret: output({ value: "a", secret: true }),
      unknown: output({}),
      both: output({ secret: true }),
      nothing: output({ value: null }),
    }),
  ).toStrictEqual(
    propertyMap({
      plain: "a",
      secret: new Secret("a"),
      unknown: Unknown.value,
      both: new Secret(Unknown.value),
      nothing: null,
    }),
  );
});

test.each<[OpaqueKind, Record<string, Json>]>([
  ["asset", { [signatureKey]: asset, text: "hello", hash: "1" }],
  [
    "archive",
    { [signatureKey]: archive, assets: { file: { [signatureKey]: asset, path: "./x" } } },
  ],
  ["resource", { [signatureKey]: reference, urn: "urn:x", id: "i-1" }],
  ["newer", { [signatureKey]: "1234", value: "x" }],
])("an opaque value (%s) is sent back unchanged", (kind, fields) => {
  const decoded = fromEngine({ value: fields });
  expect(decoded["value"]).toBeInstanceOf(Opaque);
  expect(decoded["value"]).toHaveProperty("kind", kind);
  expect(encodeProperties(decoded, "final").toJavaScript()).toEqual({ value: fields });
});

test("strings that are not valid Unicode are repaired", () => {
  expect(sendAndReceive(propertyMap({ key: "v\udfff" }))).toStrictEqual(
    propertyMap({ key: "v\ufffd" }),
  );
});

test("an unknown value is left out of a final reply, at any depth (G1)", () => {
  const address = propertyMap({ ipv4: Unknown.value, mac: "m" });
  const map = propertyMap({ name: new Secret(Unknown.value), list: [Unknown.value, address] });
  expect(decodeProperties(encodeProperties(map, "final"))).toStrictEqual(
    propertyMap({ list: [null, propertyMap({ mac: "m" })] }),
  );
});
