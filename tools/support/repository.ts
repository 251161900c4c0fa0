/** What the repository holds. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths";

/** Paths from the root: what is committed or would be, and is there; of these folders, if any are named. */
export function repositoryFiles(...folders: string[]): string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", ...folders];
  return execFileSync("git", list, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}
