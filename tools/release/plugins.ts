/** What `npm run dist` has made, for the release page. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../support/main";
import { root } from "../support/paths";

const directory = join(root, "dist");
export const checksumsFile = join(directory, "SHA256SUMS");

export function distFiles(): string[] {
  const files = globSync("*", { cwd: directory }).map((name) => join(directory, name));
  if (!files.includes(checksumsFile)) {
    throw new ToolError("There is no dist/SHA256SUMS. Run `npm run dist` first.");
  }
  return files.sort();
}
