/** Installs Python tools. Each folder of tools/python pins those of one virtual environment. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { captured } from "./command";
import { ensureProduct } from "./products";
import { root } from "./paths";

/** Makes the environment unless it is up to date. Returns the folder of its commands. */
export async function ensurePythonTools(
  name: "packaging" | "pictures" | "programs" | "schemas" | "types",
): Promise<string> {
  const requirements = `tools/python/${name}/requirements.txt`;
  const environment = `.tools/python-${name}`;
  const bin = join(root, environment, "bin");
  await ensureProduct({
    name: `the Python tools of tools/python/${name}`,
    outputs: [`${environment}/bin/python`],
    stamp: `.tools/stamps/python-${name}`,
    async make() {
      rmSync(join(root, environment), { recursive: true, force: true });
      await captured("python3", ["-m", "venv", environment], { cwd: root });
      // To install a package without a wheel, pip would run its code.
      const install = ["-m", "pip", "install", "--only-binary=:all:", "--quiet"];
      const args = [...install, `--requirement=${requirements}`];
      await captured(join(bin, "python"), args, { cwd: root });
      return [requirements];
    },
  });
  return bin;
}
