/** Downloads the official Pulumi CLI from its releases, checks it against the pinned checksum, and unpacks it. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fieldOf } from "./files";
import { ToolError } from "./main";
import { exe, toolsBin } from "./paths";
import { withLock } from "./products";
import { createProgressBar } from "./progressBar";
import {
  archiveAddress,
  archivePath,
  download,
  thisPlatform,
  type PulumiRelease,
  type Timeouts,
} from "./pulumiArchive.cjs";

export interface OfficialPulumiOptions extends Timeouts {
  /** Prints a line for the person. */
  say: (line: string) => void;
  /** Such as `linux-x64`. The default is the platform of this machine. */
  platform?: string;
  /** The folder of the unpacked releases. */
  folder?: string;
  /** The folder for the archive. */
  downloads?: string;
  /** A download of the archive that has begun already. Resolves when it has ended, even if it failed. Never rejects. */
  begun?: Promise<void> | undefined;
}

/**
 * Returns the path of the CLI in an unpacked release, and downloads the release if it is not there. Undefined if the
 * CLI can't be downloaded: no checksum is pinned for the platform, or the download fails. `say` is then called with the
 * reason.
 *
 * @throws {ToolError} if the archive does not have the pinned checksum
 */
export async function ensureOfficialPulumi(
  release: PulumiRelease,
  options: OfficialPulumiOptions,
): Promise<string | undefined> {
  const { say, platform = thisPlatform, folder = toolsBin } = options;
  const { version } = release;
  const target = join(folder, `pulumi-${version}`);
  const cli = join(target, `pulumi${exe}`);
  if (existsSync(cli)) return cli;
  const pinnedSha256 = release.sha256[platform];
  if (pinnedSha256 === undefined) {
    say(`No checksum of the official Pulumi CLI ${version} is pinned for ${platform}.`);
    return undefined;
  }

  const onWait = () => say("Waiting for another run, which is downloading the Pulumi CLI …");
  return withLock(`official-pulumi-${version}`, onWait, async () => {
    if (existsSync(cli)) return cli;
    const address = archiveAddress(release, platform);
    const archive = archivePath(address, options.downloads);
    await options.begun;
    try {
      if (!existsSync(archive)) await downloadWithBar(version, address, archive, options);
    } catch (error) {
      say(
        `The official Pulumi CLI can't be downloaded from ${address}: ${reasonOf(error)}. ` +
          "HTTPS_PROXY names a proxy, COMPUTE_PULUMI_MIRROR a mirror.",
      );
      return undefined;
    }
    try {
      await verify(archive, address, pinnedSha256);
      await unpack(archive, target);
    } finally {
      rmSync(archive, { force: true });
    }
    return cli;
  });
}

/**
 * How long a connection may take, in milliseconds. If no connection is made in this time, the CLI counts as not
 * downloadable, and the caller builds it from Go modules.
 */
const connectTimeoutMs = 4000;

async function downloadWithBar(
  version: string,
  address: string,
  archive: string,
  { say, answerTimeoutMs, idleTimeoutMs }: OfficialPulumiOptions,
): Promise<void> {
  say(`Downloading the official Pulumi CLI ${version} (once) …`);
  const bar = createProgressBar();
  // Loaded only here, because most runs download nothing.
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // The agent honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: connectTimeoutMs } });
  try {
    await download(address, archive, {
      fetch: (url, { signal }) => fetch(url, { signal, dispatcher }),
      onProgress: bar.show,
      ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    });
  } finally {
    bar.end();
    void dispatcher.destroy();
  }
}

/** Checks the checksum of the archive. @throws {ToolError} that names both checksums, if it is not the pinned one */
async function verify(archive: string, address: string, pinned: string): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(archive), hash);
  const found = hash.digest("hex");
  if (found === pinned) return;
  throw new ToolError(
    `The archive from ${address} is not the pinned one. Its SHA-256 is ${found}; the pinned SHA-256 is ${pinned}. ` +
      "Nothing of it was used. Check what changes downloads between this machine and the server (a proxy, a mirror), " +
      "or install the Pulumi CLI (https://www.pulumi.com/docs/install/), and run this again.",
  );
}

/** Unpacks the archive's folder `pulumi/` to `target`. If this is interrupted, there is no `target`. */
async function unpack(archive: string, target: string): Promise<void> {
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

/**
 * Returns the message of the innermost cause, because the outer messages (`fetch failed`, `terminated`) give no reason.
 */
function reasonOf(error: unknown): string {
  const cause = fieldOf(error, "cause");
  if (cause !== undefined) return reasonOf(cause);
  return String(fieldOf(error, "message") || (fieldOf(error, "code") ?? error));
}
