/**
 * Prepares the engine tests once: the real Pulumi CLI, its language hosts, the built plugin and a stack to copy. With
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

/** The languages of the programs in the project `core`. The other tests need all languages. */
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
  // The workers inherit the environment from here.
  process.env["COMPUTE_TEST_PULUMI"] = toolchain.pulumi;
  process.env["COMPUTE_TEST_PATH"] = toolchain.env()["PATH"];
  prepareStack(toolchain.pulumi, process.env["COMPUTE_TEST_PATH"]);
  // Deriving the key takes half a second, so it is done once and not in each test file.
  process.env["COMPUTE_TEST_STACK_KEY"] ??= deriveKey(encryptionSalt).toString("hex");
  // The folder is outside the repository, because a package must not find modules that it does not declare.
  process.env["COMPUTE_TEST_INSTALLED"] ??= mkdtempSync(join(tmpdir(), "compute-installed-"));
}
