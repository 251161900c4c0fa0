/** Tests what `settle` says of servers that run on purpose, and how much it reads where nothing is in doubt. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import { live, settle } from "./support/settling";
import type { Stack } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

test("the command that settle names for an interrupted replacement lets the old server run, although its explicit provider has a destroy call", async () => {
  await using fixture = await Fixture.create({ ...live, service: { destroyPath } });
  const { stack, service } = fixture;
  const own = {
    baseUrl: service.url,
    requestTimeoutSeconds: 1,
    settlingSeconds: 1,
    pollIntervalSeconds: 0.2,
    destroyPath,
  };
  const program = (flavorId: string) =>
    instances(
      { web: { inputs: { flavorId }, options: { provider: "${own}" } } },
      { resources: { own: { type: "pulumi:providers:compute", properties: own } } },
    );
  stack.program(program("standard-2"));
  await stack.up();
  stack.program(program("standard-4"));
  await fixture.endUpInPost("both killed");
  await stack.succeed("cancel", "--yes");
  const [old = "", made = ""] = fixture.ids();

  const { output } = await settle(stack, "--yes");
  expect(output).toContain(`drops ${old} from the state, which goes on running`);
  await stack.type(printed(output, "COMPUTE_"));

  await expectAgreement(fixture, [made]);
  expect(fixture.ids()).toEqual([old, made]);
});

test("the server of a removed resource that was let run is named, and keeps neither settle nor up from ending well", async () => {
  await using fixture = await Fixture.create({ ...live, program: instances({ a: {}, b: {} }) });
  const { stack } = fixture;
  await stack.up();
  const removed = fixture.control.instances().find(({ name }) => name.startsWith("b-"));
  stack.program(instances({ a: {} }));
  await stack.type("COMPUTE_DELETE_POLICY=retain pulumi up");

  const { code, output } = await settle(stack, "--yes");

  expect(output).toContain(removed?.id);
  expect(code).toBe(0);
  await stack.expectNothingToDo();
  expect(fixture.ids()).toHaveLength(2);
});

/** Puts a `pulumi` first on PATH that notes each call. Returns a function that returns the calls since the last time. */
function notingPulumi(stack: Stack): () => string[] {
  const folder = join(stack.folder, "noting");
  const notes = join(folder, "calls");
  mkdirSync(folder);
  const script = `#!/bin/sh\necho "$*" >> '${notes}'\nexec '${process.env["COMPUTE_TEST_PULUMI"]}' "$@"\n`;
  writeFileSync(join(folder, "pulumi"), script, { mode: 0o755 });
  stack.setEnv("PATH", folder + delimiter + stack.env["PATH"]);
  return () => {
    const calls = readFileSync(notes, "utf8").trim().split("\n");
    rmSync(notes);
    return calls;
  };
}

test("where nothing is in doubt, settle reads the state of its own stack only, however many the backend has", async () => {
  await using fixture = await Fixture.create({ ...live, program: instances({ a: {}, b: {} }) });
  const { stack } = fixture;
  await stack.up();
  const calls = notingPulumi(stack);
  const settled = async () => {
    expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
    return calls();
  };

  const alone = await settled();
  for (const name of ["s1", "s2", "s3"]) await stack.succeed("stack", "init", name, "--no-select");

  expect(await settled()).toEqual(alone);
});
