/** Finds a plugin of @pulumi/random for the engine: the real one if this machine has it, or a test double. */
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { buildSync } from "esbuild";
import { onPath } from "../../../../tools/support/onPath";
import { writeWhole } from "../../../../tools/support/files";
import { exe, toolsDir } from "../../../../tools/support/paths";

const name = `pulumi-resource-random${exe}`;

/** Returns a PATH for the stack of a test, with the plugin on it. */
export function pathWithRandom(): string {
  const real = realDirectory();
  if (real === undefined) {
    process.stderr.write(
      "The random provider is neither on PATH nor in the Pulumi home: a test double stands in for it\n",
    );
  }
  return [process.env["COMPUTE_TEST_PATH"], real ?? doubleDirectory()].join(delimiter);
}

/**
 * Returns the folder of the real plugin. Empty if the plugin is on PATH already. Undefined if this machine has none.
 */
function realDirectory(): string | undefined {
  if (onPath(name) !== undefined) return "";
  const home = process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const installed = globSync(join(home, "plugins", "resource-random-v*"));
  return installed.find((directory) => existsSync(join(directory, name)));
}

/** Bundles the test double into one file, which starts quickly, since each command starts it. Returns its folder. */
function doubleDirectory(): string {
  const directory = join(toolsDir, "scratch", "random-test-double");
  const bundle = join(directory, "double.cjs");
  const entryPoints = [join(__dirname, "double.ts")];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, platform: "node", write: false });
  writeWhole(bundle, outputFiles[0]?.text ?? "");
  const start = `#!/bin/sh\nexec "${process.execPath}" "${bundle}" "$@"\n`;
  writeWhole(join(directory, name), start, 0o755);
  return directory;
}
