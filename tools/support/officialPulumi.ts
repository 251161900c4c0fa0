/** Downloads the official Pulumi CLI from its releases, checks it against the pinned checksum, and unpacks it. */
import { hash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fieldOf, unpack } from "./files";
import { ToolError } from "./main";
import { exe, toolsBin } from "./paths";
import { withLock } from "./products";
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
  /** The folder for the archive. tools/run.mjs may have put the archive there already. */
  downloads?: string;
}

/**
 * Returns the path of the CLI in an unpacked release, and downloads the release if it is not there. Undefined if it
 * can't be downloaded; `say` is then called with the reason.
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

  return withLock(`official-pulumi-${version}`, "downloading the Pulumi CLI", async () => {
    if (existsSync(cli)) return cli;
    const address = archiveAddress(release, platform);
    const archive = archivePath(address, options.downloads);
    try {
      if (!existsSync(archive)) {
        say(`Downloading the official Pulumi CLI ${version} (once) …`);
        await downloadThroughProxy(address, archive, options);
      }
    } catch (error) {
      say(
        `The official Pulumi CLI can't be downloaded from ${address}: ${reasonOf(error)}. ` +
          "HTTPS_PROXY names a proxy, COMPUTE_PULUMI_MIRROR a mirror.",
      );
      return undefined;
    }
    try {
      verify(archive, address, pinnedSha256);
      await unpack(archive, target);
    } finally {
      rmSync(archive, { force: true });
    }
    return cli;
  });
}

/** After this time without a connection, the CLI is built from Go modules instead. */
const connectTimeoutMs = 4000;

/** Downloads with the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. */
async function downloadThroughProxy(
  address: string,
  archive: string,
  options: OfficialPulumiOptions,
): Promise<void> {
  // Loaded only here, because most runs download nothing.
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: connectTimeoutMs } });
  try {
    await download(address, archive, {
      ...options,
      fetch: (url, { signal }) => fetch(url, { signal, dispatcher }),
    });
  } finally {
    void dispatcher.destroy();
  }
}

function verify(archive: string, address: string, pinned: string): void {
  const found = hash("sha256", readFileSync(archive));
  if (found === pinned) return;
  throw new ToolError(
    `The archive from ${address} is not the pinned one. Its SHA-256 is ${found}; the pinned SHA-256 is ${pinned}. ` +
      "Nothing of it was used. Check what changes downloads between this machine and the server (a proxy, a mirror), " +
      "or install the Pulumi CLI (https://www.pulumi.com/docs/install/), and run this again.",
  );
}

/** Returns the message of the innermost cause: the outer ones (`fetch failed`, `terminated`) give no reason. */
function reasonOf(error: unknown): string {
  const cause = fieldOf(error, "cause");
  if (cause !== undefined) return reasonOf(cause);
  return String(fieldOf(error, "message") || (fieldOf(error, "code") ?? error));
}
