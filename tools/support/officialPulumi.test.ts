/**
 * Tests the download of the Pulumi CLI with a local server, which serves, cuts, changes, refuses or delays an archive.
 */
import { afterAll, expect, jest, test } from "@jest/globals";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { engineVersions } from "../go/tools";
import { ensureOfficialPulumi } from "./officialPulumi";
import { archivePath, pinnedPulumi } from "./pulumiArchive.cjs";

const folder = mkdtempSync(join(tmpdir(), "compute-official-"));
const printed = jest.spyOn(process.stderr, "write").mockReturnValue(true);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Makes an archive with the layout of Pulumi's releases. */
async function makeArchive(): Promise<Buffer> {
  mkdirSync(join(folder, "source", "pulumi"), { recursive: true });
  writeFileSync(join(folder, "source", "pulumi", "pulumi"), "#!/bin/sh\necho v1.2.3\n", {
    mode: 0o755,
  });
  writeFileSync(join(folder, "source", "pulumi", "other"), "a language host");
  const file = join(folder, "archive.tar.gz");
  await create({ file, gzip: true, cwd: join(folder, "source") }, ["pulumi"]);
  return readFileSync(file);
}

interface Setup {
  sha256?: string;
  /** Replaces the address of the server. */
  url?: string;
  /** Returns the download that has begun already, given the path of its archive. */
  begin?: (archive: string) => Promise<void>;
}

