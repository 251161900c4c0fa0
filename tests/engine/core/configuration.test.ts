/** Tests that a wrong setting or token is one clear error with the next step (G9: errors help). */
import { expect, test } from "@jest/globals";
import { settingNames } from "../../../provider/config/settings";
import { printedCommands } from "../../support/printed";
import { Fixture } from "../support/fixture";
import { instances, required } from "../support/programs";
import { canaries } from "../support/secrets";
import { isOldest, plugin, tokens, type Stack } from "../support/stack";

test("a preview names all invalid settings at once, and does not print the token", async () => {
  const bad = { baseUrl: "http://api.example.com/v2", requireTokenKind: "both", deletePolicy: "x" };
  await using fixture = await Fixture.create({
    config: { ...bad, requstsPerMinute: "5" },
    token: `not-a-${canaries.token}`,
  });

  const output = await fixture.stack.fail("preview");

  for (const name of [...Object.keys(bad), "apiToken"])
    expect(output).toMatch(new RegExp(`\\b${name}\\b`));
  expect(output).toContain("did you mean compute:requestsPerMinute?");
  expect(fixture.control.counts()).toEqual({});
});

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

test("a missing token is asked for once, and in no way that keeps it in clear text", async () => {
  await using fixture = await Fixture.create({ token: null });

  const output = await fixture.stack.fail("preview");

  const [how = ""] = /compute:apiToken: .*/.exec(output) ?? [];
  expect(how).toContain("run `pulumi config set --secret compute:apiToken`");
  expect(how.match(/COMPUTE_API_TOKEN\b/g)).toHaveLength(1);
  expect(how.match(/COMPUTE_API_TOKEN_FILE/g)).toHaveLength(1);
  expect(output).not.toContain("config set compute:apiToken");
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

test("a revoked token is one error for all resources, with its code, request id and next step", async () => {
  await using fixture = await Fixture.create({
    program: instances({ a: {}, b: {}, c: {} }),
    service: { tokens: { [tokens.test]: { state: "revoked" } } },
  });

  const output = await fixture.stack.fail("up");

  expect(output).toMatch(/HTTP 401, code revoked_token, request_id req_\w+, see https:/);
  expect(output).toContain("pulumi config set --secret compute:apiToken");
  expect(new Set(output.match(/req_\w+/g)).size).toBe(1);
  expect(fixture.control.counts()).toEqual({ "GET /v2/account": 1 });
});

test("without the scope for a call, a create and a listing fail with a clear error, the account call warns, and other calls work", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;

  control.declareToken(tokens.test, { scopes: ["account", "list"] });
  const noCreate = await stack.fail("up");
  control.declareToken(tokens.test, { scopes: ["list", "create"] });
  const noAccount = await stack.up();
  control.declareToken(tokens.test, { scopes: ["account", "create"] });
  const noList = await stack.fail("refresh");

  expect(noCreate).toMatch(/POST \/v2\/instances: .*HTTP 403.*request_id req_/);
  expect(noCreate).toContain("grant it in the administration portal");
  expect(noAccount).toMatch(/warning: the token could not be checked.*HTTP 403/);
  expect(noList).toMatch(/GET \/v2\/instances: .*HTTP 403/);
  expect((await stack.instance()).id).toBe(fixture.ids()[0]);
});
