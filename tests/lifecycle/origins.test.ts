/** G3: a state is never judged by the listing of another service, tenant or token. */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { inputs } from "./support/stack";
import { expectKept, withOne } from "./support/one";
import { liveToken, otherTenant, testToken, withWorld } from "./support/world";

const rotated = "sk_test_CanaryTokenRotated1";

test.each([
  [{ apiToken: liveToken }, /made with a test token, but the token given now is a live one/],
  [{ apiToken: otherTenant }, /belongs to account acct_default.*is of account acct_other/],
])("a state read with %j: nothing is dropped, and the difference is named", (settings, message) =>
  withOne((world) => expectKept(world, settings, message)),
);

test("a state made with a live token, read with a test token: nothing is dropped", async () => {
  await withWorld({}, async (world) => {
    const live = await world.plugin({ apiToken: liveToken });
    expect((await world.stack.up(live, { web: inputs() })).failed).toEqual({});
    await expectKept(
      world,
      {},
      /made with a live token, but the token given now is a test one.*run again with the configuration it was made with/,
    );
    world.expectAllHeld();
  });
});

const elsewhere = [{ apiToken: liveToken }, { apiToken: otherTenant }];
test.each(elsewhere)("destroy with %j, where there is a destroy call: none is sent", (settings) =>
  withOne(async (world) => {
    const destroyPath = "/v2/instances/{id}";
    const before = world.stack.held();
    const plugin = await world.plugin({ ...settings, destroyPath });
    expect((await world.stack.destroy(plugin)).failure.message).toMatch(/is out of reach of this/);
    expect(world.stack.held()).toEqual(before);
    const methods = world.service.control.requests().map(({ method }) => method);
    expect(methods).not.toContain("DELETE");
  }),
);

test("another tenant's token, no account known: nothing is dropped, and a warning says why", async () => {
  await withOne(async (world) => {
    const before = world.stack.held();
    const plugin = await world.plugin({ apiToken: otherTenant, validateCredentials: false });
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(world.stack.held()).toEqual(before);
    expect(await plugin.warning(/not in the listing.*another tenant/)).toContain(before.id);
  });
});

test("a revoked token: Read fails with one clear error, and the state stays", async () => {
  await withOne(async (world) => {
    world.service.control.declareToken(testToken, { state: "revoked" });
    await expectKept(world, {}, /revoked_token.*compute:apiToken/);
  });
});

test("a rotated token of the same tenant: what is seen is read without a word", async () => {
  await withOne(async (world) => {
    const plugin = await world.plugin({ apiToken: rotated });
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(await plugin.allWarnings()).toEqual([]);
    world.expectAllHeld();
  });
});

test("a rotated token without a witness: the state stays, and a warning says why", async () => {
  await withOne(async (world) => {
    const { stack, service } = world;
    const { id } = stack.held();
    service.control.remove(id);
    const plugin = await world.plugin({ apiToken: rotated });
    expect((await stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(stack.ids).toEqual([id]);
    expect(await plugin.warning(/may be another tenant's/)).toContain(id);
  });
});

test("a rotated token with a witness: what is gone is gone, and what is seen gets the new origin", async () => {
  await withOne(async (world) => {
    const { stack, service } = world;
    await stack.up(await world.plugin(), { web: inputs(), witness: inputs() });
    service.control.remove(stack.held().id);
    const next = await world.plugin({ apiToken: rotated });
    await stack.refresh(next);
    await stack.refresh(next);
    expect([...stack.resources.keys()]).toEqual(["witness"]);
    // Renewed when seen: with the new token alone, gone is gone.
    service.control.remove(stack.held("witness").id);
    expect((await stack.refresh(await world.plugin({ apiToken: rotated }))).did).toEqual([
      "gone witness",
    ]);
  });
});

test("another baseUrl: nothing is dropped, and both addresses are named", async () => {
  await withOne(async (world) => {
    const other = await startEmulator();
    try {
      const message = new RegExp(`${world.service.url}.*${other.url}`);
      await expectKept(world, { baseUrl: other.url }, message);
      expect(other.control.instances()).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
