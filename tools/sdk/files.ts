/** Which files are an SDK's. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Compiled or installed, not generated: what the languages' own tools leave beside the sources. */
const leftBehind = /^sdk\/\w+\/(bin|build|dist|node_modules|obj|target|\w+\.egg-info)$/;

/** Every file below a folder (`sdk`, `sdk/python`), as paths from the base. */
export function generatedFiles(base: string, folder: string): string[] {
  return readdirSync(join(base, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (leftBehind.test(path)) return [];
    return entry.isDirectory() ? generatedFiles(base, path) : [path];
  });
}
