import { expect, test } from "@jest/globals";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import { propertyMap, type PropertyValue } from "../property/value";
import { InvalidMessage } from "./decode";
import { encodeProperties } from "./encode";
import { scan } from "./scan";
import { shapeOf } from "./shape";
import { deepest } from "./wire";

const check = shapeOf(pb.CheckRequest);

/** A CheckRequest with every kind of field, and properties of every kind. */
function whole(value: PropertyValue = "x"): Uint8Array {
  const properties = propertyMap({ a: [1, true, null, value], "": propertyMap({ é: "😀" }) });
  const request = new pb.CheckRequest();
  request
    .setUrn("urn")
    .setRandomseed(new Uint8Array([255, 254]))
    .setType("t");
  request.setNews(encodeProperties(properties, "final"));
  request.setAutonaming(new pb.CheckRequest.AutonamingOptions().setProposedName("n").setMode(2));
  return request.serializeBinary();
}
const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(" ", ""), "hex");

test("what the generated code writes passes, and so do fields that are newer than this provider", () => {
  scan(whole(), check);
  scan(Buffer.concat([whole(), bytes("a206 02 ffff  a806 01  ad06 00000000")]), check);
  const configure = new pb.ConfigureRequest();
  configure.getVariablesMap().set("compute:baseUrl", "x");
  scan(configure.serializeBinary(), shapeOf(pb.ConfigureRequest));
  const list = new pb.ListRequest().setToken("t").setLimit(-1).serializeBinary();
  scan(list, shapeOf(pb.ListRequest));
});

test.each([
  ["a text of 4 GB", "0a ffffffff0f", /4294967295 bytes, which are not there/],
  ["a text a byte too long", "0a 02 61", /2 bytes, which are not there/],
  ["properties that end before their own field does", "12 03 0a 05 61", /not there/],
  ["a text of properties past their end", "12 06 0a 04 0a 7f 61 61", /not there/],
  ["a length without an end", "0a ffffffffffffffffff01", /without an end/],
  ["a number without an end", "42 0b 10 ffffffffffffffffffff", /without an end/],
  ["a tag without an end", "80", /without an end/],
  ["a tag beyond 32 bits", "8a80808010 00", /another type/],
  ["the field 0", "02 00", /field 0/],
  ["a group", "a306 a406", /group/],
  ["a type that does not exist", "a606", /group/],
  ["eight bytes that are cut", "a106 00", /8 bytes, which are not there/],
  ["a text as a number", "08 01", /field 1 of another type/],
  ["properties as a number", "18 01", /field 3 of another type/],
  ["more than key and value in properties", "1a 04 0a 02 18 00", /field 3 of another type/],
  ["a text that is cut in a character", "0a 01 f0", /UTF-8/],
  ["a lone surrogate", "0a 03 eda080", /UTF-8/],
  ["an overlong NUL in a property's name", "1a 06 0a 04 0a 02 c080", /UTF-8/],
])("%s is refused", (_, hex, why) => {
  expect(() => scan(bytes(hex), check)).toThrow(InvalidMessage);
  expect(() => scan(bytes(hex), check)).toThrow(why);
});

test("properties are refused below the deepest level, whatever nests them, and pass above it", () => {
  const nested = (levels: number, list: boolean): Uint8Array => {
    // From the inside out. A list nests a Value in two fields, a map in three.
    const around = list ? [1, 6] : [2, 1, 5];
    const numbers = Array.from({ length: levels - 1 }, () => around).flat();
    return within([...numbers, 2, 1, 3], bytes("0801"));
  };
  for (const list of [true, false]) {
    scan(nested(deepest, list), check);
    expect(() => scan(nested(deepest + 1, list), check)).toThrow("levels deep");
    expect(() => scan(nested(20_000, list), check)).toThrow("levels deep");
  }
});

/** The content as a field of bytes, that as one of another, and so on. */
function within(numbers: readonly number[], content: Uint8Array): Uint8Array {
  // From its end, and turned round at last: what is deep would be copied once a level.
  const backwards = [...content].reverse();
  for (const number of numbers) {
    const head = [number * 8 + 2];
    let rest = backwards.length;
    for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
    backwards.push(...[...head, rest].reverse());
  }
  return Uint8Array.from(backwards.reverse());
}

test("whatever passes is read by google-protobuf, and holds no more text than was sent", () => {
  const sound = whole("a longer text, so that there is something to cut");
  let passed = 0;
  const change = fc.record({ at: fc.nat(sound.length - 1), to: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), fc.nat(sound.length), (changes, length) => {
      const mutated = sound.slice(0, length);
      for (const { at, to } of changes) if (at < length) mutated[at] = to;
      try {
        scan(mutated, check);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidMessage);
        return;
      }
      passed++;
      const read = pb.CheckRequest.deserializeBinary(mutated).toObject();
      expect(JSON.stringify(read).length).toBeLessThan(60 * (length + 10));
      expect(Buffer.byteLength(read.urn + read.type)).toBeLessThanOrEqual(length);
    }),
    { numRuns: 3000, examples: [[[], sound.length]] },
  );
  expect(passed).toBeGreaterThan(100);
});
