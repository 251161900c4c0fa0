/** Each rule, on resources as the engine would show them. */
import { expect, test } from "@jest/globals";
import type {
  PolicyResource,
  ResourceValidationArgs,
  ResourceValidationPolicy,
} from "@pulumi/policy";
import { allowedFlavors, instanceCap, protectedInstances, testTokenOnly } from "./policies";

const instance = "compute:index:Instance";

interface Shown {
  stack: string;
  type?: string;
  flavorId?: string;
  fallbackFlavorIds?: string[];
  protect?: boolean;
  /** Of the provider. */
  requireTokenKind?: string;
}

function shown({ stack, type = instance, flavorId = "standard-2", ...rest }: Shown) {
  const isType = (class_: object) => (class_ as { __pulumiType?: string }).__pulumiType === type;
  const props = { flavorId, fallbackFlavorIds: rest.fallbackFlavorIds };
  return {
    type,
    urn: `urn:pulumi:${stack}::project::${type}::web`,
    name: "web",
    props,
    opts: { protect: rest.protect ?? false },
    provider: { props: { requireTokenKind: rest.requireTokenKind } },
    isType,
    notApplicable: () => undefined,
    asType: (class_: object) => (isType(class_) ? props : undefined),
  };
}

function violations({ validateResource }: ResourceValidationPolicy, resource: Shown): string[] {
  const found: string[] = [];
  for (const validate of [validateResource ?? []].flat()) {
    const args = shown(resource) as unknown as ResourceValidationArgs;
    void validate(args, (message) => void found.push(message));
  }
  return found;
}

test.each([
  ["prod", undefined, 0],
  ["staging", "live", 0],
  ["dev", "test", 0],
  ["review-42", "test", 0],
  ["dev", undefined, 1],
  ["review-42", "live", 1],
  ["prod-2", undefined, 1],
])("in %s a provider that requires %s makes %i violations", (stack, requireTokenKind, count) => {
  const required = requireTokenKind === undefined ? {} : { requireTokenKind };
  expect(violations(testTokenOnly, { stack, ...required })).toHaveLength(count);
});

test("a flavor is for some environments and not for others, and the message names those that are", () => {
  expect(violations(allowedFlavors, { stack: "prod", flavorId: "standard-8" })).toEqual([]);
  expect(violations(allowedFlavors, { stack: "dev", flavorId: "standard-8" })).toEqual([
    "The flavor standard-8 is not for the stack dev. Take standard-2 or standard-4.",
  ]);
  const fallbackFlavorIds = ["standard-4", "standard-8"];
  expect(violations(allowedFlavors, { stack: "dev", fallbackFlavorIds })).toHaveLength(1);
});

test("instances of prod are protected; those of other environments need not be", () => {
  expect(violations(protectedInstances, { stack: "prod", protect: true })).toEqual([]);
  expect(violations(protectedInstances, { stack: "prod" })).toHaveLength(1);
  expect(violations(protectedInstances, { stack: "dev" })).toEqual([]);
});

test("other resources are nobody's business", () => {
  const bucket = { stack: "prod", type: "other:index:Bucket", flavorId: "huge" };
  for (const rule of [testTokenOnly, allowedFlavors, protectedInstances]) {
    expect(violations(rule, bucket)).toEqual([]);
  }
});

test.each([
  [3, 0],
  [4, 1],
])("a review stack of %i instances makes %i violations", (count, expected) => {
  const found: string[] = [];
  const others = [{ stack: "review-42", type: "other:index:Bucket" }];
  const ours = Array.from({ length: count }, () => ({ stack: "review-42" }));
  const resources = [...others, ...ours].map(shown) as unknown as PolicyResource[];
  const args = { resources } as Parameters<typeof instanceCap.validateStack>[0];
  void instanceCap.validateStack(args, (message) => void found.push(message));
  expect(found).toHaveLength(expected);
});
