/** `npm run check`: types, lint with its import walls, format, unused code, stale generated files. */
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
      // On this very Node, whatever `#!` line the command has.
      await captured(process.execPath, command, { cwd: root });
      console.log(`ok     ${name}`);
    } catch (error) {
      failed.push(name);
      const [, ...said] = (error as Error).message.split("\n");
      console.log(`FAILED ${name}\n${said.join("\n").replace(/^/gm, "       ")}`);
    }
  }
  if (failed.length > 0) {
    const mend = failed.includes("format") ? " `npx prettier --write .` mends the format." : "";
    throw new ToolError(`${failed.join(", ")}: see above.${mend}`);
  }
}

runTool({}, main);
