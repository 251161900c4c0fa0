/** What the benchmarks run: our plugin, the Pulumi CLI, the peers. */
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

/** A plugin: the folder that a project names, and the executable in it. */
interface PluginFiles {
  folder: string;
  executable: string;
}

export interface Tools extends Disposable {
  toolchain: Toolchain;
  ours: PluginFiles;
  /** Ours as one executable with its Node inside, and the archive it is installed from. */
  single: { executable: string; archive: string };
  /** A minimal provider on pulumi-go-provider. */
  go: PluginFiles;
  /** A provider that answers at once, on the server of `@pulumi/pulumi/provider`. */
  stock: PluginFiles;
  /** Terraform with the generic REST provider; undefined where there is no Terraform. */
  terraform: { command: string; providers: string } | undefined;
  /** A temporary folder, first on the engine's PATH: it has the program that runs dynamic providers. */
  folder: string;
}

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
  launcher(stock.executable, join(root, "bench", "peers", "stock", "index.cjs"));
  // An installed Pulumi has this program beside its language host; a Pulumi built from modules has not.
  const dynamicProvider = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js");
  launcher(join(folder, "pulumi-resource-pulumi-nodejs"), dynamicProvider);
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

function launcher(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
}
