/** Functions that read, write and hash files. All tools use them. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Returns the content of a file. Undefined if there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a file atomically: other processes see either the old content or all of the new content. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

/** Returns the SHA-256 of the parts, in hexadecimal. */
export function hashOf(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // The lengths are hashed, too, so that the same bytes, divided in another way, have another hash.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** Whether an error of Node says that a file or a command does not exist. */
export function isMissing(error: unknown): boolean {
  return fieldOf(error, "code") === "ENOENT";
}

/**
 * Returns a field of an error. `instanceof Error` is false for errors of Node in tests, because jest gives each test
 * file its own `Error`.
 */
export function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Record<string, unknown>)[name]
    : undefined;
}
