/**
 * The archive of the official Pulumi CLI. Plain JavaScript without packages, because tools/run.mjs downloads it while
 * npm installs them.
 */
const { createWriteStream, mkdirSync, renameSync, rmSync } = require("node:fs");
const { basename, dirname, join } = require("node:path");
const { Readable } = require("node:stream");
const { pipeline } = require("node:stream/promises");

/**
 * A release of the Pulumi CLI. `url` is the folder of the releases. `sha256` has the checksum of the archive for each
 * platform, such as `linux-x64`.
 *
 * @typedef {{ version: string, url: string, sha256: Readonly<Record<string, string>> }} PulumiRelease
 */

/**
 * The pinned release. The checksums are those of Pulumi's Homebrew formula. A file of checksums beside the release has the
 * same origin as the archive, so it proves less. Until a person adds those of the version in tools/go/engine, the download
 * is an older one than the tests run with. COMPUTE_PULUMI_MIRROR replaces the address, but not the checksums.
 *
 * @type {PulumiRelease}
 */
const pinnedPulumi = {
  version: "3.258.0",
  url: (
    process.env.COMPUTE_PULUMI_MIRROR || "https://github.com/pulumi/pulumi/releases/download"
  ).replace(/\/+$/, ""),
  sha256: {
    "linux-x64": "b6cf2de0243fece40f386bc7ae6a5194c39e15891c79f66cc6c8905bea8c6479",
    "linux-arm64": "c5928718c70ab328b22843ee41908942148743ff3021b29852efdcdd6ce369f1",
    "darwin-x64": "65cab2b670b6fd85e7bbcf956563cf7597ea13c2804c82f95f7407e60b01ec5f",
    "darwin-arm64": "4f743ed05afd9dc2e0663622e496bfe903a6ae6c102c54cf9e3f84af85a695bf",
  },
};

/** As the names of the archives have it. */
const thisPlatform = `${process.platform}-${process.arch}`;

/** @type {(release: PulumiRelease, platform: string) => string} */
function archiveAddress({ version, url }, platform) {
  return `${url}/v${version}/pulumi-v${version}-${platform}.tar.gz`;
}

/**
 * Returns the path at which the archive is kept until it is unpacked.
 *
 * @type {(address: string, folder?: string) => string}
 */
function archivePath(address, folder = join(__dirname, "..", "..", ".tools", "downloads")) {
  return join(folder, basename(address));
}

/**
 * Downloads a file. There is nothing at `file` until it is complete. `answerTimeoutMs` limits the wait for the head of
 * the answer, and `idleTimeoutMs` each wait for more bytes. `say` gets a line for each tenth that has arrived.
 *
 * @typedef {{ ok: boolean, status: number, headers: { get(name: string): string | null }, body: unknown }} Answer
 * @typedef {{ answerTimeoutMs?: number, idleTimeoutMs?: number }} Timeouts
 * @param {string} address
 * @param {string} file
 * @param {Timeouts & {
 *   fetch?: (address: string, init: { signal: AbortSignal }) => Promise<Answer>,
 *   say: (line: string) => void,
 * }} options
 * @returns {Promise<void>}
 * @throws {Error} whose innermost cause says why the file could not be downloaded
 */
async function download(address, file, options) {
  const { fetch = globalThis.fetch, say } = options;
  const { answerTimeoutMs = 10_000, idleTimeoutMs = 15_000 } = options;
  const partial = `${file}.part`;
  mkdirSync(dirname(file), { recursive: true });

  const abort = new AbortController();
  const abortAfter = (ms, what) =>
    setTimeout(() => abort.abort(new Error(`${what} for ${ms / 1000} s`)), ms);
  let timer = abortAfter(answerTimeoutMs, "the server did not answer");
  let closed;
  try {
    const { ok, status, headers, body } = await fetch(address, { signal: abort.signal });
    if (!ok) throw new Error(`HTTP ${status}`);
    if (!body) throw new Error("the answer has no body");
    const totalBytes = Number(headers.get("content-length"));
    let bytes = 0;
    let tenths = 0;
    const written = createWriteStream(partial);
    // A stream that is cut at once makes its file after that.
    closed = new Promise((resolve) => written.once("close", resolve));
    await pipeline(
      Readable.fromWeb(body),
      async function* (chunks) {
        for await (const chunk of chunks) {
          clearTimeout(timer);
          timer = abortAfter(idleTimeoutMs, "no bytes arrived");
          bytes += chunk.length;
          const arrived = totalBytes > 0 ? Math.floor((bytes / totalBytes) * 10) : 0;
          if (arrived > tenths) say(`  Pulumi CLI: ${(tenths = arrived) * 10} %`);
          yield chunk;
        }
      },
      written,
    );
    renameSync(partial, file);
  } finally {
    clearTimeout(timer);
    await closed;
    rmSync(partial, { force: true });
  }
}

module.exports = { archiveAddress, archivePath, download, pinnedPulumi, thisPlatform };
