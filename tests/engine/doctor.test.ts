/**
 * Tests `doctor` with the built executable and the real `pulumi`.
 * tests/lifecycle/doctor.test.ts tests each check.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { plugin, tokens } from "./support/stack";
import { isWell } from "./support/typing";

const doctor = `'${plugin}' doctor`;

test("doctor checks the configuration and the engine of a stack, and ends with 0 if all is well, else with 1", async () => {
  await using fixture = await Fixture.create({ token: null });
  const { stack, service } = fixture;
  expect(await stack.typeFailing(doctor)).toMatch(
    /^FAILED +token +compute:apiToken is not set in COMPUTE_API_TOKEN/m,
  );

  // The token comes through a pipe, because the tests search the typed command line for secrets, too.
  stack.setEnv("TOKEN_TO_SET", tokens.test);
  await stack.type('printf %s "$TOKEN_TO_SET" | pulumi config set --secret compute:apiToken');
  const well = await stack.type(`${doctor} --stack dev`);
  for (const line of [
    /^ok +stack +organization\/proj\/dev: 4 settings of compute$/m,
    /^ok +token +test: .*\(compute:apiToken\)$/m,
    /^ok +engine +Pulumi \d+\.\d+\.\d+, with compute \d.* on Node v\d/m,
    /^ok +state +0 instances of organization\/proj\/dev, none made with other settings$/m,
    isWell,
  ])
    expect(well).toMatch(line);
  expect(well).not.toContain("\u001b");
  expect(Object.keys(service.control.counts()).sort()).toEqual([
    "GET /v2/account",
    "GET /v2/instances",
  ]);
  expect(await stack.type(doctor)).toBe(well);

  for (const [passphrase, problem] of [
    [undefined, "passphrase must be set"],
    ["wrong", "incorrect passphrase"],
  ] as const) {
    stack.setEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
    expect(await stack.typeFailing(doctor)).toMatch(
      new RegExp(`^FAILED +stack .*${problem}[^]*→ Set PULUMI_CONFIG_PASSPHRASE `, "m"),
    );
  }
  // Outside the folder of the project, the settings come from the environment.
  expect(await stack.typeFailing(`cd / && ${doctor}`)).toMatch(
    /^ok +stack +none: this folder has no Pulumi project/m,
  );
  for (const [typed, problem] of [
    [`${doctor} --stack nowhere`, "`pulumi config` failed"],
    [`PULUMI_STACK=nowhere ${doctor}`, "this project has no stack of the name in PULUMI_STACK"],
  ] as const)
    expect(await stack.typeFailing(typed)).toMatch(new RegExp(`^FAILED +stack +${problem}`, "m"));
});

test("while the service hangs, Ctrl-C ends doctor with exit code 130", async () => {
  await using fixture = await Fixture.create();
  const hanging = fixture.control.fault({ kind: "hang", times: "always" });
  using child = spawn(plugin, ["doctor", "--base-url", fixture.service.url], {
    env: { PATH: process.env["PATH"], COMPUTE_API_TOKEN: tokens.test },
    stdio: "ignore",
  });
  const ended = once(child, "close");
  await hanging.firstHit;
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
});
