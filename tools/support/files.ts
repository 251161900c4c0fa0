/** Reading and writing files. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The text of a file; undefined if there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a file atomically: other processes see all of it or nothing. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

export function hashOf(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // With the lengths, so that no other parts have the same hash.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** Whether an error of Node says that a file or a command does not exist. */
export function isMissing(error: unknown): boolean {
  return fieldOf(error, "code") === "ENOENT";
}

/** A field of an error. In tests, errors of Node are no `instanceof Error`: jest gives each test file its own `Error`. */
export function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Record<string, unknown>)[name]
    : undefined;
}
