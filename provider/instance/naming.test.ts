/** Tests of generated names and their tags. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Unknown } from "../pulumi/propertyValue";
import { inputsOf, urnOf } from "../testing/scene";
import { generatedName, isNameFor, nameKind, tagOf } from "./naming";

const scope = "a-stack";
const seed = new Uint8Array([1, 2, 3]);

test.each([
  ["web", /^web-[a-z2-7]{8}$/],
  ["My Web_Server", /^my-web-server-/],
  ["--x--", /^x-/],
  ["日本", /^instance-/],
  ["a::b", /^a-b-/],
])("a hostname is generated from %s", (logical, pattern) => {
  expect(generatedName(urnOf(logical), scope, seed)).toMatch(pattern);
});

test("for any resource name, the generated name is a valid hostname and recognized as generated", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array(), (logical, bytes) => {
      const name = generatedName(urnOf(logical), scope, bytes);
      expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
      expect(isNameFor(name.toUpperCase(), urnOf(logical), scope)).toBe(true);
      expect(isNameFor(`${name}.example.com`, urnOf(logical), scope)).toBe(true);
    }),
  );
});

test("without a seed, two names still differ, because a generated name has to prove who created an instance (G2)", () => {
  const none = new Uint8Array();
  expect(generatedName(urnOf("web"), scope, none)).not.toBe(
    generatedName(urnOf("web"), scope, none),
  );
});

test("the tag is the same in each run and after `stack rename`, and differs between stacks, types and resources", () => {
  const tag = tagOf(urnOf("web"), scope);
  expect(tagOf(urnOf("web").replace(":dev:", ":prod:"), scope)).toBe(tag);
  expect(tagOf(urnOf("web"), "another")).not.toBe(tag);
  expect(tagOf(urnOf("db"), scope)).not.toBe(tag);
  expect(tagOf(urnOf("web").replace("compute:", "my:Component$compute:"), scope)).not.toBe(tag);
});

test("only this resource's base name and tag, and four more characters, are a name for it", () => {
  const tag = tagOf(urnOf("web"), scope);
  const others = ["web", `web-${tag}`, `web-${tag}111`, `web-${tag}1111`, `web-${tag}aaaaa`];
  for (const name of [...others, `${tag}aaaa`, `db-${tag}aaaa`, "web-abcdaaaa", undefined])
    expect(isNameFor(name, urnOf("web"), scope)).toBe(false);
});

test("the inputs that say who chose the name count only while their value is the name", () => {
  expect(nameKind(inputsOf({ name: "a", __generated: "a" }))).toBe("generated");
  expect(nameKind(inputsOf({ name: "a", __proposed: "a" }))).toBe("proposed");
  expect(nameKind(inputsOf({ name: "a", __generated: "b" }))).toBe("explicit");
  expect(nameKind(inputsOf({ name: "a" }))).toBe("explicit");
  expect(nameKind(inputsOf({ name: Unknown.value, __generated: "a" }))).toBe("explicit");
});
