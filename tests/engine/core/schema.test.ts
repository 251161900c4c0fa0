/** Checks the schema with the engine. */
import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../../tools/support/paths";
import { plugin } from "../support/stack";

const env = {
  PATH: process.env["COMPUTE_TEST_PATH"],
  HOME: "/nonexistent",
  PULUMI_SKIP_UPDATE_CHECK: "true",
};
const pulumi = (...args: string[]) =>
  execFileSync(process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi", args, { env, encoding: "utf8" });

test("`pulumi schema check` finds no problem", () => {
  expect(pulumi("schema", "check", join(root, "schema.json"))).toBe("");
});

test("the plugin returns a schema with the resource and the functions of the provider", () => {
  const schema = pulumi("package", "get-schema", plugin);
  const { resources, functions } = JSON.parse(schema) as Record<string, object>;
  expect(Object.keys(resources ?? {})).toEqual(["compute:index:Instance"]);
  expect(Object.keys(functions ?? {}).sort()).toEqual([
    "compute:index:getAccount",
    "compute:index:getInstance",
    "compute:index:getInstances",
  ]);
});
