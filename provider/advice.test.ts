/** Tests of the advice in messages and of the commands that it names. */
import { expect, test } from "@jest/globals";
import {
  explain,
  explicitProvider,
  importCommand,
  logicalName,
  stateDeleteCommand,
} from "./advice";
import { RequestError } from "./api/errors";
import { answered, failed } from "./testing/fakeService";
import { urnOf } from "./testing/scene";

test.each([
  [answered(401), "give a valid one"],
  [answered(403), "lacks the scope"],
  [answered(400), "Correct what the message names"],
  [answered(302), "Check that compute:baseUrl"],
  [answered(404, "GET"), "Check that compute:baseUrl"],
  [answered(404, "POST"), "Correct what the message names"],
  [failed("unreachable"), "Nothing was sent"],
  [
    Object.assign(failed("unreachable"), { mayHaveActed: true }),
    "unreachable. Check compute:baseUrl",
  ],
  [failed("unanswered"), "requestTimeoutSeconds"],
  [answered(408), "Run again"],
  [answered(429), "Run again"],
  [failed("unreadable"), "compute:baseUrl"],
])("the message of %s is followed by the next step", (error, step) => {
  expect(explain(error)).toContain(step);
});

test("the advice mentions the request_id only if there is one", () => {
  expect(explain(answered(500))).not.toContain("request_id");
  const service = { requestId: "req_1" };
  const error = new RequestError({
    kind: "answered",
    method: "GET",
    path: "/",
    cause: "no",
    status: 500,
    service,
  });
  expect(explain(error)).toContain("give its operator the request_id");
});

test("the name of a resource is all of the URN after its type", () => {
  expect(logicalName(urnOf("a::b"))).toBe("a::b");
});

test("commands are quoted for the shell", () => {
  expect(importCommand({ urn: urnOf("it's mine") }, "<id>")).toBe(
    `pulumi import compute:index:Instance 'it'\\''s mine' '<id>'`,
  );
  expect(stateDeleteCommand(urnOf("web"))).toBe(`pulumi state delete ${urnOf("web")}`);
  expect(importCommand({ urn: urnOf("a$(x)") }, "")).toContain(`'a$(x)' ''`);
});

test("the import command of a child of a component names its parent", () => {
  const child = urnOf("web").replace("compute:index", "my:mod:Group$compute:index");
  expect(importCommand({ urn: child }, "i-1")).toMatch(/ web i-1 --parent /);
  expect(importCommand({ urn: urnOf("web") }, "i-1")).not.toContain("--parent");
});

test("the import command of a resource with an explicit provider names that provider", () => {
  const provider = "urn:pulumi:dev::proj::pulumi:providers:compute::own";
  const command = "pulumi import compute:index:Instance web i-1";
  expect(importCommand({ urn: urnOf("web"), provider }, "i-1")).toBe(
    `${command} --provider own=${provider}`,
  );
  expect(explicitProvider(provider)).toBe(provider);
  expect(explicitProvider(undefined)).toBeUndefined();
});

test.each([
  "default",
  "default_0_1_0",
  "default_1_22_333_beta_2",
  "default_0_1_0_alpha_1699_abc-def",
  "default_0_1_0_github_/api.github.com/compute-instances/pulumi-compute",
  "default_https_/example.com/dl",
  "", // the provider of `pulumi do … --stateless`
])("%j is the engine's own name of a default provider", (name) => {
  expect(explicitProvider(`urn:pulumi:dev::proj::pulumi:providers:compute::${name}`)).toBe(
    undefined,
  );
});

test.each([
  "default-eu",
  "default_eu",
  "default_0_1",
  "defaults",
  "default_1_0_0x",
  "defaultProvider",
  "default/eu",
])("a provider that the program named %j is an explicit one", (name) => {
  const urn = `urn:pulumi:dev::proj::pulumi:providers:compute::${name}`;
  expect(explicitProvider(urn)).toBe(urn);
});

test("a provider with a parent is not a default provider", () => {
  const urn = "urn:pulumi:dev::proj::my:mod:Group$pulumi:providers:compute::default";
  expect(explicitProvider(urn)).toBe(urn);
});
