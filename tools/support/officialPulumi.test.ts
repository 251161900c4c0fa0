import { afterAll, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { ensureOfficialPulumi } from "./officialPulumi";

const folder = mkdtempSync(join(tmpdir(), "compute-official-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An archive laid out as Pulumi's releases are. */
async function makeArchive(): Promise<Buffer> {
  mkdirSync(join(folder, "source", "pulumi"), { recursive: true });
  writeFileSync(join(folder, "source", "pulumi", "pulumi"), "#!/bin/sh\necho v1.2.3\n", {
    mode: 0o755,
  });
  // Random bytes, so that gzip leaves the archive large enough to be cut.
  writeFileSync(join(folder, "source", "pulumi", "other"), Buffer.alloc(300_000, "x"));
  const file = join(folder, "archive.tar.gz");
  await create({ file, gzip: { level: 0 }, cwd: join(folder, "source") }, ["pulumi"]);
  return readFileSync(file);
}

/** Downloads from a server that answers so; gives the path, what was said, and what is on the disk after it. */
async function download(answer: RequestListener, sha256: string, url?: string) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const said: string[] = [];
  const shares: number[] = [];
  const target = mkdtempSync(join(folder, "target-"));
  try {
    const path = await ensureOfficialPulumi(
      { version: "1.2.3", url: url ?? `http://127.0.0.1:${port}`, sha256: { "linux-x64": sha256 } },
      {
        folder: target,
        platform: "linux-x64",
        connectTimeoutMs: 2000,
        idleTimeoutMs: 300,
        onProgress: (share) => shares.push(share),
        say: (line) => said.push(line),
      },
    );
    return { path, said, shares, target };
  } catch (error) {
    return { error: error as Error, said, target };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const sumOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test("the pinned archive is downloaded, through a redirect, and unpacked", async () => {
  const archive = await makeArchive();
  const asked: string[] = [];
  const { path = "", shares } = await download((request, response) => {
    asked.push(request.url ?? "");
    if (request.url !== "/elsewhere") {
      response.writeHead(302, { location: "/elsewhere" }).end();
      return;
    }
    response.writeHead(200, { "content-length": archive.length }).end(archive);
  }, sumOf(archive));
  expect(asked).toEqual(["/v1.2.3/pulumi-v1.2.3-linux-x64.tar.gz", "/elsewhere"]);
  expect(readFileSync(path, "utf8")).toContain("v1.2.3");
  expect(readdirSync(join(path, "..")).sort()).toEqual(["other", "pulumi"]);
  expect(shares?.at(-1)).toBe(1);
});

test("another archive than the pinned one is an error that names both checksums, and leaves nothing", async () => {
  const archive = await makeArchive();
  const pinned = "0".repeat(64);
  const { error, target } = await download((_, response) => response.end(archive), pinned);
  expect(error?.message).toContain(pinned);
  expect(error?.message).toContain(sumOf(archive));
  expect(readdirSync(target)).toEqual([]);
});

test.each<[string, RequestListener]>([
  ["404", (_, response) => response.writeHead(404).end()],
  [
    "cut",
    (_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half");
      setImmediate(() => response.destroy());
    },
  ],
  [
    "stalled",
    (_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half");
    },
  ],
  ["silent", () => undefined],
])("%s: it says why, and leaves nothing", async (_, answer) => {
  const { path, said, target } = await download(answer, "0".repeat(64));
  expect(path).toBeUndefined();
  expect(said).toEqual([expect.stringMatching(/can't be downloaded from http.*: \S/)]);
  expect(readdirSync(target)).toEqual([]);
});

test("a refused connection says so", async () => {
  const { path, said } = await download(() => undefined, "0".repeat(64), "http://127.0.0.1:9");
  expect(path).toBeUndefined();
  expect(said[0]).toMatch(/ECONNREFUSED|bad port/);
});

test("a platform without a pinned checksum is told of", async () => {
  const said: string[] = [];
  const release = { version: "1.2.3", url: "http://127.0.0.1:9", sha256: {} };
  const path = await ensureOfficialPulumi(release, {
    folder,
    platform: "win32-x64",
    say: (line) => said.push(line),
  });
  expect(path).toBeUndefined();
  expect(said).toEqual(["No checksum of the official Pulumi CLI 1.2.3 is pinned for win32-x64."]);
});
