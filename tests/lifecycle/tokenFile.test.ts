/** A token in a file that is replaced while a run goes on, as a projected secret is. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { inputs } from "./support/stack";
import { testToken, until, withWorld } from "./support/world";

const rotatedToken = "sk_test_CanaryTokenR2D2rotated";

test("the run goes on with the new token, and the next one starts with it", async () => {
  const file = join(temporaryFolder(), "token");
  await withWorld({}, async (world) => {
    const { stack, service } = world;
    const env = { COMPUTE_API_TOKEN_FILE: file };
    writeFileSync(file, `${testToken}\n`);
    const plugin = await world.plugin({ apiToken: null }, { env });
    expect((await stack.up(plugin, { web: inputs() })).did).toEqual(["create web"]);

    writeFileSync(file, `${rotatedToken}\n`);
    service.control.declareToken(testToken, { state: "revoked" });
    const both = { web: inputs(), db: inputs() };
    expect((await stack.up(plugin, both)).did.sort()).toEqual(["create db", "same web"]);
    const info = `the service refused the token; the run continues with the new one in ${file}`;
    await until(() => plugin.logged.some(({ message }) => message === info));

    const next = await world.plugin({ apiToken: null }, { env });
    expect((await stack.refresh(next)).failed).toEqual({});
    expect((await stack.up(next, both)).did.sort()).toEqual(["same db", "same web"]);
    expect(world.ids).toHaveLength(2);
    world.expectAllHeld();
  });
});
