/** Builds or finds what the benchmarks run: our plugin, the Pulumi CLI, and the peers (other providers). */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable as pluginName } from "../provider/process/executable";
import { ensureBuilt } from "../tools/build";
import { ensureGoTool } from "../tools/go/tools";
import { ensureArchive, ensureExecutable } from "../tools/dist/archives";
import { temporaryFolder } from "../tools/support/files";
import { onPath } from "../tools/support/onPath";
import { root, toolsBin } from "../tools/support/paths";
import { ensureToolchain } from "../tools/toolchain";

/** The peers that serve gRPC, and need no service. */
export const goPeer = "a Go provider on pulumi-go-provider";
export const stockPeer = "the server of @pulumi/pulumi/provider";

/** All programs that the benchmarks run. */
export type Tools = Awaited<ReturnType<typeof gatherTools>>;

/** Builds what is not up to date, and finds the rest on PATH. */
export async function gatherTools() {
  const toolchain = await ensureToolchain();
  const executable = await ensureBuilt();
  const single = { executable: await ensureExecutable(), archive: await ensureArchive() };
  const goPeer = await ensureGoTool("peer");
  const terraform = onPath("terraform");
  if (terraform !== undefined) await ensureGoTool("restapi");

  const temporary = temporaryFolder();
  const folder = temporary.path;
  const go = pluginFiles(join(folder, "go"));
  symlinkSync(goPeer, go.executable);
  const stock = pluginFiles(join(folder, "stock"));
  writeLauncher(stock.executable, join(root, "bench", "peers", "stock", "index.cjs"));
  const bare = pluginFiles(join(folder, "bare"));
  writeLauncher(bare.executable, join(root, "bench", "peers", "bare", "index.cjs"));
  // An installed Pulumi has it beside its language host. One built from modules does not.
  const dynamicProvider = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js");
  writeLauncher(join(folder, "pulumi-resource-pulumi-nodejs"), dynamicProvider);
  return {
    toolchain,
    /** Our plugin, on the Node of this checkout. */
    ours: { folder: dirname(executable), executable },
    /** Our plugin with its Node inside, and the archive from which it is installed. */
    single,
    /** A minimal provider on pulumi-go-provider. */
    go,
    /** A provider that answers at once, on the server of `@pulumi/pulumi/provider`. */
    stock,
    /** A Node process that answers each call with nothing. */
    bare,
    /** With the generic REST provider. Undefined if there is no Terraform on PATH. */
    terraform: terraform === undefined ? undefined : { command: terraform, providers: toolsBin },
    /** First on the engine's PATH. Has the program that runs dynamic providers. */
    folder,
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

/** A project names the folder of its plugin. */
function pluginFiles(folder: string) {
  mkdirSync(folder);
  return { folder, executable: join(folder, pluginName) };
}

function writeLauncher(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
}
