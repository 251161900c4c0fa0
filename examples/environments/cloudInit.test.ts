/** The template: all of it is filled in, and nothing breaks out of its place. */
import { expect, test } from "@jest/globals";
import { load } from "js-yaml";
import { cloudInit, fill } from "./cloudInit";

test("is YAML that holds the values as they are, whatever is in them", () => {
  const hostile = 'a"b: {{bastion}}\n- $& #c';
  const values = { packages: ["nginx"], agentEnvironment: hostile, bastion: "10.0.0.2" };
  expect(load(cloudInit(values))).toMatchObject({
    packages: ["nginx"],
    write_files: [{ path: "/etc/agent.env", content: hostile }],
    runcmd: [["ufw", "allow", "from", "10.0.0.2", "to", "any", "port", "22"]],
  });
});

test("a name that nothing is given for is an error, not an empty place", () => {
  expect(() => fill("a: {{b}}", {})).toThrow("{{b}}");
});
