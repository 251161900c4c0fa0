/** Tests examples/policy: runs its own tests, and the policy pack in the real engine. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { captured } from "../../tools/support/command";
import { root } from "../../tools/support/paths";
import { Fixture } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";

const pack = join(root, "examples", "policy");

test("the tests of the example pass", async () => {
  await captured("npm", ["test"], { cwd: pack });
});

test("the engine refuses a program that breaks a rule before anything is created, and accepts one that keeps them all", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ flavorId: "standard-8" }),
    // The tests of the example check its types.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
  });
  const { stack } = fixture;
  const guarded = ["--policy-pack", pack];

  const both = await stack.fail("up", ...guarded);
  expect(both).toContain("compute:requireTokenKind test");
  expect(both).toContain("The flavor standard-8 is not for the stack dev.");
  expect(fixture.posts()).toBe(0);

  await stack.configure({ requireTokenKind: "test" });
  const names = Array.from({ length: 11 }, (_, index) => `web-${index}`);
  stack.program(instances(Object.fromEntries(names.map((name) => [name, {}]))));
  expect(await stack.fail("preview", ...guarded)).toContain(
    "The stack dev has 11 instances; 10 are allowed.",
  );

  stack.program(oneInstance());
  expect(await stack.up(...guarded)).not.toMatch(/violation/i);
  expect(fixture.posts()).toBe(1);
});
