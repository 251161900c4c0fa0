/** The archive of a plugin. The same content gives the same bytes, whoever packs it, and when. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { create } from "tar";
import { writeWhole } from "../support/files";

export interface Entry {
  content: Buffer | string;
  executable?: boolean;
}

/** Any time will do, as long as it is the same; this one is npm's. */
const packedAt = new Date("1985-10-26T08:15:00Z");

export async function makeArchive(
  target: string,
  entries: Readonly<Record<string, Entry>>,
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "compute-archive-"));
  try {
    for (const [name, { content, executable = false }] of Object.entries(entries)) {
      writeFileSync(join(scratch, name), content);
      chmodSync(join(scratch, name), executable ? 0o755 : 0o644);
    }
    // Portable: no owner, no times but this one.
    const options = { cwd: scratch, portable: true, mtime: packedAt, sync: true } as const;
    const file = join(scratch, "archive.tar");
    create({ ...options, file }, Object.keys(entries).sort());
    writeWhole(target, await promisify(gzip)(readFileSync(file), { level: 6 }));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
