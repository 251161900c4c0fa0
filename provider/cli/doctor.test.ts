/** Tests the checks of `doctor` that need no service. tests/lifecycle/doctor.test.ts tests the others. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../testing/temporaryFolder";
import type { Finding } from "./terminal";
import { typed } from "./testing/typed";

test.each([
  ["3.179.0", "FAILED"],
  ["3.172.0", "FAILED"],
  ["3.180.0", "ok"],
  ["3.258.0", "ok"],
])("for Pulumi %s the engine check of doctor is %s", async (version, result) => {
  const folder = temporaryFolder();
  const cli = join(folder, "pulumi");
  writeFileSync(cli, `#!/bin/sh\necho v${version}\n`);
  chmodSync(cli, 0o700);
  const env = { PATH: `${folder}:/usr/bin:/bin`, PULUMI_HOME: folder };
  const { lines } = await typed(["doctor", "--json"], env);
  const { checks } = JSON.parse(lines.join("\n")) as { checks: Finding[] };
  expect(checks.find(({ check }) => check === "engine")).toMatchObject({ result });
});

test.each([
  ["--base-url", "https://user:CanaryValue@api.example.com/v2"],
  ["--cursor-parameter", "Canary Value"],
  ["--delete-policy", "CanaryValue"],
  ["--destroy-path", "CanaryValue"],
  ["--poll-interval-seconds", "CanaryValue"],
  ["--stack", "CanaryValue"],
])(
  "a wrong value of %s: the message names the option, and does not repeat the value (G8)",
  async (option, value) => {
    const env = { PATH: "", PULUMI_HOME: temporaryFolder(), COMPUTE_API_TOKEN: "sk_test_1" };
    const { code, lines, warnings } = await typed(["doctor", option, value], env);
    const output = [...lines, ...warnings].join("\n");
    expect(output).toMatch(
      option === "--stack" ? /^FAILED +stack / : new RegExp(`^FAILED.* ${option}: `, "m"),
    );
    expect(output).not.toContain("Canary");
    expect(code).toBe(1);
  },
);
