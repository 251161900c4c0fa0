/** What the engine tests run: the real Pulumi CLI, its language hosts, and the plugin as built. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureSdkBuilt } from "../../tools/build";
import { ensureToolchain } from "../../tools/toolchain";

export default async function globalSetup(): Promise<void> {
  const toolchain = await ensureToolchain();
  await ensureBuilt();
  await ensureSdkBuilt();
  // Workers get the environment as it is after this.
  process.env["COMPUTE_TEST_PULUMI"] = toolchain.pulumi;
  process.env["COMPUTE_TEST_PATH"] = toolchain.env()["PATH"];
  // Not below the repository, in whose node_modules a package would find what it does not ask for.
  process.env["COMPUTE_TEST_INSTALLED"] = mkdtempSync(join(tmpdir(), "compute-installed-"));
}
