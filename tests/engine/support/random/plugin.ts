/** Where the engine finds the plugin of @pulumi/random: the real one, or else a double of it. */
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { onPath } from "../../../../tools/support/onPath";
import { writeWhole } from "../../../../tools/support/files";
import { exe, toolsDir } from "../../../../tools/support/paths";

const name = `pulumi-resource-random${exe}`;

/** The PATH of a test's stack, with the plugin on it. */
export function pathWithRandom(): string {
  const real = realDirectory();
  if (real === undefined) {
    process.stderr.write(
      "The random provider is neither on PATH nor in the Pulumi home: a test double stands in for it\n",
    );
  }
  return [process.env["COMPUTE_TEST_PATH"], real ?? doubleDirectory()].join(delimiter);
}

/** On PATH it is found without a hint. */
function realDirectory(): string | undefined {
  if (onPath(name) !== undefined) return "";
  const home = process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const installed = globSync(join(home, "plugins", "resource-random-v*"));
  return installed.find((directory) => existsSync(join(directory, name)));
}

function doubleDirectory(): string {
  const directory = join(toolsDir, "scratch", "random-test-double");
  const command = [
    process.execPath,
    "--import",
    require.resolve("tsx"),
    join(__dirname, "double.ts"),
  ];
  const words = command.map((word) => `"${word}"`).join(" ");
  writeWhole(join(directory, name), `#!/bin/sh\nexec ${words} "$@"\n`, 0o755);
  return directory;
}
