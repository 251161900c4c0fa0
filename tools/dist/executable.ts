/** The single executable of a platform: its Node, with the plugin put into it on this machine. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable } from "../../provider/executable";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { ensureGoTool } from "../go/tools";
import { checkExecutable, formats } from "./check";
import type { Parts } from "./parts";
import { platforms, type Platform } from "./platforms";
import { ensureRuntime, nodeIn } from "./runtime";

/** Writes it to `target`, and returns the paths from the root of what it was made from. */
export async function makeExecutable(
  platform: Platform,
  parts: Parts,
  target: string,
): Promise<readonly string[]> {
  const { format } = platforms[platform];
  const node = nodeIn(platform, await ensureRuntime(platform));
  mkdirSync(dirname(target), { recursive: true });
  const scratch = mkdtempSync(`${target}-`);
  try {
    const write = (name: string, content: string | Buffer) =>
      writeFileSync(join(scratch, name), content, { mode: 0o755 });
    write("node", formats[format].slim(readFileSync(join(root, node))));
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
    if (format === "macho") await sign(plugin);
    checkExecutable(platform, readFileSync(plugin), [parts.start, ...Object.values(parts.assets)]);
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
