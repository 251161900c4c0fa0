/** Tests the download of the Pulumi CLI with a local server, which serves, cuts, changes, refuses or delays an archive. */
import { expect, test } from "@jest/globals";
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { create } from "tar";
import { testedEngine } from "../../metadata.json";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { isOlder } from "../../provider/version";
import { serve } from "../../tests/support/serve";
import { ensureOfficialPulumi } from "./officialPulumi";
import { exe } from "./paths";
import { archivePath, pinnedPulumi } from "./pulumiArchive.cjs";

/** Makes an archive with the layout of Pulumi's releases. */
async function makeArchive(): Promise<Buffer> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "source", "pulumi"), { recursive: true });
  writeFileSync(join(folder, "source", "pulumi", `pulumi${exe}`), "#!/bin/sh\necho v1.2.3\n", {
    mode: 0o755,
  });
  writeFileSync(join(folder, "source", "pulumi", "other"), "a language host");
  const file = join(folder, "archive.tar.gz");
  await create({ file, gzip: true, cwd: join(folder, "source") }, ["pulumi"]);
  return readFileSync(file);
}

/** Longer than a loaded machine takes. */
const patient = { answerTimeoutMs: 120_000, idleTimeoutMs: 120_000 };

/** Downloads the CLI. Returns its path or the error, the messages, and the files left. `given` is there already. */
async function download(
  url: string,
  sha256 = "0".repeat(64),
  given?: Buffer,
  timeouts: Partial<typeof patient> = {},
) {
  const messages: string[] = [];
  const target = temporaryFolder();
  const downloads = join(target, "downloads");
  mkdirSync(downloads);
  if (given) writeFileSync(archivePath("pulumi-v1.2.3-linux-x64.tar.gz", downloads), given);
  let path, error;
  try {
    path = await ensureOfficialPulumi(
      { version: "1.2.3", url, sha256: { "linux-x64": sha256 } },
      {
        platform: "linux-x64",
        folder: target,
        downloads,
        ...patient,
        ...timeouts,
        say: (line) => messages.push(line),
      },
    );
  } catch (thrown) {
    error = thrown as Error;
  }
  return { path, error, messages, left: readdirSync(target, { recursive: true }).sort() };
}

const sumOf = (bytes: Buffer) => hash("sha256", bytes);
const inPulumi = ["other", `pulumi${exe}`].map((name) => join("pulumi-1.2.3", name));
const unpacked = ["downloads", "pulumi-1.2.3", ...inPulumi];

test("the pinned version is not newer than the one with which all tests run", () => {
  expect(isOlder(testedEngine, pinnedPulumi.version)).toBe(false);
});

test("the pinned archive is downloaded, through a redirect, and unpacked", async () => {
  const archive = await makeArchive();
  const answer: RequestListener = ({ url }, response) =>
    url === "/elsewhere"
      ? response.writeHead(200, { "content-length": archive.length }).end(archive)
      : response.writeHead(302, { location: "/elsewhere" }).end();
  await using server = await serve(answer);
  const found = await download(server.url, sumOf(archive));
  expect(server.paths).toEqual(["/v1.2.3/pulumi-v1.2.3-linux-x64.tar.gz", "/elsewhere"]);
  expect(readFileSync(found.path ?? "", "utf8")).toContain("v1.2.3");
  expect(found.left).toEqual(unpacked);
  expect(found.messages.at(-1)).toBe("  Pulumi CLI: 100 %");
});

test("an archive that arrives slowly, but arrives, is used", async () => {
  const archive = await makeArchive();
  const answer: RequestListener = (_, response) => {
    response.writeHead(200, { "content-length": archive.length });
    let sent = 0;
    // The whole download takes longer than the wait for the next bytes may take.
    const timer = setInterval(() => {
      response.write(archive.subarray(sent, (sent += Math.ceil(archive.length / 5))));
      if (sent < archive.length) return;
      clearInterval(timer);
      response.end();
    }, 600);
  };
  await using server = await serve(answer);
  const { left } = await download(server.url, sumOf(archive), undefined, { idleTimeoutMs: 2000 });
  expect(left).toEqual(unpacked);
});

test("an archive with another checksum is an error that names both, and nothing of it is left", async () => {
  const archive = await makeArchive();
  const { error, left } = await download("http://127.0.0.1:9", undefined, archive);
  expect(error?.message).toContain("0".repeat(64));
  expect(error?.message).toContain(sumOf(archive));
  expect(left).toEqual(["downloads"]);
});

test.each<[string, RequestListener, RegExp, Partial<typeof patient>?]>([
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
    /: no bytes arrived for 1 s\./,
    { idleTimeoutMs: 1000 },
  ],
  [
    "never answers",
    () => undefined,
    /: the server did not answer for 1 s\./,
    { answerTimeoutMs: 1000 },
  ],
])("a server that %s: a message has the reason, and nothing is left", async (...row) => {
  const [, answer, reason, timeouts] = row;
  await using server = await serve(answer);
  const found = await download(server.url, undefined, undefined, timeouts);
  const { path, error, messages, left } = found;
  expect([path, error]).toEqual([undefined, undefined]);
  expect(messages.at(-1)).toMatch(/can't be downloaded from http:/);
  expect(messages.at(-1)).toMatch(reason);
  expect(left).toEqual(["downloads"]);
});

test("a refused connection: a message has the reason", async () => {
  const server = await serve(() => undefined);
  await server[Symbol.asyncDispose]();
  const { path, messages } = await download(server.url);
  expect(path).toBeUndefined();
  expect(messages.at(-1)).toMatch(/ECONNREFUSED/);
});

test("the proxy of the environment is used", async () => {
  const archive = await makeArchive();
  const url = "http://releases.test";
  await using proxy = await serve((_, response) => response.end(archive));
  process.env["HTTP_PROXY"] = proxy.url;
  const found = download(url, sumOf(archive)).finally(() => delete process.env["HTTP_PROXY"]);
  expect((await found).path).toBeDefined();
  expect(proxy.paths).toEqual([`${url}/v1.2.3/pulumi-v1.2.3-linux-x64.tar.gz`]);
});

test("an archive that was downloaded earlier is checked and used, without a request", async () => {
  const archive = await makeArchive();
  const { left } = await download("http://127.0.0.1:1", sumOf(archive), archive);
  expect(left).toEqual(unpacked);
});

test("a platform without a pinned checksum is named, and nothing is requested", async () => {
  const messages: string[] = [];
  const path = await ensureOfficialPulumi(
    { version: "1.2.3", url: "http://127.0.0.1:9", sha256: {} },
    { folder: temporaryFolder(), platform: "win32-x64", say: (line) => messages.push(line) },
  );
  expect(path).toBeUndefined();
  expect(messages).toEqual([
    "No checksum of the official Pulumi CLI 1.2.3 is pinned for win32-x64.",
  ]);
});
