/** The official Pulumi CLI: downloaded from its releases, and checked against the checksums pinned here. */
import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract } from "tar";
import { EnvHttpProxyAgent, fetch, type Response } from "undici";
import { ToolError } from "./main";
import { exe, toolsDir } from "./paths";

/** The release that is pinned, and the SHA-256 of its archive for each platform, as Pulumi's Homebrew formula has it. */
export const pinnedPulumi: PulumiRelease = {
  version: "3.258.0",
  url: "https://github.com/pulumi/pulumi/releases/download",
  sha256: {
    "linux-x64": "b6cf2de0243fece40f386bc7ae6a5194c39e15891c79f66cc6c8905bea8c6479",
    "linux-arm64": "c5928718c70ab328b22843ee41908942148743ff3021b29852efdcdd6ce369f1",
    "darwin-x64": "65cab2b670b6fd85e7bbcf956563cf7597ea13c2804c82f95f7407e60b01ec5f",
    "darwin-arm64": "4f743ed05afd9dc2e0663622e496bfe903a6ae6c102c54cf9e3f84af85a695bf",
  },
};

export interface PulumiRelease {
  version: string;
  /** The folder of the releases: `<url>/v<version>/pulumi-v<version>-<platform>.tar.gz`. */
  url: string;
  /** By platform, such as `linux-x64`. */
  sha256: Readonly<Record<string, string>>;
}

export interface DownloadOptions {
  /** Where the releases are kept, each in a folder by its version. */
  folder?: string;
  platform?: string;
  /** How long to wait for a connection, and how long for the next byte. */
  connectTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** Gets the share of the archive that has arrived, from 0 to 1. */
  onProgress?: (share: number) => void;
  say: (line: string) => void;
}

/**
 * The path of the CLI in a downloaded release; downloads it if it is not there yet. Undefined where that can't be:
 * no checksum is pinned for the platform, or the network refuses. `say` is told why.
 *
 * @throws {ToolError} if the archive does not have the pinned checksum.
 */
export async function ensureOfficialPulumi(
  { version, url, sha256 }: PulumiRelease,
  {
    folder = join(toolsDir, "pulumi"),
    platform = `${process.platform}-${process.arch}`,
    connectTimeoutMs = 4000,
    idleTimeoutMs = 15_000,
    onProgress = () => undefined,
    say,
  }: DownloadOptions,
): Promise<string | undefined> {
  const target = join(folder, version);
  const cli = join(target, `pulumi${exe}`);
  if (existsSync(cli)) return cli;
  const wanted = sha256[platform];
  if (wanted === undefined) {
    say(`No checksum of the official Pulumi CLI ${version} is pinned for ${platform}.`);
    return undefined;
  }

  const address = `${url}/v${version}/pulumi-v${version}-${platform}.tar.gz`;
  const scratch = `${target}.${process.pid}`;
  const archive = join(scratch, "archive.tar.gz");
  const dispatcher = new EnvHttpProxyAgent({
    connectTimeout: connectTimeoutMs,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  mkdirSync(join(scratch, "content"), { recursive: true });
  try {
    let found: string;
    try {
      const response = await fetch(address, { dispatcher });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      found = await save(response, archive, onProgress);
    } catch (error) {
      say(`The official Pulumi CLI can't be downloaded from ${address}: ${reasonOf(error)}.`);
      return undefined;
    }
    if (found !== wanted) {
      throw new ToolError(
        `${address} is not the archive that was pinned: its SHA-256 is ${found}, and it should be ${wanted}. Nothing of it was used. Is something between here and the server changing downloads? Install the Pulumi CLI (https://www.pulumi.com/docs/install/), and run this again.`,
      );
    }
    await extract({ file: archive, cwd: join(scratch, "content"), strip: 1 });
    rmSync(target, { recursive: true, force: true });
    renameSync(join(scratch, "content"), target);
    return cli;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    void dispatcher.destroy();
  }
}

/** Writes the body to a file; gives its SHA-256. */
async function save(
  { body, headers }: Response,
  file: string,
  onProgress: (share: number) => void,
): Promise<string> {
  const hash = createHash("sha256");
  const totalBytes = Number(headers.get("content-length"));
  let bytes = 0;
  async function* observed(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      if (totalBytes > 0) onProgress(bytes / totalBytes);
      yield chunk;
    }
  }
  if (!body) throw new Error("the answer has no body");
  await pipeline(Readable.fromWeb(body), observed, createWriteStream(file));
  return hash.digest("hex");
}

/** The innermost cause: `fetch failed` and `terminated` say nothing. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  if (cause instanceof Error) return reasonOf(cause);
  const { code, message } = error as NodeJS.ErrnoException;
  return message || (code ?? "it failed");
}
