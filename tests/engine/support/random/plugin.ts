/** Finds a plugin of @pulumi/random for the engine: the real one if this machine has it, or a test double. */
import { globSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { onPath } from "../../../../tools/support/onPath";
import { writeWhole } from "../../../../tools/support/files";
import { exe, toolsDir } from "../../../../tools/support/paths";

const name = `pulumi-resource-random${exe}`;

/** Returns a PATH for the stack of a test, with the plugin on it. */
export function pathWithRandom(): string {
  const home = process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const installed = globSync(join(home, "plugins", "resource-random-v*", name)).map(dirname);
  const [folder = ""] = onPath(name) === undefined ? [...installed, doubleDirectory()] : [];
  return [process.env["COMPUTE_TEST_PATH"], folder].join(delimiter);
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
