/** Tests of what a URN says. */
import { expect, test } from "@jest/globals";
import { explicitProvider, logicalName } from "./urn";
import { urnOf } from "../testing/scene";

test("the name of a resource is all of the URN after its type", () => {
  expect(logicalName(urnOf("a::b"))).toBe("a::b");
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
  const urn = `urn:pulumi:dev::proj::pulumi:providers:compute::${name}`;
  expect(explicitProvider(urn)).toBeUndefined();
});

test.each([
  "pulumi:providers:compute::default-eu",
  "pulumi:providers:compute::default_eu",
  "pulumi:providers:compute::default_0_1",
  "pulumi:providers:compute::defaults",
  "pulumi:providers:compute::default_1_0_0x",
  "pulumi:providers:compute::defaultProvider",
  "pulumi:providers:compute::default/eu",
  "my:mod:Group$pulumi:providers:compute::default",
])("a provider that the program named or gave a parent (%s) is an explicit one", (typeAndName) => {
  const urn = `urn:pulumi:dev::proj::${typeAndName}`;
  expect(explicitProvider(urn)).toBe(urn);
});
