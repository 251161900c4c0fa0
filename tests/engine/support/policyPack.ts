/**
 * The example's policy pack in a form that the engine here can start. The language host that is built here
 * (tools/toolchain.ts) is too old to run packs. For a runtime without a host the engine starts
 * `pulumi-analyzer-policy-RUNTIME` instead: a copy of the pack names such a runtime, and that
 * analyzer is the SDK's own runner of packs.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { writeWhole } from "../../../tools/support/files";
import { root, toolsBin, toolsDir } from "../../../tools/support/paths";

const runtime = "nodejs-by-script";

export const pack = join(root, "examples", "policy");

/** Its directory, and the PATH to start it with. */
export function startablePack(): { directory: string; path: string } {
  const path = process.env["COMPUTE_TEST_PATH"] ?? "";
  // A Pulumi that was not built here comes with a host that can.
  if (!process.env["COMPUTE_TEST_PULUMI"]?.startsWith(toolsBin)) {
    return { directory: pack, path };
  }
  // Below the repository, whose node_modules has what the pack needs.
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
