/** `npm run check`: types, lint with its import walls, format, unused code, stale generated files. */
import { spawn } from "node:child_process";
import { runTool, ToolError } from "./support/main";
import { nodeBin, root } from "./support/paths";
import { join } from "node:path";

const checks: Record<string, readonly string[]> = {
  types: [join(nodeBin, "tsc"), "-p", "."],
  lint: [join(nodeBin, "eslint"), "."],
  format: [join(nodeBin, "prettier"), "--check", "--log-level=warn", "."],
  "unused code": [join(nodeBin, "knip"), "--no-progress"],
  "generated files": ["--import", "tsx", join(root, "tools", "generate.ts"), "--check"],
};

async function main(): Promise<void> {
  const failed: string[] = [];
  for (const [name, command] of Object.entries(checks)) {
    const { code, output } = await run(command);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${name}`);
    if (code === 0) continue;
    failed.push(name);
    console.log(output.trimEnd().replace(/^/gm, "       "));
  }
  if (failed.length > 0) {
    const mend = failed.includes("format") ? " `npx prettier --write .` mends the format." : "";
    throw new ToolError(`${failed.join(", ")}: see above.${mend}`);
  }
}

/** On this very Node, whatever `#!` line the command has. */
function run(command: readonly string[]): Promise<{ code: number | null; output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    code: number | null;
    output: string;
  }>();
  const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  child.on("error", reject);
  child.on("close", (code) => resolve({ code, output }));
  return promise;
}

runTool({}, main);
