/** Tests of the Instance in the state: what it reads, and what responses and listings make of it. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { packageSchema } from "../../tools/sdk/schema";
import type { Accepted } from "../api/contract";
import type { Origin } from "../origin";
import {
  hasUnknown,
  propertyMap,
  Secret,
  Unknown,
  type PropertyValue,
} from "../pulumi/propertyValue";
import { held, inputsOf, unfinished } from "../testing/scene";
import { inputNames, requiredOutputs } from "./definition";
import { Instance, previewOutputs } from "./instance";

const origin: Origin = {
  baseUrl: "https://a.example/v2",
  tokenKind: "live",
  tokenHash: "0123456789ab",
};
const date = "2026-01-01T00:00:00Z";
const accepted = {
  id: "i-1",
  name: "web",
  status: "PROVISIONING",
  createdAt: "2026-01-01T00:00:00Z",
  networks: [
    { type: "public", ipv4: "203.0.113.1" },
    { type: "private", ipv4: "10.0.0.5", mac_address: "52:54:00:00:00:01" },
  ],
};

const madeOf = (inputs = inputsOf(), response: Accepted = accepted) =>
  Instance.accepted({ urn: "", inputs }, response, origin, date).outputs;

test("the outputs have every input, and the networks and the time of creation from the 202", () => {
  const outputs = madeOf(inputsOf({ userData: new Secret("x") }));
  expect(outputs).toMatchObject({
    name: "web",
    flavorId: "flavor-1",
    sshKeys: null,
    userData: new Secret("x"),
    userDataBase64: null,
    status: "PROVISIONING",
    privateIpv4: "10.0.0.5",
    createdAt: "2026-01-01T00:00:00Z",
    tokenKind: "live",
    networks: [
      { type: "public", ipv4: "203.0.113.1" },
      { type: "private", ipv4: "10.0.0.5", macAddress: "52:54:00:00:00:01" },
    ],
  });
  expect(held(outputs).origin).toEqual(origin);
});

test("an address that stands for none is missing in a state, too, until a listing shows the real one", () => {
  const recorded = held(madeOf()).with({ ipv4: "0.0.0.0", privateIpv4: "::" });
  expect([recorded.ipv4, recorded.privateIpv4]).toEqual([undefined, undefined]);
  const bare = recorded.seenAs({ id: "i-1", status: "ACTIVE" }, origin);
  expect(bare.outputs).toMatchObject({ ipv4: "", privateIpv4: "" });
  const shown = bare.seenAs({ id: "i-1", ipv4_public: "203.0.113.9" }, origin);
  expect(shown.outputs).toMatchObject({ ipv4: "203.0.113.9" });
});

test("what only the 202 could show is empty or null from then on, and an address that a listing may show is missing until the instance is ready (G10)", () => {
  const sparse = madeOf(inputsOf(), { id: "i-1", networks: [] });
  const never = { name: "web", networks: [], privateIpv4: "", createdAt: null };
  expect(sparse).toMatchObject({ ...never, status: "PROVISIONING" });
  expect("ipv4" in sparse).toBe(false);
  const ready = held(sparse).seenAs({ id: "i-1", status: "ACTIVE" }, origin).outputs;
  expect(ready).toMatchObject({ ...never, status: "ACTIVE", ipv4: "" });
  const later = held(ready).seenAs({ id: "i-1", ipv4_public: "203.0.113.9" }, origin).outputs;
  expect(later).toEqual({ ...ready, ipv4: "203.0.113.9" });
});

test("a network has an address, which is empty if the 202 showed none", () => {
  const outputs = madeOf(inputsOf(), { id: "i-1", networks: [{ type: "private" }] });
  expect(outputs).toMatchObject({ privateIpv4: "", networks: [{ type: "private", ipv4: "" }] });
});

test("a name that was secret is still a secret when a response repeats it (G8)", () => {
  const outputs = madeOf(inputsOf({ name: new Secret("web") }));
  expect(outputs["name"]).toEqual(new Secret("web"));
  const later = held(outputs).seenAs({ id: "i-1", name: "web2" }, origin).outputs;
  expect(later["name"]).toEqual(new Secret("web2"));
});

test("a listing adds the address, and the outputs that only the 202 showed are kept", () => {
  const before = unfinished(madeOf());
  const item = { id: "i-1", name: "web", status: "ACTIVE", ipv4_public: "203.0.113.9" };
  const outputs = held(before).seenAs(item, { ...origin, tokenHash: "renewed" }).outputs;
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9", privateIpv4: "10.0.0.5" });
  expect(held(outputs).origin?.tokenHash).toBe("renewed");
  expect("__unfinished" in outputs).toBe(false);
  const sparse = held(outputs).seenAs({ id: "i-1" }, origin).outputs;
  expect(sparse).toMatchObject({ name: "web", status: "ACTIVE", ipv4: "203.0.113.9" });
});

test("the outputs of an imported instance are empty or null if the list does not show them, so no preview shows them as unknown (G5, G10)", () => {
  const item = { id: "i-1", name: "web", status: "ACTIVE" };
  const outputs = Instance.listed("", item, origin).outputs;
  const { properties } = packageSchema().resources["compute:index:Instance"];
  expect(Object.keys(properties).filter((name) => !(name in outputs))).toEqual([]);
  expect(inputNames.filter((name) => held(outputs).isUnread(name))).toEqual(
    inputNames.filter((name) => name !== "name"),
  );
  const places = { flavorId: "", imageId: "", vpcId: "" };
  const unlisted = { ...places, ipv4: "", privateIpv4: "", networks: [], createdAt: null };
  expect(outputs).toMatchObject(unlisted);
  const sparse = Instance.listed("", { id: "i-1" }, origin);
  expect(sparse.outputs).toMatchObject({ ...unlisted, name: "", status: "" });
  expect(sparse).toMatchObject({ name: undefined, status: undefined, ipv4: undefined });
});

test("of a state that was written with null or without a required output, the next listing makes empty ones, and no drift", () => {
  const item = { id: "i-1", name: "web", status: "ACTIVE" };
  const now = Instance.listed("", item, origin);
  const nulls = Object.fromEntries(requiredOutputs.map((name) => [name, null]));
  const missing = Object.fromEntries(requiredOutputs.map((name) => [name, undefined]));
  for (const earlier of [now.with(nulls), now.with(missing)]) {
    expect(inputNames.filter((name) => earlier.isUnread(name))).toEqual(inputNames);
    const after = earlier.seenAs(item, origin);
    expect(after.outputs).toEqual(now.outputs);
    expect([earlier.ipv4, after.ipv4]).toEqual([undefined, undefined]);
  }
});

test("an input that the version which created the instance did not know is null", () => {
  const { sshKeys: _keys, ...outputs } = held(madeOf()).finished().outputs;
  const before = held(propertyMap(outputs));
  const after = before.withEachInput().finished();
  expect(after.outputs).toMatchObject({ sshKeys: null });
  for (const state of [before, after]) expect(state.isUnread("sshKeys")).toBe(false);
});

test("the outputs have no null for a script, which the engine would encrypt, once the instance is ready", () => {
  const made = held(madeOf(inputsOf({ userData: new Secret("x") })));
  const ready = made.unfinished().finished();
  expect(made.outputs).toHaveProperty("userDataBase64", null);
  expect(ready.outputs).toHaveProperty("userData", new Secret("x"));
  expect(ready.outputs).not.toHaveProperty("userDataBase64");
  expect(ready.isUnread("userDataBase64")).toBe(false);
});

test("the types say which outputs may be null", () => {
  const { properties, required } = packageSchema().resources["compute:index:Instance"];
  const outputs = Instance.listed("", { id: "i-1", name: "web", status: "ACTIVE" }, origin).outputs;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  expect(optional.sort()).toEqual(
    Object.keys(outputs)
      .filter((name) => outputs[name] === null)
      .sort(),
  );
  for (const name of optional) expect(properties[name]?.description).toMatch(/\bnull\b/i);
});

test("a preview knows the inputs, and nothing that the service adds (G10)", () => {
  const outputs = previewOutputs(inputsOf({ flavorId: Unknown.value }), "test");
  const known = { name: "web", tokenKind: "test", ipv4: Unknown.value };
  expect(outputs).toEqual(expect.objectContaining(known));
  expect(hasUnknown(outputs["flavorId"])).toBe(true);
});

test("a preview does not know a generated name, because the update generates another one (G10)", () => {
  const nameIn = (key: string) =>
    previewOutputs(inputsOf({ name: "web-1", [key]: "web-1" }), "test")["name"];
  expect(nameIn("__generated")).toBe(Unknown.value);
  expect(nameIn("__proposed")).toBe("web-1");
});

test("the first listing keeps the date of acceptance", () => {
  const before = madeOf();
  expect(before).toMatchObject({ __accepted: date });
  const outputs = held(before).seenAs({ id: "i-1", name: "web" }, origin).outputs;
  expect(outputs["__accepted"]).toBe(date);
});

test("an origin is read as it was written, also from inside a secret, and an incomplete one counts as none", () => {
  const here = { ...origin, account: "acc-1" };
  const originIn = (value: PropertyValue) => held(propertyMap({ __origin: value })).origin;
  expect(originIn(propertyMap(here))).toEqual(here);
  expect(originIn(new Secret(propertyMap(here)))).toEqual(here);
  expect(originIn(propertyMap({ baseUrl: "x" }))).toBeUndefined();
  expect(held().origin).toBeUndefined();
});

test("any state can be read, and is written as it was read, with the keys of later versions", () => {
  const keys = [
    "name",
    "status",
    "__origin",
    "__run",
    "__accepted",
    "__unfinished",
    "__read",
    "__later",
  ];
  const value: fc.Arbitrary<PropertyValue> = fc.oneof(
    fc.constantFrom<PropertyValue>(null, true, 1, "text", Unknown.value, new Secret("secret"), []),
    fc.constant(propertyMap({ baseUrl: "x", tokenKind: 3 })),
  );
  const anyOutputs = fc.dictionary(fc.constantFrom(...keys), value).map(propertyMap);
  const property = fc.property(anyOutputs, (outputs) => {
    const {
      name,
      status,
      origin: itsOrigin,
      stamp,
      acceptedAt,
      isUnfinished,
      ...kept
    } = held(outputs);
    for (const text of [name, status, stamp, acceptedAt]) {
      expect(["undefined", "string"]).toContain(typeof text);
    }
    expect([itsOrigin, typeof isUnfinished]).toEqual([undefined, "boolean"]);
    expect(kept.outputs).toEqual(outputs);
    expect(held(outputs).with({}).outputs).toEqual(outputs);
  });
  fc.assert(property, { seed: 28 });
});
