/** The single executable of a platform: its Node, with the plugin put into it on this machine. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable } from "../../provider/executable";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { ensureGoTool } from "../go/tools";
import type { Parts } from "./parts";
import type { Platform } from "./platforms";
import { ensureRuntime, nodeIn } from "./runtime";

/** Writes it to `target`, and returns the paths from the root of what it was made from. */
export async function makeExecutable(
  platform: Platform,
  parts: Parts,
  target: string,
): Promise<readonly string[]> {
  const node = nodeIn(platform, await ensureRuntime(platform));
  mkdirSync(dirname(target), { recursive: true });
  const scratch = mkdtempSync(`${target}-`);
  try {
    const write = (name: string, content: string | Buffer) =>
      writeFileSync(join(scratch, name), content, { mode: 0o755 });
    const runtime = readFileSync(join(root, node));
    write("node", platform.startsWith("windows-") ? withoutSignature(runtime) : runtime);
    write("start.js", parts.start);
    for (const [name, content] of Object.entries(parts.assets)) write(name, content);
    const names = Object.keys(parts.assets);
    write(
      "config.json",
      // The paths get into the executable: none of this machine's.
      JSON.stringify({
        main: "start.js",
        executable: "node",
        output: "plugin",
        assets: Object.fromEntries(names.map((name) => [name, name])),
        disableExperimentalSEAWarning: true,
        // NODE_OPTIONS is meant for a Node program that happens to run Pulumi.
        execArgvExtension: "none",
      }),
    );
    await captured(process.execPath, ["--build-sea", "config.json"], { cwd: scratch });
    const plugin = join(scratch, "plugin");
    if (platform.startsWith("darwin-")) await sign(plugin);
    check(readFileSync(plugin), [parts.start, ...Object.values(parts.assets)]);
    renameSync(plugin, target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return [...parts.inputs, node];
}

/** Without a certificate: it names no publisher, but macOS starts nothing that is not signed. */
async function sign(plugin: string): Promise<void> {
  await captured(await ensureGoTool("quill"), [
    "sign",
    "--ad-hoc",
    "--identity",
    executable,
    plugin,
  ]);
}

/**
 * A Windows executable (PE32+) without the signature of its publisher, which stands last. It would not
 * hold for what is made of it, and an invalid signature is worse than none.
 */
function withoutSignature(file: Buffer): Buffer {
  // The fifth directory of the optional header: the file offset and the size of the certificates.
  const directory = file.readUInt32LE(0x3c) + 24 + 112 + 4 * 8;
  const [start, size] = [file.readUInt32LE(directory), file.readUInt32LE(directory + 4)];
  if (size === 0) return file;
  if (start + size !== file.length)
    throw new Error("the signature of node.exe does not stand last");
  return Buffer.from(file.subarray(0, start)).fill(0, directory, directory + 8);
}

/** Throws unless all parts are in it, and Node looks for them. It can't be started on every machine. */
function check(file: Buffer, parts: readonly (Buffer | string)[]): void {
  // Node looks for a plugin in itself only when the last character of this is 1.
  if (!file.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1")) {
    throw new Error("Node in the executable does not look for a plugin");
  }
  if (!parts.every((part) => file.includes(part))) throw new Error("the executable lacks a part");
}
