/** Makes the single executable of a platform, which is the platform's Node with the plugin inside. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable } from "../../provider/process/executable";
import { captured } from "../support/command";
import { temporaryFolder } from "../support/files";
import { root } from "../support/paths";
import { ensureGoTool } from "../go/tools";
import type { Parts } from "./parts";
import { ensureRuntime, nodeIn, type Platform } from "./platforms";

/** Writes the executable to `target`. Returns the files it was made from. */
export async function makeExecutable(
  platform: Platform,
  parts: Parts,
  target: string,
): Promise<readonly string[]> {
  const node = nodeIn(platform, await ensureRuntime(platform));
  mkdirSync(dirname(target), { recursive: true });
  using temporary = temporaryFolder(`${target}-`);
  const scratch = temporary.path;
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(scratch, name), content, { mode: 0o755 });
  const runtime = readFileSync(join(root, node));
  write("node", platform.startsWith("windows-") ? withoutSignature(runtime) : runtime);
  write("start.js", parts.start);
  for (const [name, content] of Object.entries(parts.assets)) write(name, content);
  const names = Object.keys(parts.assets);
  write(
    "config.json",
    // Stored in the executable, so they are relative.
    JSON.stringify({
      main: "start.js",
      executable: "node",
      output: "plugin",
      assets: Object.fromEntries(names.map((name) => [name, name])),
      disableExperimentalSEAWarning: true,
      // Ignores NODE_OPTIONS, which is meant for the Node program that runs Pulumi.
      execArgvExtension: "none",
    }),
  );
  await captured(process.execPath, ["--build-sea", "config.json"], { cwd: scratch });
  const plugin = join(scratch, "plugin");
  if (platform.startsWith("darwin-")) {
    // macOS starts only signed executables. This signature has no certificate.
    const sign = ["sign", "--ad-hoc", "--identity", executable, plugin];
    await captured(await ensureGoTool("quill"), sign);
  }
  check(readFileSync(plugin), [parts.start, ...Object.values(parts.assets)]);
  renameSync(plugin, target);
  return [...parts.inputs, node];
}

/**
 * Removes the publisher's signature, at the end of a Windows executable (PE32+). After the change it would be
 * invalid, which is worse than none.
 */
function withoutSignature(file: Buffer): Buffer {
  // The fifth data directory of the optional header has the file offset and the size of the certificates.
  const directory = file.readUInt32LE(0x3c) + 24 + 112 + 4 * 8;
  const [start, size] = [file.readUInt32LE(directory), file.readUInt32LE(directory + 4)];
  if (size === 0) return file;
  if (start + size !== file.length) throw new Error("the signature of node.exe is not at its end");
  return Buffer.from(file.subarray(0, start)).fill(0, directory, directory + 8);
}

/**
 * Checks the file without starting it, since this machine may be of another platform. @throws if a part is missing,
 * or if Node would not look for the parts
 */
function check(file: Buffer, parts: readonly (Buffer | string)[]): void {
  // Node looks for a program inside itself only if this string ends in 1.
  if (!file.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1")) {
    throw new Error("Node in the executable does not look for a plugin");
  }
  if (!parts.every((part) => file.includes(part))) throw new Error("the executable lacks a part");
}
