/** Runs a tool as `npm run` does, in a process of its own. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../../tools/support/paths";

/** Returns the exit code of the tool, and everything that it printed. */
export function runToolProcess(
  name: string,
  args: readonly string[] = [],
): Promise<{ code: number | null; printed: string }> {
  const tool = join(root, "tools", `${name}.ts`);
  const child = spawn(process.execPath, ["--import", "tsx", tool, ...args], { cwd: root });
  let printed = "";
  const add = (chunk: Buffer) => void (printed += chunk.toString());
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, printed }));
  });
}
