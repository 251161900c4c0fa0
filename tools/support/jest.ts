/**
 * Runs jest as every script of ours does, and says what came of it: the figures, what was skipped, what
 * failed and how to run it alone; ends with `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describeFigures, figuresVariable, readFigures } from "./figures";
import { ToolError } from "./main";
import { root } from "./paths";

interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    /** The path of the file. */
    name: string;
    status: "passed" | "failed";
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/** Sets the exit code. */
export function runJest(args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const scratch = mkdtempSync(join(tmpdir(), "compute-test-"));
  const results = join(scratch, "results.json");
  const figures = join(scratch, "figures");
  try {
    const jest = join(root, "node_modules", "jest", "bin", "jest.js");
    const isWatching = args.some((arg) => /^--watch/.test(arg));
    const { status } = spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", jest, "--json", `--outputFile=${results}`, ...args],
      {
        cwd: root,
        env: { ...process.env, ...env, [figuresVariable]: figures },
        // Its keys are for `--watch`. jest prints its JSON to stdout as well; what a person reads goes
        // to stderr.
        stdio: [isWatching ? "inherit" : "ignore", "ignore", "inherit"],
      },
    );
    const result = readResult(results);
    for (const line of describeFigures(readFigures(figures))) console.log(line);
    // With a pattern, all but what it asks for counts as skipped.
    if (!args.some((arg) => /^(-t|--testNamePattern)/.test(arg))) sayWhatWasSkipped(result);
    sayWhatFailed(result);
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    const skipped = result.numPendingTests > 0 ? `, ${result.numPendingTests} skipped` : "";
    console.log(`${result.numPassedTests} passed, ${failed} failed${skipped}`);
    process.exitCode = status === 0 && failed === 0 && result.numPassedTests > 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Why, too: the title of a test that is skipped tells it. */
function sayWhatWasSkipped({ testResults }: JestResult): void {
  for (const { name, assertionResults } of testResults) {
    for (const { status, fullName } of assertionResults) {
      if (status === "pending") console.log(`skipped in ${relative(root, name)}: ${fullName}`);
    }
  }
}

function sayWhatFailed({ testResults }: JestResult): void {
  for (const { name, status } of testResults) {
    const path = relative(root, name);
    if (status === "failed") console.log(`failed: ${path}; alone: \`npm test -- ${path}\``);
  }
}

function readResult(file: string): JestResult {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JestResult;
  } catch {
    throw new ToolError("jest ended without results; what it said is above");
  }
}
