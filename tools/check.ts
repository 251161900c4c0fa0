/**
 * `npm run check`: checks types, lint, format, unused code, names, and whether generated files are up to date. It prints the
 * lines of code of each room.
 */
import { join } from "node:path";
import { codeFiles, codeLines, sharedNames } from "./support/code";
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

/** The names that may have two meanings, each with the reason. */
const namesToShare: Record<string, string> = {};

/** Checks that no two files of provider and commands declare a type or function of the same name. */
function checkNames(failed: string[]): void {
  const shared = [...sharedNames(codeFiles())].filter(([name]) => !(name in namesToShare));
  if (shared.length > 0) failed.push("names");
  console.log(shared.length > 0 ? "FAILED names" : "ok     names");
  for (const [name, paths] of shared)
    console.log(`       ${name} is declared in ${paths.join(" and ")}`);
}

/** Prints the lines of code of each room of provider and commands. */
function printLines(): void {
  const lines = [...codeLines(codeFiles())];
  const total = lines.reduce((sum, [, count]) => sum + count, 0);
  const rooms = lines.map(([room, count]) => `${room} ${count}`);
  console.log(`lines of code: ${total} (${rooms.join(", ")})`);
}

async function main(): Promise<void> {
  const failed: string[] = [];
  checkNames(failed);
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
  printLines();
  if (failed.length > 0) {
    const fix = failed.includes("format") ? " `npx prettier --write .` fixes the format." : "";
    throw new ToolError(`These checks failed: ${failed.join(", ")}. Their output is above.${fix}`);
  }
}

runTool({}, main);
