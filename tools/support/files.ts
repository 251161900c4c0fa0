import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Other processes see the old content or all of the new. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

/** Makes a folder that is deleted when it is disposed of. */
export function temporaryFolder(
  prefix = join(tmpdir(), "compute-"),
): Disposable & { path: string } {
  const path = mkdtempSync(prefix);
  // Processes that end at this moment may still write there.
  const dispose = () => rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  return { path, [Symbol.dispose]: dispose };
}

/** Unpacks the only folder of a `.tar.gz` to `target`. If this is interrupted, there is no `target`. */
export async function unpack(archive: string, target: string): Promise<void> {
  // Loaded only here, because most runs unpack nothing.
  const { extract } = await import("tar");
  const scratch = `${target}.${process.pid}.tmp`;
  mkdirSync(scratch, { recursive: true });
  try {
    await extract({ file: archive, cwd: scratch, strip: 1 });
    rmSync(target, { recursive: true, force: true });
    renameSync(scratch, target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns the SHA-256 in hexadecimal. */
export function hashOf(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // With the lengths, the same bytes divided in another way have another hash.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** Whether Node's error says that a file or a command does not exist. */
export function isMissing(error: unknown): boolean {
  return fieldOf(error, "code") === "ENOENT";
}

/** In tests, `instanceof Error` is false for Node's errors: jest gives each test file its own `Error`. */
export function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Record<string, unknown>)[name]
    : undefined;
}
