/** Reading and writing files. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "./errors";

/** The file's text, or undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Nobody ever sees the file half-written: it appears whole, or not at all. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

export function hashOf(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // The length first, so that two parts never look like two others.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}
