/** The rules, each mandatory: a violation stops the update. */
import {
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  validateResourceOfType,
  validateStackResourcesOfType,
} from "@pulumi/policy";
import * as compute from "pulumi-compute-instances";
import { limitsOf, stackOf } from "./environments";

export const testTokenOnly: ResourceValidationPolicy = {
  name: "test-token-only",
  description: "Only stacks that are named for it may use a live token.",
  enforcementLevel: "mandatory",
  // Which token it is shows too late, so the provider has to be told to refuse a live one.
  validateResource: validateResourceOfType(compute.Instance, (_, { urn, provider }, report) => {
    const stack = stackOf(urn);
    if (limitsOf(stack).live || provider?.props["requireTokenKind"] === "test") return;
    report(
      `The stack ${stack} may not use a live token, and its provider does not refuse one. ` +
        "Run `pulumi config set compute:requireTokenKind test`, or give the program's own provider " +
        'requireTokenKind: "test".',
    );
  }),
};

export const allowedFlavors: ResourceValidationPolicy = {
  name: "allowed-flavors",
  description: "Each environment has its flavors.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(compute.Instance, (inputs, { urn }, report) => {
    const stack = stackOf(urn);
    const { flavors } = limitsOf(stack);
    for (const flavor of [inputs.flavorId, ...(inputs.fallbackFlavorIds ?? [])]) {
      if (flavors.includes(flavor)) continue;
      report(`The flavor ${flavor} is not for the stack ${stack}. Take ${flavors.join(" or ")}.`);
    }
  }),
};

export const protectedInstances: ResourceValidationPolicy = {
  name: "protected-instances",
  description: "Instances of prod are protected.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(compute.Instance, (_, { urn, opts }, report) => {
    const stack = stackOf(urn);
    if (!limitsOf(stack).protect || opts.protect) return;
    report(`Instances of the stack ${stack} need the resource option protect: true.`);
  }),
};

export const instanceCap: StackValidationPolicy = {
  name: "instance-cap",
  description: "A stack has no more instances than its environment allows.",
  enforcementLevel: "mandatory",
  validateStack: validateStackResourcesOfType(compute.Instance, (_, { resources }, report) => {
    const instances = resources.filter((resource) => resource.isType(compute.Instance));
    const stack = stackOf(instances[0]?.urn ?? "");
    const most = limitsOf(stack).instances;
    if (instances.length <= most) return;
    report(`The stack ${stack} has ${instances.length} instances; ${most} are allowed.`);
  }),
};

export const policies = [testTokenOnly, allowedFlavors, protectedInstances, instanceCap];
