/** Buckets of an S3-compatible server: Versity's gateway, over a folder. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureGoTool } from "../../../../tools/go/tools";
import { lackOfGo } from "../../../../tools/support/unless";
import { canaries } from "../secrets";
import type { BackendKind } from "./backend";
import { startProgram } from "./program";

const credentials = { access: "runner", secret: `secret-${canaries.password}` };

export const s3: BackendKind = {
  title: "S3-compatible",
  hindrance: lackOfGo,
  async start() {
    const gateway = await ensureGoTool("versitygw");
    const folder = mkdtempSync(join(tmpdir(), "compute-s3-"));
    const [buckets, notes] = [join(folder, "buckets"), join(folder, "notes")];
    for (const it of [buckets, notes]) mkdirSync(it);
    const socket = join(folder, "socket");
    // Its notes of each object: not every file system keeps them with the file.
    const storage = ["posix", "--sidecar", notes, buckets];
    const server = await startProgram(gateway, ["--quiet", "--port", socket, ...storage], {
      cwd: folder,
      socket,
      env: { ROOT_ACCESS_KEY: credentials.access, ROOT_SECRET_KEY: credentials.secret },
    });
    let made = 0;
    return {
      empty() {
        const bucket = `state-${made++}`;
        mkdirSync(join(buckets, bucket));
        const endpoint = `http://127.0.0.1:${server.port}`;
        const url = `s3://${bucket}?endpoint=${endpoint}&s3ForcePathStyle=true`;
        return {
          url,
          env: {
            PULUMI_BACKEND_URL: url,
            AWS_REGION: "us-east-1",
            AWS_ACCESS_KEY_ID: credentials.access,
            AWS_SECRET_ACCESS_KEY: credentials.secret,
          },
        };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
