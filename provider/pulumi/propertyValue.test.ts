/** Tests of the property values, and of the guesses for misspelled names. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { closest } from "../closest";
import {
  canonicalJson,
  hasSecret,
  hasUnknown,
  Opaque,
  propertyMap,
  reveal,
  Secret,
  secretLike,
  secretStrings,
  Unknown,
  type PropertyValue,
} from "./propertyValue";

const { values } = fc.letrec<{ values: PropertyValue; plain: PropertyValue }>((tie) => ({
  plain: fc.oneof(fc.constant(null), fc.boolean(), fc.double(), fc.string()),
  values: fc.oneof(
    { maxDepth: 4 },
    tie("plain"),
    fc.constant(Unknown.value),
    fc.array(tie("values"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("values"), { maxKeys: 3 }).map(propertyMap),
    tie("values").map((value) => new Secret(value)),
  ),
}));

/** Every string in the value, and whether it is inside a secret. A simple model of `secretStrings`. */
function stringsIn(value: PropertyValue, inside = false): { text: string; inside: boolean }[] {
  if (typeof value === "string") return [{ text: value, inside }];
  if (value instanceof Secret) return stringsIn(value.value, true);
  if (value === null || typeof value !== "object" || value instanceof Unknown) return [];
  return Object.values(value).flatMap((part: PropertyValue) => stringsIn(part, inside));
}

test("`reveal` removes every `Secret` wrapper and nothing else", () => {
  fc.assert(
    fc.property(values, (value) => {
      const revealed = reveal(value);
      expect(hasSecret(revealed)).toBe(false);
      expect(hasUnknown(revealed)).toBe(hasUnknown(value));
      expect(stringsIn(revealed).map(({ text }) => text)).toEqual(
        stringsIn(value).map(({ text }) => text),
      );
      expect(reveal(revealed)).toEqual(revealed);
    }),
  );
});

test("`secretStrings` returns the strings inside secrets, and no others (G8)", () => {
  fc.assert(
    fc.property(values, (value) => {
      const inside = stringsIn(value).filter((text) => text.inside);
      expect(secretStrings(value)).toEqual(inside.map(({ text }) => text));
    }),
  );
});

test("a value that is derived from a secret becomes a secret, and is wrapped only once", () => {
  expect(secretLike(new Secret("a"), "b")).toEqual(new Secret("b"));
  expect(secretLike(new Secret("a"), new Secret("b"))).toEqual(new Secret("b"));
  expect(secretLike("a", "b")).toBe("b");
  expect(secretLike(new Secret("a"), undefined)).toBeUndefined();
});

test("a key named __proto__ is a key like any other", () => {
  const map = propertyMap(JSON.parse('{"__proto__": "x", "gone": null}') as Record<string, string>);
  expect(Object.keys(map)).toEqual(["__proto__", "gone"]);
  expect(reveal(map)).toEqual(map);
});

test("for a comparison, the order of keys does not matter, nor whether a map has a prototype", () => {
  const map = propertyMap({ b: propertyMap({ d: 1, c: ["x", "y"] }), a: null });
  expect(canonicalJson(map)).toBe(canonicalJson({ a: null, b: { c: ["x", "y"], d: 1 } }));
  expect(canonicalJson(map)).not.toBe(canonicalJson({ a: null, b: { c: ["y", "x"], d: 1 } }));
});

test("an asset is not searched for secrets", () => {
  const asset = new Opaque(propertyMap({ text: new Secret("x") }), "asset");
  expect(hasSecret(asset)).toBe(false);
  expect(reveal(asset)).toBe(asset);
});

test.each([
  ["flavor_id", "flavorId"],
  ["userdata", "userData"],
  ["sshKey", "sshKeys"],
  ["region", undefined],
  ["nam", "name"],
  ["na", undefined],
])("for %s, %s is guessed", (word, guess) => {
  const names = ["name", "flavorId", "imageId", "vpcId", "sshKeys", "userData", "userDataBase64"];
  expect(closest(word, names)).toBe(guess);
});
