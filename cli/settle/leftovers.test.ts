/** Tests which listed instances are known as those of resources of the stack, by tag and base name, and which stop an `up`. */
import { expect, test } from "@jest/globals";
import { generatedName } from "../../provider/instance/naming";
import type { ServiceListing } from "../listings";
import { leftoversIn, stoppingOf } from "./leftovers";
import { held, scope, stateOf, urnOf } from "./testing/states";

const nameOf = (logical: string, itsScope = scope, type?: string) =>
  generatedName(urnOf(logical, type), itsScope, new Uint8Array(32));
const found = (name: string, resources: object[] = []) =>
  leftoversIn([{ id: "i-1", name }], stateOf(resources)).map(({ urn }) => urn);

test("an instance of a resource in the state, or of one that has left it, is known by its name", () => {
  expect(found(nameOf("Web_1"), [held("Web_1", "i-0")])).toEqual([urnOf("Web_1")]);
  expect(found(nameOf("web"))).toEqual([urnOf("web")]);
  expect(found(`${nameOf("web")}.example.com`)).toEqual([urnOf("web")]);
  const type = "my:mod:Group$compute:index:Instance";
  const sibling = held("db", "i-0", { urn: urnOf("db", type) });
  expect(found(nameOf("web", scope, type), [sibling])).toEqual([urnOf("web", type)]);
});

test("another stack's, and a name that only looks like a generated one, are not", () => {
  expect(found(nameOf("web", "another-scope"))).toEqual([]);
  expect(found("web-aaaabbbb")).toEqual([]);
  expect(found("web")).toEqual([]);
});

test.each([
  ["has left the state", [], true],
  ["waits for its replacement", [held("web", "i-0", { pendingReplacement: true })], true],
  ["is tainted", [held("web", "i-0", { taint: true })], true],
  ["is in the state", [held("web", "i-0")], false],
])("a leftover of a resource that %s (%j) stops the next up: %s", (_, resources, stops) => {
  const state = stateOf(resources);
  const settings = { tokenKind: "live", deletePolicy: "fail", leftovers: undefined };
  const service = { settings, origin: { tokenKind: "live" } } as unknown as ServiceListing;
  const leftovers = leftoversIn([{ id: "i-1", name: nameOf("web") }], state);
  expect(stoppingOf(leftovers, state, new Map(), service)).toHaveLength(stops ? 1 : 0);
});
