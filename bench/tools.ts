/**
 * Builds or finds what the benchmarks run: our plugin, the Pulumi CLI, and the peers (other providers to compare with).
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable as pluginName } from "../provider/executable";
import { ensureBuilt } from "../tools/build";
import { ensureGoTool } from "../tools/go/tools";
import { ensureArchive, ensureExecutable } from "../tools/dist";
import { onPath } from "../tools/support/onPath";
import { root, toolsBin } from "../tools/support/paths";
import { ensureToolchain, type Toolchain } from "../tools/toolchain";

/** The executable of a plugin, and its folder, which a project names. */
interface PluginFiles {
  folder: string;
  executable: string;
}

/** All programs that the benchmarks run. */
export interface Tools extends Disposable {
  toolchain: Toolchain;
  /** Our plugin, which runs on the Node of this checkout. */
  ours: PluginFiles;
  /** Our plugin as a single executable with its Node inside, and the archive from which the executable is installed. */
  single: { executable: string; archive: string };
  /** A minimal provider on pulumi-go-provider. */
  go: PluginFiles;
  /** A provider that answers at once, on the server of `@pulumi/pulumi/provider`. */
  stock: PluginFiles;
  /** Terraform with the generic REST provider. Undefined if there is no Terraform on PATH. */
  terraform: { command: string; providers: string } | undefined;
  /** A temporary folder that is first on the engine's PATH. It has the program that runs dynamic providers. */
  folder: string;
}

/** Builds what is not up to date, and finds the rest on PATH. */
export async function gatherTools(): Promise<Tools> {
  const toolchain = await ensureToolchain();
  const executable = await ensureBuilt();
  const single = { executable: await ensureExecutable(), archive: await ensureArchive() };
  const goPeer = await ensureGoTool("peer");
  const terraform = onPath("terraform");
  if (terraform !== undefined) await ensureGoTool("restapi");

  const folder = mkdtempSync(join(tmpdir(), "compute-bench-tools-"));
  const go = pluginFiles(join(folder, "go"));
  symlinkSync(goPeer, go.executable);
  const stock = pluginFiles(join(folder, "stock"));
  writeLauncher(stock.executable, join(root, "bench", "peers", "stock", "index.cjs"));
  // An installed Pulumi has this program in the folder of its language host. A Pulumi built from modules does not.
  const dynamicProvider = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js");
  writeLauncher(join(folder, "pulumi-resource-pulumi-nodejs"), dynamicProvider);
  return {
    toolchain,
    ours: { folder: dirname(executable), executable },
    single,
    go,
    stock,
    terraform: terraform === undefined ? undefined : { command: terraform, providers: toolsBin },
    folder,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function pluginFiles(folder: string): PluginFiles {
  mkdirSync(folder);
  return { folder, executable: join(folder, pluginName) };
}

function writeLauncher(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
}