/** Downloads from a server with these answers. Returns the CLI, the requests, the messages, and the files left. */
async function download(answer: RequestListener, { sha256 = "0".repeat(64), url, begin }: Setup) {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? "");
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const messages: string[] = [];
  const target = mkdtempSync(join(folder, "target-"));
  const downloads = join(target, "downloads");
  const left = () => readdirSync(target, { recursive: true }).sort();
  try {
    const path = await ensureOfficialPulumi(
      { version: "1.2.3", url: url ?? `http://127.0.0.1:${port}`, sha256: { "linux-x64": sha256 } },
      {
        platform: "linux-x64",
        folder: target,
        downloads,
        begun: begin?.(archivePath("pulumi-v1.2.3-linux-x64.tar.gz", downloads)),
        answerTimeoutMs: 2000,
        idleTimeoutMs: 2000,
        say: (line) => messages.push(line),
      },
    );
    return { path, requestedPaths, messages, left: left() };
  } catch (error) {
    return { error: error as Error, requestedPaths, messages, left: left() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const sumOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const unpacked = ["downloads", "pulumi-1.2.3", "pulumi-1.2.3/other", "pulumi-1.2.3/pulumi"];

test("the pinned version is the one that is built if it can't be downloaded", () => {
  expect(`v${pinnedPulumi.version}`).toBe(engineVersions.engine);
});

test("the pinned archive is downloaded, through a redirect, and unpacked", async () => {
  const archive = await makeArchive();
  const {
    path = "",
    requestedPaths,
    left,
  } = await download(
    (request, response) => {
      if (request.url !== "/elsewhere") {
        response.writeHead(302, { location: "/elsewhere" }).end();
        return;
      }
      response.writeHead(200, { "content-length": archive.length }).end(archive);
    },
    { sha256: sumOf(archive) },
  );
  expect(requestedPaths).toEqual(["/v1.2.3/pulumi-v1.2.3-linux-x64.tar.gz", "/elsewhere"]);
  expect(readFileSync(path, "utf8")).toContain("v1.2.3");
  expect(left).toEqual(unpacked);
  expect(printed).toHaveBeenLastCalledWith(expect.stringContaining("100 %"));
});

test("an archive that arrives slowly, but arrives, is used", async () => {
  const archive = await makeArchive();
  const { path } = await download(
    (_, response) => {
      response.writeHead(200, { "content-length": archive.length });
      let sent = 0;
      // The whole download takes longer than the wait for the next bytes may take.
      const timer = setInterval(() => {
        response.write(archive.subarray(sent, (sent += Math.ceil(archive.length / 5))));
        if (sent < archive.length) return;
        clearInterval(timer);
        response.end();
      }, 600);
    },
    { sha256: sumOf(archive) },
  );
  expect(existsSync(path ?? "")).toBe(true);
});

test("an archive with another checksum is an error that names both, and nothing of it is left", async () => {
  const archive = await makeArchive();
  const pinned = "0".repeat(64);
  const { error, left } = await download((_, response) => response.end(archive), {
    sha256: pinned,
  });
  expect(error?.message).toContain(pinned);
  expect(error?.message).toContain(sumOf(archive));
  expect(left).toEqual(["downloads"]);
});

test.each<[string, RequestListener, RegExp]>([
  ["refuses", (_, response) => response.writeHead(403).end(), /: HTTP 403\./],
  [
    "cuts the archive",
    (_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half");
      setImmediate(() => response.destroy());
    },
    /: other side closed\./,
  ],
  [
    "stalls in the archive",
    (_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half");
    },
    /: no bytes arrived for 2 s\./,
  ],
  ["never answers", () => undefined, /: the server did not answer for 2 s\./],
])("a server that %s: a message has the reason, and nothing is left", async (_, answer, reason) => {
  const { path, error, messages, left } = await download(answer, {});
  expect(error).toBeUndefined();
  expect(path).toBeUndefined();
  expect(messages.at(-1)).toMatch(/can't be downloaded from http:/);
  expect(messages.at(-1)).toMatch(reason);
  expect(left).toEqual(["downloads"]);
});

test("a refused connection: a message has the reason", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, "close");
  const { path, messages } = await download(() => undefined, { url: `http://127.0.0.1:${port}` });
  expect(path).toBeUndefined();
  expect(messages.at(-1)).toMatch(/ECONNREFUSED/);
});

test("the proxy of the environment is used", async () => {
  const archive = await makeArchive();
  const requestedPaths: string[] = [];
  const proxy = createServer((request, response) => {
    requestedPaths.push(request.url ?? "");
    response.end(archive);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  process.env["HTTP_PROXY"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  try {
    const url = "http://releases.test";
    const { path } = await download(() => undefined, { sha256: sumOf(archive), url });
    expect(path).toBeDefined();
    expect(requestedPaths).toEqual([`${url}/v1.2.3/pulumi-v1.2.3-linux-x64.tar.gz`]);
  } finally {
    delete process.env["HTTP_PROXY"];
    proxy.closeAllConnections();
    proxy.close();
  }
});

test("an archive whose download began earlier is awaited, checked and used, without a second request", async () => {
  const archive = await makeArchive();
  const { requestedPaths, left } = await download((_, response) => response.writeHead(500).end(), {
    sha256: sumOf(archive),
    begin: async (file) => {
      await new Promise((resolve) => setImmediate(resolve));
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, archive);
    },
  });
  expect(requestedPaths).toEqual([]);
  expect(left).toEqual(unpacked);
});

test("a download that began earlier and failed is made again", async () => {
  const archive = await makeArchive();
  const { requestedPaths, left } = await download((_, response) => response.end(archive), {
    sha256: sumOf(archive),
    begin: () => Promise.resolve(),
  });
  expect(requestedPaths).toHaveLength(1);
  expect(left).toEqual(unpacked);
});

test("a platform without a pinned checksum is named, and nothing is requested", async () => {
  const messages: string[] = [];
  const path = await ensureOfficialPulumi(
    { version: "1.2.3", url: "http://127.0.0.1:9", sha256: {} },
    { folder, platform: "win32-x64", say: (line) => messages.push(line) },
  );
  expect(path).toBeUndefined();
  expect(messages).toEqual([
    "No checksum of the official Pulumi CLI 1.2.3 is pinned for win32-x64.",
  ]);
});
