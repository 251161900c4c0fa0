/**
 * `npm test`: every test, in jest. Arguments go to jest (`npm test -- --selectProjects unit`). The
 * toolchain and the plugin are built only where a test needs them. Ends with `N passed, N failed`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { runTool, ToolError } from "./support/main";
import { root } from "./support/paths";

interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
}

async function main(args: readonly string[]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "compute-test-"));
  const results = join(scratch, "results.json");
  try {
    const jest = join(root, "node_modules", "jest", "bin", "jest.js");
    const { status } = spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", jest, "--json", `--outputFile=${results}`, ...args],
      // jest prints its JSON to stdout as well; what a person reads goes to stderr.
      { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
    );
    const result = readResult(results);
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    const skipped = result.numPendingTests > 0 ? `, ${result.numPendingTests} skipped` : "";
    console.log(`${result.numPassedTests} passed, ${failed} failed${skipped}`);
    process.exitCode = status === 0 && failed === 0 && result.numPassedTests > 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readResult(file: string): JestResult {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JestResult;
  } catch {
    throw new ToolError("jest ended without results; what it said is above");
  }
}

runTool(main);
