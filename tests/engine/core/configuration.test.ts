/** Tests that a wrong setting or token is one clear error with the next step (G9: errors help). */
import { expect, test } from "@jest/globals";
import { printedCommands } from "../../support/printed";
import { Fixture } from "../support/fixture";
import { instances } from "../support/programs";
import { canaries } from "../support/secrets";
import { tokens } from "../support/stack";

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
  expect(fixture.service.counts()).toEqual({});
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
  expect(fixture.service.counts()).toEqual({ "GET /v2/account": 1 });
});

test("a call for which the token lacks the scope fails with a clear error, and other calls work", async () => {
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
