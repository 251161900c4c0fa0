/** Tests that a wrong setting or token is one clear error with the next step (G9: errors help). */
import { expect, test } from "@jest/globals";
import { instances, oneInstance } from "../support/programs";
import { canaries } from "../support/secrets";
import { tokens } from "../support/stack";
import { printedCommands } from "../../support/printed";
import { Fixture } from "../support/fixture";

const program = oneInstance();

test("a preview names all invalid settings at once, and does not print the token", async () => {
  const bad = {
    baseUrl: "http://api.example.com/v2",
    requireTokenKind: "both",
    requestsPerMinute: "0",
    requestTimeoutSeconds: "-1",
    pollIntervalSeconds: "soon",
    settlingSeconds: "x",
    deletePolicy: "maybe",
    destroyPath: "/instances",
    cursorParameter: "a b",
    validateCredentials: "perhaps",
  };
  await using fixture = await Fixture.create({
    ...{ program, config: { ...bad, requstsPerMinute: "5" } },
    token: `not-a-${canaries.token}`,
  });

  const { code, output } = await fixture.stack.preview();

  for (const setting of [...Object.keys(bad), "apiToken"])
    expect(output).toMatch(new RegExp(`\\b${setting}\\b`));
  expect(output).toContain("did you mean compute:requestsPerMinute?");
  expect(output).toContain("must start with sk_live_ or sk_test_");
  expect(code).not.toBe(0);
  expect(fixture.service.counts()).toEqual({});
});

test("a missing token is asked for once, and in no way that keeps it in clear text", async () => {
  await using fixture = await Fixture.create({ program, token: null });

  const { code, output } = await fixture.stack.preview();

  const [how = ""] = /compute:apiToken: .*/.exec(output) ?? [];
  expect(how).toContain("run `pulumi config set --secret compute:apiToken`");
  expect(how.match(/COMPUTE_API_TOKEN\b/g)).toHaveLength(1);
  expect(how.match(/COMPUTE_API_TOKEN_FILE/g)).toHaveLength(1);
  expect(output).not.toContain("config set compute:apiToken");
  expect(code).not.toBe(0);
});

test("if the state still has a wrong address that the configuration corrects, the printed command helps", async () => {
  await using fixture = await Fixture.create({ program });
  const { stack, service } = fixture;
  await stack.up();
  await stack.configure({ baseUrl: service.url.replace("/v2", "/wrong/v2") });
  await stack.up();
  await stack.configure({ baseUrl: service.url });

  const refresh = await stack.refresh();

  expect(refresh.output).toMatch(/out of reach|Check that compute:baseUrl/);
  expect(refresh.code).not.toBe(0);
  const [command = ""] = printedCommands(refresh.output, "pulumi refresh --run-program");
  expect((await stack.type(`${command} --yes`)).code).toBe(0);
  expect((await stack.destroy()).code).toBe(0);
});

test("a revoked token is one error for all resources, with its code, request id and next step", async () => {
  await using fixture = await Fixture.create({
    program: instances({ a: {}, b: {}, c: {} }),
    service: { tokens: { [tokens.test]: { state: "revoked" } } },
  });

  const { code, output } = await fixture.stack.up();

  expect(output).toMatch(/HTTP 401, code revoked_token, request_id req_\w+, see https:/);
  expect(output).toContain("pulumi config set --secret compute:apiToken");
  expect(code).not.toBe(0);
  expect(new Set(output.match(/req_\w+/g)).size).toBe(1);
  expect(fixture.service.counts()).toEqual({ "GET /v2/account": 1 });
});

test("a call for which the token lacks the scope fails with a clear error, and other calls work", async () => {
  const all = ["account", "list", "create"] as const;
  await using fixture = await Fixture.create({ program });
  const { control } = fixture.service;

  control.declareToken(tokens.test, { scopes: ["account", "list"] });
  const noCreate = await fixture.stack.up();
  control.declareToken(tokens.test, { scopes: ["list", "create"] });
  const noAccount = await fixture.stack.up();
  control.declareToken(tokens.test, { scopes: ["account", "create"] });
  const noList = await fixture.stack.refresh();
  control.declareToken(tokens.test, { scopes: all });

  expect(noCreate.output).toMatch(/POST \/v2\/instances: .*HTTP 403.*request_id req_/);
  expect(noCreate.output).toContain("grant it in the administration portal");
  expect(noCreate.code).not.toBe(0);
  expect(noAccount.output).toMatch(/warning: the token could not be checked.*HTTP 403/);
  expect(noAccount.code).toBe(0);
  expect(noList.output).toMatch(/GET \/v2\/instances: .*HTTP 403/);
  expect(noList.code).not.toBe(0);
  expect((await fixture.stack.instance()).id).toBe(fixture.ids()[0]);
});
