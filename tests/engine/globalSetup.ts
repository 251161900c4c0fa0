/**
 * Prepares the engine tests once: the real Pulumi CLI, its language hosts, the built plugin and a stack to copy. With
 * COMPUTE_TEST_ENGINE=built the CLI is the one that tools/go/engine pins, and with `oldest` the oldest that the provider works with.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureSdkBuilt } from "../../tools/build";
import type { Language } from "../../tools/go/tools";
import { ensureToolchain } from "../../tools/toolchain";
import { deriveKey, encryptionSalt } from "./support/engineLogs";
import { prepareStack } from "./support/preparedStack";

/** Prepares what all engine tests need: the language hosts of all languages, and the SDK of Node.js. */
export default async function globalSetup(): Promise<void> {
  await prepareEngine({});
  await ensureSdkBuilt();
}

/** Prepares the CLI, the plugin and the stack, with the hosts of these languages (by default, of all). */
export async function prepareEngine(hosts: { languages?: readonly Language[] }): Promise<void> {
  const engine = process.env["COMPUTE_TEST_ENGINE"] ?? "";
  const built = { built: "engine", oldest: "engine-oldest" } as const;
  if (engine !== "" && !(engine in built))
    throw new Error(`COMPUTE_TEST_ENGINE: no engine "${engine}"`);
  const toolchain = await ensureToolchain({
    ...(engine !== "" && { built: built[engine as keyof typeof built] }),
    ...hosts,
  });
  await ensureBuilt();
  // The workers inherit the environment from here. It is set already if another project of this run has set it.
  if (process.env["COMPUTE_TEST_PULUMI"] !== undefined) return;
  // The folders are outside the repository, because a package must not find modules that it does not declare.
  const folder = (name: string) => mkdtempSync(join(tmpdir(), `compute-${name}-`));
  const stack = folder("prepared");
  const { PATH } = toolchain.env();
  prepareStack(stack, toolchain.pulumi, PATH);
  Object.assign(process.env, {
    COMPUTE_TEST_PULUMI: toolchain.pulumi,
    COMPUTE_TEST_VERSION: toolchain.version,
    COMPUTE_TEST_PATH: PATH,
    COMPUTE_TEST_STACK: stack,
    // Deriving the key takes half a second.
    COMPUTE_TEST_STACK_KEY: deriveKey(encryptionSalt).toString("hex"),
    COMPUTE_TEST_INSTALLED: folder("installed"),
  });
}
