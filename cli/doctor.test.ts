/** Tests the checks of `doctor` that need no service. tests/lifecycle/doctor.test.ts tests the others. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { newestEngine } from "../metadata.json";
import { temporaryFolder } from "../provider/testing/temporaryFolder";
import { posixTest } from "../tools/support/unless";
import { typed } from "./testing/typed";

/** Runs `doctor` with a CLI that is this shell script, and returns the finding of a check. */
async function findingWith(script: string, check: string): Promise<unknown> {
  const folder = temporaryFolder();
  const cli = join(folder, "pulumi");
  writeFileSync(cli, `#!/bin/sh\n${script}\n`);
  chmodSync(cli, 0o700);
  const env = { PATH: `${folder}:/usr/bin:/bin`, PULUMI_HOME: folder };
  const { lines } = await typed(["doctor", "--json"], env);
  const { checks } = JSON.parse(lines.join("\n")) as { checks: { check: string }[] };
  return checks.find((finding) => finding.check === check);
}

posixTest.each([
  ["3.179.0", "FAILED", "older than 3.180.0"],
  ["3.180.0", "ok", /^Pulumi 3\.180\.0, with/],
  [newestEngine, "ok", `Pulumi ${newestEngine}, with`],
  ["3.999.0", "ok", `(newer than ${newestEngine}, with which it was tried)`],
])("for Pulumi %s the engine check of doctor is %s", async (version, result, words) => {
  const found =
    typeof words === "string" ? expect.stringContaining(words) : expect.stringMatching(words);
  expect(await findingWith(`echo v${version}`, "engine")).toMatchObject({ result, found });
});

posixTest.each([
  ["PULUMI_ACCESS_TOKEN must be set", /^Log in/],
  ["unable to open bucket file:///no: no such file", /^Log in.* or set PULUMI_BACKEND_URL/],
  ["passphrase must be set", /^Set PULUMI_CONFIG_PASSPHRASE/],
  ["no postgres://me:Canary@host/db", /^Run this command in the folder/],
])("if the CLI says %j, doctor says what to do, without a password (G8)", async (error, next) => {
  const finding = await findingWith(`echo 'error: ${error}' >&2; exit 1`, "stack");
  const found = `\`pulumi config\` failed: ${error.replace(":Canary", "")}`;
  expect(finding).toEqual({
    check: "stack",
    result: "FAILED",
    found,
    next: expect.stringMatching(next),
  });
});

test.each([
  ["--base-url", "https://user:CanaryValue@api.example.com/v2"],
  ["--cursor-parameter", "Canary Value"],
  ["--require-token-kind", "CanaryValue"],
  ["--poll-interval-seconds", "CanaryValue"],
  ["--stack", "CanaryValue"],
])(
  "a wrong value of %s: the message names the option, and does not repeat the value (G8)",
  async (option, value) => {
    const env = { PATH: "", PULUMI_HOME: temporaryFolder(), COMPUTE_API_TOKEN: "sk_test_1" };
    const { code, lines, warnings } = await typed(["doctor", option, value], env);
    const output = [...lines, ...warnings].join("\n");
    expect(output).toMatch(
      option === "--stack" ? /^FAILED +stack / : new RegExp(`^FAILED.* ${option} (must|is) `, "m"),
    );
    expect(output).not.toContain("Canary");
    expect(code).toBe(1);
  },
);
