/** Tests examples/automation: runs its own tests, and brings review environments up and down with the real engine. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { captured } from "../../tools/support/command";
import { root } from "../../tools/support/paths";
import { tokens, type Stack } from "./support/stack";
import { Fixture } from "./support/fixture";

const program = join(root, "examples", "automation");

/** Runs the example's command, as a person types it. */
async function reviews(stack: Stack, line: string) {
  const { code, output } = await stack.type(`node main.ts ${line}`);
  const json = output.split("\n").findLast((it) => /^[[{]/.test(it));
  return { code, output, json: JSON.parse(json ?? "null") as unknown };
}

test("the tests of the example pass", async () => {
  await captured("npm", ["test"], { cwd: program });
});

test("a review environment comes up, is listed, and is destroyed after its expiry", async () => {
  await using fixture = await Fixture.create({ program });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);

  const up = await reviews(stack, "up 42 --hours 0.000001 --servers 2");
  expect(up.output).toContain("create web-1 …");
  expect(up.output).toContain("create web-2 done");
  const records = service.control.instances().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(up.json).toEqual({
    names: records.map(({ name }) => name),
    ipv4: records.map(({ ipv4_public }) => ipv4_public),
  });
  await reviews(stack, "up 43");
  expect((await reviews(stack, "list")).json).toEqual([
    { name: "42", end: expect.stringMatching(/^\d{4}-.*Z$/) },
    { name: "43", end: expect.stringMatching(/^\d{4}-.*Z$/) },
  ]);

  // On another machine the settings file of the stack is not there.
  for (const name of ["42", "43"]) {
    rmSync(join(stack.project, `Pulumi.review-${name}.yaml`), { force: true });
  }
  const reap = await reviews(stack, "reap");
  expect(reap.json).toEqual({ destroyed: ["42"], unclear: [], failed: {} });
  expect(reap.code).toBe(0);
  // The sandbox is ephemeral: a destroy with a test token leaves it to the service, and says so.
  expect(reap.output).toContain("deletePolicy");
  expect((await reviews(stack, "list")).json).toEqual([expect.objectContaining({ name: "43" })]);
});

test("reap destroys an environment whose up failed, and only reports a review stack without an expiry", async () => {
  await using fixture = await Fixture.create({ program, token: tokens.live });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);

  const refused = await reviews(stack, "up 42 --hours 0.000001");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain("requireTokenKind");
  expect(fixture.posts()).toBe(0);
  await stack.succeed("stack", "init", "review-by-hand");

  const reap = await reviews(stack, "reap");
  expect(reap.json).toEqual({ destroyed: ["42"], unclear: ["by-hand"], failed: {} });
  expect(reap.code).toBe(1);
});
