/** `npm run check`: checks types, lint, format, unused code, and whether generated files are up to date. */
import { join } from "node:path";
import { captured } from "./support/command";
import { runTool, ToolError } from "./support/main";
import { nodeBin, root } from "./support/paths";

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
    try {
      // Not with the Node of the command's `#!` line.
      await captured(process.execPath, command, { cwd: root });
      console.log(`ok     ${name}`);
    } catch (error) {
      failed.push(name);
      const [, ...output] = (error as Error).message.split("\n");
      console.log(`FAILED ${name}\n${output.join("\n").replace(/^/gm, "       ")}`);
    }
  }
  if (failed.length > 0) {
    const fix = failed.includes("format") ? " `npx prettier --write .` fixes the format." : "";
    throw new ToolError(`These checks failed: ${failed.join(", ")}. Their output is above.${fix}`);
  }
}

runTool({}, main);
