/** Replacements that no Diff goes before: `--replace` and `state taint`, right after the create. */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { oneInstance } from "./support/programs";
import { Stack, tokens } from "./support/stack";

const destroyPath = "/v2/instances/{id}";

test.each(["--replace", "taint"])(
  "%s of an instance just created makes another one, and destroys the first, not the second",
  async (how) => {
    await using emulator = await startEmulator({ provisioningSeconds: 0, destroyPath });
    await using stack = await Stack.create({
      program: oneInstance(),
      baseUrl: emulator.url,
      token: tokens.live,
      config: { destroyPath, pollIntervalSeconds: "0.2" },
    });
    await stack.up();
    const { id, urn } = await stack.instance();

    if (how === "taint") await stack.succeed("state", "taint", urn, "--yes");
    const { code, output } = await stack.up(...(how === "taint" ? [] : ["--replace", urn]));

    expect(output).toContain("1 replaced");
    expect(code).toBe(0);
    const now = await stack.instance();
    expect(now.id).not.toBe(id);
    expect(emulator.control.instances().map((instance) => instance.id)).toEqual([now.id]);
  },
);

test("claims of an import that a time-out cut short are no change to the next up", async () => {
  await using emulator = await startEmulator();
  const { id } = emulator.control.insert({ name: "web-main", status: "PROVISIONING" });
  await using stack = await Stack.create({
    program: oneInstance({ name: "web-main" }, { customTimeouts: { update: "1s" } }),
    baseUrl: emulator.url,
  });
  await stack.run("import", "compute:index:Instance", "web", id, "--yes", "--protect=false");
  expect((await stack.up()).code).not.toBe(0);

  emulator.control.setStatus(id, "ACTIVE");
  const { code, output } = await stack.up();

  expect(output).not.toContain("replaced");
  expect(code).toBe(0);
  expect((await stack.instance()).id).toBe(id);
  expect(emulator.counts()["POST /v2/instances"]).toBeUndefined();
});
