/** The paths of the repository and of the folders that the tools use. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of the repository. It does not depend on the working directory. */
export const root = join(__dirname, "..", "..");

/** The folder for what the tools build for themselves. It is not committed. */
export const toolsDir = join(root, ".tools");
/** The folder for the executables that the tools download or build. */
export const toolsBin = join(toolsDir, "bin");

/** The folder with the commands of the installed packages, such as the Node on which all tools run. */
export const nodeBin = join(root, "node_modules", ".bin");

/** The ending of executables on this system. */
export const exe = process.platform === "win32" ? ".exe" : "";

/** Returns the files of these folders, or of all folders, that git does not ignore, as paths from the root. */
export function repositoryFiles(...folders: string[]): string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", ...folders];
  return execFileSync("git", list, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}
