/**
 * Makes a copy of the example's policy pack that the engine of the tests can start, because the language host that
 * tools/toolchain.ts builds is too old to run packs. The copy names a runtime without a language host, for which the
 * engine starts `pulumi-analyzer-policy-RUNTIME`. That starts the pack runner of the SDK here.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { writeWhole } from "../../../tools/support/files";
import { root, toolsBin, toolsDir } from "../../../tools/support/paths";

const runtime = "nodejs-by-script";

export const pack = join(root, "examples", "policy");

/** Returns the folder of a pack that the engine can start, and the PATH to start it with. */
export function startablePack(): { directory: string; path: string } {
  const path = process.env["COMPUTE_TEST_PATH"] ?? "";
  // A Pulumi that was not built here has a language host that can run packs.
  if (!process.env["COMPUTE_TEST_PULUMI"]?.startsWith(toolsBin)) {
    return { directory: pack, path };
  }
  // The folder is inside the repository, whose node_modules contains the dependencies of the pack.
  const directory = join(toolsDir, "scratch", "policy-pack");
  rmSync(directory, { recursive: true, force: true });
  cpSync(pack, directory, {
    recursive: true,
    filter: (file) => basename(file) !== "node_modules",
  });
  const project = readFileSync(join(pack, "PulumiPolicy.yaml"), "utf8");
  const renamed = project.replace("runtime: nodejs", `runtime: ${runtime}`);
  writeWhole(join(directory, "PulumiPolicy.yaml"), renamed);

  const runner = require.resolve("@pulumi/pulumi/cmd/run-policy-pack");
  const analyzer = join(directory, "bin", `pulumi-analyzer-policy-${runtime}`);
  writeWhole(analyzer, `#!/bin/sh\nexec "${process.execPath}" "${runner}" "$@"\n`, 0o755);
  return { directory, path: [path, dirname(analyzer)].join(delimiter) };
}
