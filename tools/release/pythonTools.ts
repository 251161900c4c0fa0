/** The tools that make a Python distribution and look it over, in an environment of their own. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../support/command";
import { ensureProduct } from "../support/inputs";
import { toolsDir } from "../support/paths";

const requirements = "tools/release/requirements.txt";

/** The Python that has them. */
export async function ensurePythonTools(): Promise<string> {
  const environment = join(toolsDir, "python");
  const python = join(environment, "bin", "python");
  await ensureProduct({
    name: "the Python packaging tools",
    outputs: [".tools/python/bin/twine"],
    stamp: ".tools/stamps/python-tools",
    async make() {
      rmSync(environment, { recursive: true, force: true });
      await captured("python3", ["-m", "venv", environment]);
      await captured(python, ["-m", "pip", "install", "--quiet", `--requirement=${requirements}`]);
      return [requirements];
    },
  });
  return python;
}
