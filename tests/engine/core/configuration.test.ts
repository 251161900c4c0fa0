/** Tests that a wrong setting or token is one clear error with the next step (G9: errors help). */
import { expect, test } from "@jest/globals";
import { settingNames } from "../../../provider/config/settings";
import { printedCommands } from "../../support/printed";
import { Fixture } from "../support/fixture";
import { required } from "../support/programs";
import { canaries } from "../support/secrets";
import { isOldest, plugin, type Stack } from "../support/stack";

/**
 * Returns what a failing preview and a failing import print. Of the oldest engine, only the preview: its import ends with 0,
 * and keeps the settings in its history.
 */
async function failures(stack: Stack): Promise<string[]> {
  const preview = await stack.fail("preview");
  if (isOldest) return [preview];
  return [preview, await stack.fail("import", "compute:index:Instance", "web", "i-1", "--yes")];
}

/** A password in an address, and in every other setting, as if it had been pasted into the wrong place. */
const misplaced = {
  ...Object.fromEntries(settingNames.map((name) => [name, `${canaries.password} x`])),
  baseUrl: `https://user:${canaries.password}@api.example.com/v2`,
};
const places: [where: string, of: (fixture: Fixture) => Promise<string[]>][] = [
  [
    "the program",
    async ({ stack }) => {
      stack.javascript(`
        const { CustomResource, ProviderResource } = require("@pulumi/pulumi");
        const provider = new ProviderResource("compute", "own", ${JSON.stringify(misplaced)});
        new CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}, { provider });
      `);
      return [await stack.fail("preview"), await stack.fail("up")];
    },
  ],
  [
    "the configuration",
    async ({ stack }) => {
      await stack.configure(misplaced);
      try {
        return await failures(stack);
      } finally {
        // The settings file has the password, because the test wrote it.
        for (const name of settingNames) await stack.succeed("config", "rm", `compute:${name}`);
      }
    },
  ],
];
test.each(places)(
  "a password in any setting of %s is not printed, and each setting is named",
  async (_where, outputsOf) => {
    await using fixture = await Fixture.create();

    const outputs = await outputsOf(fixture);

    // Every output has been searched for the password.
    for (const output of outputs)
      for (const name of settingNames) expect(output).toMatch(new RegExp(`compute:${name}\\b`));
    expect(fixture.control.counts()).toEqual({});
  },
);

test("a password in COMPUTE_BASE_URL is printed neither by Pulumi nor by the plugin's commands", async () => {
  const COMPUTE_BASE_URL = misplaced.baseUrl;
  await using fixture = await Fixture.create({ baseUrl: undefined, env: { COMPUTE_BASE_URL } });
  const { stack } = fixture;

  const outputs = await failures(stack);
  if (!isOldest)
    outputs.push(await stack.fail("do", "--package", plugin, "compute:index:getAccount"));
  for (const command of ["doctor", "doctor --json", "audit"])
    outputs.push(await stack.typeFailing(`'${plugin}' ${command}`));

  for (const output of outputs) expect(output).toContain("must not hold a user name or password");
});

test("if the state still has a wrong address that the configuration corrects, the printed command helps", async () => {
  await using fixture = await Fixture.create();
  const { stack, service } = fixture;
  await stack.up();
  await stack.configure({ baseUrl: service.url.replace("/v2", "/wrong/v2") });
  await stack.up();
  await stack.configure({ baseUrl: service.url });

  const refresh = await stack.fail("refresh");

  expect(refresh).toMatch(/out of reach|Check that compute:baseUrl/);
  const [command = ""] = printedCommands(refresh, "pulumi refresh --run-program");
  await stack.type(`${command} --yes`);
  await stack.destroy();
});
