import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  propertyMap,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../../property/value";
import { inputsOf, scene, urnOf } from "../../testing/scene";
import { changedInputs, claimed, replaces } from "./changes";
import { instances } from ".";
import { inputNames } from "./definition";

type Values = Record<string, PropertyValue | undefined>;

/** Of an instance that this provider created: every input is in the outputs, null where unset. */
function diff(olds: Values, news: Values) {
  const oldInputs = inputsOf(olds);
  const oldOutputs = propertyMap(
    Object.fromEntries(inputNames.map((name) => [name, oldInputs[name] ?? null])),
  );
  return changedInputs({ oldInputs, oldOutputs, news: inputsOf(news) });
}

test.each(["name", "flavorId", "imageId", "vpcId"])(
  "another %s replaces, and is named (G5)",
  (name) => {
    const detailed = diff({}, { [name]: "another" });
    expect(detailed).toEqual({ [name]: "update-replace" });
    expect(replaces(detailed)).toBe(true);
  },
);

test("an input that is added or taken away replaces", () => {
  expect(diff({}, { sshKeys: ["a"] })).toEqual({ sshKeys: "add-replace" });
  expect(diff({ sshKeys: ["a"] }, {})).toEqual({ sshKeys: "delete-replace" });
  expect(diff({ userData: "a" }, {})).toEqual({ userData: "delete-replace" });
  expect(diff({}, { userDataBase64: "YQ==" })).toEqual({ userDataBase64: "add-replace" });
});

test("keys are a set: order, repetition and an empty list are no change (G5)", () => {
  expect(diff({ sshKeys: ["a", "b"] }, { sshKeys: ["b", "a", "a"] })).toEqual({});
  expect(diff({ sshKeys: ["a", "b"] }, { sshKeys: ["b", "c"] })).toEqual({
    sshKeys: "update-replace",
  });
  expect(diff({}, { sshKeys: [] })).toEqual({});
  expect(diff({ sshKeys: [] }, {})).toEqual({});
  expect(diff({ sshKeys: [] }, { sshKeys: null })).toEqual({});
});

test("scripts are compared by their bytes, texts without regard to line endings (G5)", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  expect(diff({ userData: "a\nb\n" }, { userData: "a\r\nb\r\n" })).toEqual({});
  expect(diff({ userData: "ä\n" }, { userDataBase64: base64("ä\r\n") })).toEqual({});
  expect(diff({ userDataBase64: "YWJj" }, { userDataBase64: "YW\nJj" })).toEqual({});
  expect(diff({ userData: "" }, {})).toEqual({});
  expect(diff({ userData: "a" }, { userData: "b" })).toEqual({ userData: "update-replace" });
  expect(diff({ userData: "a" }, { userDataBase64: base64("b") })).toEqual({
    userData: "delete-replace",
    userDataBase64: "add-replace",
  });
});

test("bytes that are no text are compared as they are", () => {
  const bytes = (...list: number[]) => Buffer.from(list).toString("base64");
  expect(diff({ userDataBase64: bytes(255, 13, 10) }, { userDataBase64: bytes(255, 10) })).toEqual({
    userDataBase64: "update-replace",
  });
});

test("what is not known yet is a change, also inside a list or a secret (G10)", () => {
  expect(diff({}, { flavorId: Unknown.value })).toEqual({ flavorId: "update-replace" });
  expect(diff({ sshKeys: ["a"] }, { sshKeys: ["a", Unknown.value] })).toEqual({
    sshKeys: "update-replace",
  });
  expect(diff({ userData: "a" }, { userData: new Secret(Unknown.value) })).toEqual({
    userData: "update-replace",
  });
});

test("a secret is compared by what is in it", () => {
  expect(
    diff(
      { flavorId: "a", userData: "x" },
      { flavorId: new Secret("a"), userData: new Secret("x") },
    ),
  ).toEqual({});
});

test("what an import could not know is recorded in place, never a replacement (G5)", () => {
  const imported: PropertyMap = propertyMap({ name: "web" });
  const news = inputsOf({ sshKeys: ["a"], userData: new Secret("x") });
  const detailed = changedInputs({
    oldInputs: imported,
    oldOutputs: propertyMap({ name: "web", status: "ACTIVE" }),
    news,
  });
  expect(replaces(detailed)).toBe(false);
  expect(claimed(detailed)).toEqual(["flavorId", "imageId", "vpcId", "sshKeys", "userData"]);
});

test("an imported instance of another name than the program's is a replacement", () => {
  const detailed = changedInputs({
    oldInputs: propertyMap({ name: "old" }),
    oldOutputs: propertyMap({ name: "old" }),
    news: inputsOf(),
  });
  expect(detailed).toMatchObject({ name: "update-replace", flavorId: "add" });
});

test("whatever the inputs, nothing differs from itself", () => {
  const optional = (value: fc.Arbitrary<PropertyValue>) => fc.option(value, { nil: undefined });
  const text = fc.string({ unit: "binary" });
  const some = fc.record({
    name: text,
    sshKeys: optional(fc.array(text)),
    userData: optional(text.map((value) => new Secret(value))),
    userDataBase64: optional(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"))),
  });
  fc.assert(fc.property(some, (values) => expect(diff(values, values)).toEqual({})));
});

const request = (news: Values) => ({
  urn: urnOf("web"),
  id: "i-1",
  oldInputs: inputsOf(),
  oldOutputs: inputsOf(),
  news: inputsOf(news),
});

test.each([
  [{}, true, "will fail, before a second server is made"],
  [{ deletePolicy: "retain" }, false, "leaves it behind"],
  [{ destroyPath: "/v2/instances/{id}" }, false, undefined],
])("with %j, a replacement says what will stay behind (G4)", (args, deleteFirst, words) => {
  const { session, messages } = scene(args);
  session.state.checked(urnOf("web"));
  const { deleteBeforeReplace } = instances.diff(session, request({ flavorId: "b" }));
  expect(deleteBeforeReplace).toBe(deleteFirst);
  expect(messages.warnings).toEqual(words ? [expect.stringContaining(words)] : []);
});

test("drift that a refresh has read is no replacement yet, and is not called one (G4)", () => {
  const { session, messages } = scene();
  session.state.checked(urnOf("web"));
  session.state.isRead(urnOf("web"));
  const { detailed } = instances.diff(session, request({ name: "renamed" }));
  expect(detailed).toEqual({ name: "update-replace" });
  expect(messages.all).toEqual([]);
});

test("no change says nothing, and deletes first all the same where Delete would fail (G4)", () => {
  const { session, messages } = scene();
  expect(instances.diff(session, request({}))).toEqual({ detailed: {}, deleteBeforeReplace: true });
  expect(messages.all).toEqual([]);
});
