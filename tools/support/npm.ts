/** Fetches what few runs need from npm. Each folder of tools/npm pins the packages of one installation. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { captured } from "./command";
import { say } from "./main";
import { root } from "./paths";
import { ensureProduct } from "./products";

/** Of an installation. No script of a package runs where a token may be near. */
export const npmOptions = ["--ignore-scripts", "--no-audit", "--no-fund"] as const;

interface Fetched {
  /** The folder of tools/npm. */
  name: "chromium" | "command" | "postgres";
  /** For messages: "a PostgreSQL server (about 24 MB)". */
  title: string;
  /** From the folder of the installation. */
  outputs: readonly string[];
  /** Makes the outputs that are not in the packages. Returns the files from which it makes them, from the root. */
  finish?: (folder: string) => Promise<readonly string[]>;
}

/** Installs the packages unless they are up to date. Returns the folder of the installation. */
export async function ensureFetched({ name, title, outputs, finish }: Fetched): Promise<string> {
  const target = `.tools/fetched/${name}`;
  const folder = join(root, target);
  await ensureProduct({
    name: `the packages of tools/npm/${name}`,
    outputs: outputs.map((output) => `${target}/${output}`),
    stamp: `.tools/stamps/fetched-${name}`,
    async make() {
      say(`Fetching ${title} from npm, once …`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const files = ["package.json", "package-lock.json"];
      const source = `tools/npm/${name}`;
      for (const file of files) copyFileSync(join(root, source, file), join(folder, file));
      await captured("npm", ["ci", ...npmOptions], { cwd: folder });
      return [...files.map((file) => `${source}/${file}`), ...((await finish?.(folder)) ?? [])];
    },
  });
  return folder;
}
