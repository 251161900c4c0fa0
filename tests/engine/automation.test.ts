/** Tests examples/automation: runs its own tests, and brings review environments up and down with the real engine. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { installPlugin } from "../../tools/build";
import { captured } from "../../tools/support/command";
import { root } from "../../tools/support/paths";
import { Fixture, type FixtureOptions } from "./support/fixture";
import { tokens } from "./support/stack";

const program = join(root, "examples", "automation");

/** A fixture, and a function that types a command of the example and returns the JSON in its output. */
async function reviews(options: FixtureOptions = {}) {
  const fixture = await Fixture.create({ program, namesPlugin: false, ...options });
  const { stack } = fixture;
  installPlugin(stack.home);
  stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  const jsonIn = (output: string) =>
    JSON.parse(output.split("\n").findLast((line) => /^[[{]/.test(line)) ?? "null") as unknown;
  const run = async (line: string) => {
    const output = await stack.type(`node main.ts ${line}`);
    return { output, json: jsonIn(output) };
  };
  return Object.assign(fixture, { run, jsonIn });
}

test("the tests of the example pass", async () => {
  await captured("npm", ["test"], { cwd: program });
});

test("a review environment comes up, is listed, and is destroyed after its expiry", async () => {
  await using fixture = await reviews();
  const { stack, control, run } = fixture;

  const up = await run("up 42 --hours 0.000001 --servers 2");
  expect(up.output).toContain("create web-1 …");
  expect(up.output).toContain("create web-2 done");
  const records = control.instances().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(up.json).toEqual({
    names: records.map(({ name }) => name),
    ipv4: records.map(({ ipv4_public }) => ipv4_public),
  });
  await run("up 43");
  expect((await run("list")).json).toEqual([
    { name: "42", end: expect.stringMatching(/^\d{4}-.*Z$/) },
    { name: "43", end: expect.stringMatching(/^\d{4}-.*Z$/) },
  ]);

  // On another machine the settings file of the stack is not there.
  for (const name of ["42", "43"]) rmSync(join(stack.project, `Pulumi.review-${name}.yaml`));
  const reap = await run("reap");
  expect(reap.json).toEqual({ destroyed: ["42"], unclear: [], failed: {} });
  // The sandbox is ephemeral: a destroy with a test token leaves it to the service, and says so.
  expect(reap.output).toContain(
    "2 instances are not destroyed (in the sandbox until its lifetime is over)",
  );
  expect((await run("list")).json).toEqual([expect.objectContaining({ name: "43" })]);
});

test("reap destroys an environment whose up failed, and only reports a review stack without an expiry", async () => {
  await using fixture = await reviews({ token: tokens.live });
  const { stack, jsonIn } = fixture;

  const refused = await stack.typeFailing("node main.ts up 42 --hours 0.000001");
  expect(refused).toContain("requireTokenKind");
  expect(fixture.posts()).toBe(0);
  await stack.succeed("stack", "init", "review-by-hand");

  const reap = await stack.typeFailing("node main.ts reap");
  expect(jsonIn(reap)).toEqual({ destroyed: ["42"], unclear: ["by-hand"], failed: {} });
});
