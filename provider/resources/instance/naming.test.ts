import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { urnOf } from "../../testing/scene";
import { generatedName, isGeneratedName } from "./naming";

const seed = new Uint8Array([1, 2, 3]);

test.each([
  ["web", /^web-[0-9a-f]{7}$/],
  ["My Web_Server", /^my-web-server-/],
  ["--x--", /^x-/],
  ["日本", /^instance-/],
  ["a::b", /^a-b-/],
])("from %s comes a hostname", (logical, pattern) => {
  expect(generatedName(urnOf(logical), seed)).toMatch(pattern);
});

test("whatever the resource is called, the name is a valid hostname and known as ours", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array(), (logical, bytes) => {
      const name = generatedName(urnOf(logical), bytes);
      expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
      expect(isGeneratedName(urnOf(logical), name)).toBe(true);
    }),
  );
});

test("without a seed two names still differ: a generated name has to be proof (G2)", () => {
  const none = new Uint8Array();
  expect(generatedName(urnOf("web"), none)).not.toBe(generatedName(urnOf("web"), none));
});

test.each([
  "web",
  "web-",
  "web-123456",
  "web-12345678",
  "web-123456G",
  "other-0123abc",
  "web-a-0123abc",
])("%s is not taken for a generated name", (name) => {
  expect(isGeneratedName(urnOf("web"), name)).toBe(false);
});
