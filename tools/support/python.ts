/** Tools in Python, each in an environment of its own. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { captured } from "./command";
import { ensureProduct } from "./inputs";
import { root } from "./paths";

export interface PythonTools {
  /** For messages. */
  title: string;
  /** The environment's directory below `.tools`. */
  name: string;
  /** The path of the file that names them, from the root. */
  requirements: string;
  /** One of its commands. */
  command: string;
}

/** The environment's directory of commands, `python` among them; makes it where it is missing or older. */
export async function ensurePythonTools(tools: PythonTools): Promise<string> {
  const { title, name, requirements, command } = tools;
  const environment = join(root, ".tools", name);
  const bin = join(environment, "bin");
  await ensureProduct({
    name: title,
    outputs: [`.tools/${name}/bin/${command}`],
    stamp: `.tools/stamps/${name}-tools`,
    async make() {
      rmSync(environment, { recursive: true, force: true });
      await captured("python3", ["-m", "venv", environment]);
      const install = ["-m", "pip", "install", "--quiet", `--requirement=${requirements}`];
      await captured(join(bin, "python"), install, { cwd: root });
      return [requirements];
    },
  });
  return bin;
}
