/** Where things are. */
import { join } from "node:path";

/** The repository, wherever the command was called from. */
export const root = join(__dirname, "..", "..");

/** What the tools build for themselves; not committed. */
export const toolsDir = join(root, ".tools");
export const toolsBin = join(toolsDir, "bin");

/** Has the Node that everything here runs on. */
export const nodeBin = join(root, "node_modules", ".bin");

export const exe = process.platform === "win32" ? ".exe" : "";
