/**
 * What the engine tests run: the real Pulumi CLI, its language hosts, and the plugin as built. With
 * COMPUTE_TEST_ENGINE=oldest the CLI is the oldest that the provider works with.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureSdkBuilt } from "../../tools/build";
import type { Language } from "../../tools/go/tools";
import { ensureToolchain } from "../../tools/toolchain";
import { deriveKey, encryptionSalt } from "./support/engineLogs";
import { prepareStack } from "./support/preparedStack";

/** Those of the programs of the core; the other tests want all. */
const coreLanguages: readonly Language[] = ["yaml", "nodejs"];

interface Project {
  displayName?: { name: string };
}

export default async function globalSetup(_: unknown, { displayName }: Project): Promise<void> {
  const isCore = displayName?.name === "core";
  const engine = process.env["COMPUTE_TEST_ENGINE"] ?? "";
  if (!["", "oldest"].includes(engine))
    throw new Error(`COMPUTE_TEST_ENGINE: no engine "${engine}"`);
  const toolchain = await ensureToolchain({
    oldest: engine === "oldest",
    ...(isCore ? { languages: coreLanguages } : {}),
  });
  await ensureBuilt();
  if (!isCore) await ensureSdkBuilt();
  // Workers get the environment as it is after this.
  process.env["COMPUTE_TEST_PULUMI"] = toolchain.pulumi;
  process.env["COMPUTE_TEST_PATH"] = toolchain.env()["PATH"];
  prepareStack(toolchain.pulumi, process.env["COMPUTE_TEST_PATH"]);
  // Each test file would take its time for it.
  process.env["COMPUTE_TEST_STACK_KEY"] ??= deriveKey(encryptionSalt).toString("hex");
  // Not below the repository, in whose node_modules a package would find what it does not ask for.
  process.env["COMPUTE_TEST_INSTALLED"] ??= mkdtempSync(join(tmpdir(), "compute-installed-"));
}
