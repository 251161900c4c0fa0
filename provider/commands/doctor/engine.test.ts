import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../testing/temporaryFolder";
import type { Finding } from "../finding";
import { examineMachine } from "./machine";

/** What the doctor finds of a Pulumi CLI of this version. */
async function engineOf(version: string): Promise<Finding | undefined> {
  const folder = temporaryFolder();
  const cli = join(folder, "pulumi");
  writeFileSync(cli, `#!/bin/sh\necho v${version}\n`);
  chmodSync(cli, 0o700);
  const env = { PATH: `${folder}:/usr/bin:/bin`, PULUMI_HOME: folder };
  for await (const finding of examineMachine(env)) {
    if (finding.check === "engine") return finding;
  }
  return undefined;
}

test.each([
  ["3.179.0", "FAILED"],
  ["3.172.0", "FAILED"],
  ["3.180.0", "ok"],
  ["3.258.0", "ok"],
])("of Pulumi %s the doctor says %s", async (version, result) => {
  expect(await engineOf(version)).toMatchObject({ result });
});
