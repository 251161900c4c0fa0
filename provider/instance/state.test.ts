/** Tests of the outputs that are made from responses and listings. */
import { expect, test } from "@jest/globals";
import { packageSchema } from "../../tools/sdk/schema";
import type { Accepted } from "../api/contract";
import { originFromState, type Origin } from "../origin";
import { hasUnknown, Secret, Unknown } from "../propertyValue";
import { inputsOf } from "../testing/scene";
import { inputNames } from "./definition";
import {
  isUnread,
  outputsOfAccepted,
  outputsOfItem,
  outputsWithItem,
  previewOutputs,
  markUnfinished,
} from "./state";

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
  outputsOfAccepted(inputs, response, origin, date);

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
  expect(originFromState(outputs)).toEqual(origin);
});

test("an output that no response has shown is missing before the instance is ready, and null from then on (G10)", () => {
  const sparse = madeOf(inputsOf(), { id: "i-1", networks: [] });
  expect(sparse).toMatchObject({ name: "web", status: "PROVISIONING", networks: [] });
  for (const name of ["ipv4", "privateIpv4", "createdAt"]) expect(name in sparse).toBe(false);
  const outputs = outputsWithItem(sparse, { id: "i-1", status: "ACTIVE" }, origin);
  expect(outputs).toMatchObject({ ipv4: null, privateIpv4: null, createdAt: null });
});

test("a name that was secret is still a secret when a response repeats it (G8)", () => {
  const outputs = madeOf(inputsOf({ name: new Secret("web") }));
  expect(outputs["name"]).toEqual(new Secret("web"));
  const later = outputsWithItem(outputs, { id: "i-1", name: "web2" }, origin);
  expect(later["name"]).toEqual(new Secret("web2"));
});

test("a listing adds the address, and the outputs that only the 202 showed are kept", () => {
  const before = markUnfinished(madeOf());
  const item = { id: "i-1", name: "web", status: "ACTIVE", ipv4_public: "203.0.113.9" };
  const outputs = outputsWithItem(before, item, { ...origin, tokenHash: "renewed" });
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9", privateIpv4: "10.0.0.5" });
  expect(originFromState(outputs)?.tokenHash).toBe("renewed");
  expect("__unfinished" in outputs).toBe(false);
  const sparse = outputsWithItem(outputs, { id: "i-1" }, origin);
  expect(sparse).toMatchObject({ name: "web", status: "ACTIVE", ipv4: "203.0.113.9" });
});

test("the outputs of an imported instance are null if the list does not show them, so no preview shows them as unknown (G5, G10)", () => {
  const item = { id: "i-1", name: "web", status: "ACTIVE" };
  const outputs = outputsOfItem(item, origin);
  const { properties } = packageSchema().resources["compute:index:Instance"];
  expect(Object.keys(properties).filter((name) => !(name in outputs))).toEqual([]);
  expect(inputNames.filter((name) => isUnread(name, outputs))).toEqual(
    inputNames.filter((name) => name !== "name"),
  );
  expect(outputs).toMatchObject({ ipv4: null, privateIpv4: null, createdAt: null, networks: [] });
  expect(outputsOfItem({ id: "i-1" }, origin)).toMatchObject({ name: null, status: null });
});

test("the types say which outputs may be null", () => {
  const { properties, required } = packageSchema().resources["compute:index:Instance"];
  const outputs = outputsOfItem({ id: "i-1", name: "web", status: "ACTIVE" }, origin);
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
  expect(outputs).toMatchObject({ name: "web", tokenKind: "test", ipv4: Unknown.value });
  expect(hasUnknown(outputs["flavorId"])).toBe(true);
});

test("the first listing keeps the date of acceptance", () => {
  const before = madeOf();
  expect(before).toMatchObject({ __accepted: date });
  const outputs = outputsWithItem(before, { id: "i-1", name: "web" }, origin);
  expect(outputs["__accepted"]).toBe(date);
});
