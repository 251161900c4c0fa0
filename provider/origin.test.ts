import { expect, test } from "@jest/globals";
import { originDifference, originFromState, originToState, tokenHash, type Origin } from "./origin";
import { propertyMap, Secret } from "./propertyValue";

const here: Origin = {
  baseUrl: "https://a.example/v2",
  tokenKind: "live",
  tokenHash: "0123456789ab",
  account: "acc-1",
};

test("an origin comes back from the state as it went in, also out of a secret", () => {
  const stored = originToState(here);
  expect(originFromState(propertyMap({ __origin: stored }))).toEqual(here);
  expect(originFromState(propertyMap({ __origin: new Secret(stored) }))).toEqual(here);
});

test("a state without an origin, or with half of one, tells of no place", () => {
  expect(originFromState(undefined)).toBeUndefined();
  expect(originFromState(propertyMap({ name: "web" }))).toBeUndefined();
  expect(originFromState(propertyMap({ __origin: propertyMap({ baseUrl: "x" }) }))).toBeUndefined();
});

test.each([
  [{ baseUrl: "https://b.example/v2" }, "it lives at https://a.example/v2"],
  [{ tokenKind: "test" }, "made with a live token"],
  [{ account: "acc-2" }, "belongs to account acc-1"],
])("another %j is named", (change, words) => {
  expect(originDifference(here, { ...here, ...change })).toContain(words);
});

test("of another account it is said how to go on where the id is a user's, not a tenant's", () => {
  expect(originDifference(here, { ...here, account: "acc-2" })).toContain(
    "compute:validateCredentials to false",
  );
});

test("another token, or an account that is not told, is no difference", () => {
  expect(originDifference(here, { ...here, tokenHash: "another" })).toBeUndefined();
  const { account: _, ...without } = here;
  expect(originDifference(here, without)).toBeUndefined();
  expect(originDifference(without, here)).toBeUndefined();
});

test("the hash tells tokens apart, and shows nothing of them", () => {
  const settings = { apiToken: "sk_live_aaaaaaaa", baseUrl: here.baseUrl };
  expect(tokenHash(settings)).toBe(tokenHash({ ...settings }));
  expect(tokenHash(settings)).not.toBe(tokenHash({ ...settings, apiToken: "sk_live_aaaaaaab" }));
  expect(tokenHash(settings)).toMatch(/^[0-9a-f]{12}$/);
});
