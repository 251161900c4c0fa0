/** The schema, as the engine itself judges it. */
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

test("`pulumi schema check` has nothing to say", () => {
  expect(pulumi("schema", "check", join(root, "schema.json"))).toBe("");
});

test("the plugin gives the engine the committed schema", () => {
  const given = pulumi("package", "get-schema", plugin);
  const { resources, functions } = JSON.parse(given) as Record<string, object>;
  expect(Object.keys(resources ?? {})).toEqual(["compute:index:Instance"]);
  expect(Object.keys(functions ?? {}).sort()).toEqual([
    "compute:index:getAccount",
    "compute:index:getInstance",
    "compute:index:getInstances",
  ]);
});
