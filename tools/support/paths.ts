/** The paths of the repository and of the folders that the tools use. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The repository, whatever the working directory. */
export const root = join(__dirname, "..", "..");

/** What the tools build for themselves. It is not committed. */
export const toolsDir = join(root, ".tools");
/** The executables that the tools download or build. */
export const toolsBin = join(toolsDir, "bin");

/** The commands of the installed packages. */
export const nodeBin = join(root, "node_modules", ".bin");

/** The ending of executables on this system. */
export const exe = process.platform === "win32" ? ".exe" : "";

/** Returns the files that git does not ignore, from the root. */
export function repositoryFiles(...folders: string[]): string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", ...folders];
  return execFileSync("git", list, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}
