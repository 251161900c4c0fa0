/** G3: a state is never judged by the listing of another service, tenant or token. */
import { expect, test } from "@jest/globals";
import { inputs } from "./support/stack";
import { withOne } from "./support/one";
import { liveToken, otherTenant } from "./support/world";

const rotated = "sk_test_CanaryTokenRotated1";

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
