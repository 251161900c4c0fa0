/** Temporary folders for tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "@jest/globals";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // A lock in it may be open until the process ends, and Windows removes nothing that is open.
      if (process.platform !== "win32") throw error;
    }
  }
});

/** Makes a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "compute-test-"));
  folders.push(folder);
  return folder;
}
