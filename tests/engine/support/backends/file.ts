/** A folder, as on a disk that the runners share. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BackendKind } from "./backend";

export const file: BackendKind = {
  title: "file",
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "compute-states-"));
    let made = 0;
    return {
      empty() {
        const state = join(folder, `state-${made++}`);
        mkdirSync(state);
        const url = `file://${state}`;
        return { url, env: { PULUMI_BACKEND_URL: url } };
      },
      async [Symbol.asyncDispose]() {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
