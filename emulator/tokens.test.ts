/** Tests the owners of tokens, and the declarations of tokens. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator } from "./index";
import { caller } from "./testClient";
import { tenantOf } from "./tokens";

test.each([
  ["sk_live_acme_1", "acme"],
  ["sk_test_acme_1_2", "acme"],
  ["sk_test_acme", "default"],
  ["sk_test__x", "default"],
  ["sk_test_acme_", "default"],
  ["other_acme_1", "default"],
])("%s belongs to the tenant %s", (token, tenant) => {
  expect(tenantOf(token)).toBe(tenant);
});

describe("declared tokens", () => {
  test("can be revoked and lose scopes while the emulator runs", async () => {
    await using emulator = await startEmulator();
    const { ask } = caller(emulator, "sk_test_a");
    expect((await ask("GET", "/account")).status).toBe(200);
    emulator.control.declareToken("sk_test_a", { scopes: ["list"] });
    expect((await ask("GET", "/account")).status).toBe(403);
    expect((await ask("GET", "/instances")).status).toBe(200);
    emulator.control.declareToken("sk_test_a", { state: "revoked" });
    expect((await ask("GET", "/instances")).status).toBe(401);
  });
});

test("no response and no log contains a token", async () => {
  const lines: string[] = [];
  await using emulator = await startEmulator({ log: (line) => lines.push(line) });
  const canary = "sk_live_canary_0123";
  emulator.control.declareToken(canary, { state: "revoked" });
  const { text } = await caller(emulator, canary).ask("GET", "/instances?limit=5");
  const seen = `${text}${lines.join()}${JSON.stringify(emulator.control.requests())}`;
  expect(seen).toContain("revoked");
  expect(seen).toContain("limit=5");
  expect(seen).not.toContain("canary");
});
