/** Tests of the comparison of origins, and of the hash of a token. */
import { expect, test } from "@jest/globals";
import { originDifference, tokenHash, type Origin } from "./origin";

const addressName = "compute:baseUrl (from COMPUTE_BASE_URL)";
const here: Origin = {
  baseUrl: "https://a.example/v2",
  tokenKind: "live",
  tokenHash: "0123456789ab",
  account: "acc-1",
};

test.each([
  [{ baseUrl: "https://b.example/v2" }, "it lives at https://a.example/v2"],
  [{ tokenKind: "test" }, "made with a live token"],
  [{ account: "acc-2" }, "belongs to account acc-1"],
  [
    { baseUrl: "https://b.example/v2", tokenKind: "test", account: "acc-2" },
    /^it lives at [^;]+; it was made with a live token, but the token given now is a test one$/,
  ],
])("if the origin differs by %j, the difference is reported", (change, words) => {
  expect(originDifference(here, { ...here, ...change }, addressName)).toMatch(words);
});

test("an address from the environment is named as such", () => {
  const there = { ...here, baseUrl: "https://b.example/v2" };
  expect(originDifference(here, there, addressName)).toContain(
    `but ${addressName} is https://b.example/v2`,
  );
});

test("another token, or an account that is not known, does not count as a difference", () => {
  expect(originDifference(here, { ...here, tokenHash: "another" }, addressName)).toBeUndefined();
  const { account: _, ...without } = here;
  expect(originDifference(here, without, addressName)).toBeUndefined();
  expect(originDifference(without, here, addressName)).toBeUndefined();
});

test("the hash differs for each token, and contains no part of it", () => {
  const settings = { apiToken: "sk_live_aaaaaaaa", baseUrl: here.baseUrl };
  expect(tokenHash(settings)).toBe(tokenHash({ ...settings }));
  expect(tokenHash(settings)).not.toBe(tokenHash({ ...settings, apiToken: "sk_live_aaaaaaab" }));
  expect(tokenHash(settings)).toMatch(/^[0-9a-f]{12}$/);
});
