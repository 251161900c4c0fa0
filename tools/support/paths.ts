/** Where things are in the repository. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The repository, whatever the working directory is. */
export const root = join(__dirname, "..", "..");

/** What the tools build for themselves; not committed. */
export const toolsDir = join(root, ".tools");
export const toolsBin = join(toolsDir, "bin");

/** The commands of the installed packages, among them the Node that everything here runs on. */
export const nodeBin = join(root, "node_modules", ".bin");

/** The ending of executables on this system. */
export const exe = process.platform === "win32" ? ".exe" : "";

/** The files that are committed or would be, as paths from the root; of these folders, or of all. */
export function repositoryFiles(...folders: string[]): string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", ...folders];
  return execFileSync("git", list, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}
