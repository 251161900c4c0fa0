/**
 * Runs jest, and prints a summary: skipped tests, the command that runs each failed file alone, the slowest files, and
 * `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";
import { readIfThere, temporaryFolder } from "./files";
import { root } from "./paths";

export interface JestRun {
  /** Of jest.config.cjs. The default is all. */
  projects?: readonly string[];
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** What we use of the output of `--json`. */
interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    status: "passed" | "failed";
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/** Runs all, even after one fails, and sets the exit code. */
export function runJest(runs: readonly JestRun[]): void {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  let isGood = true;
  for (const run of runs) {
    const { status, result } = runOnce(run);
    if (result === undefined) {
      console.log("failed: jest ended without results; see its output above");
      sum.failed++;
      continue;
    }
    printSummary(run, result);
    sum.passed += result.numPassedTests;
    sum.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
    sum.skipped += result.numPendingTests;
    isGood &&= status === 0 && result.numPassedTests > 0;
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
  console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
  process.exitCode = isGood && sum.failed === 0 ? 0 : 1;
}

/** Starts jest once. Returns its exit code, and its results if there are any. */
function runOnce({ projects = [], args = [], env }: JestRun) {
  using scratch = temporaryFolder();
  const results = join(scratch.path, "results.json");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const isWatching = args.some((arg) => /^--watch/.test(arg));
  const selected = projects.length > 0 ? ["--selectProjects", ...projects] : [];
  const report = ["--json", `--outputFile=${results}`];
  const allArgs = ["--disable-warning=ExperimentalWarning", jest, ...report, ...args, ...selected];
  const { status } = spawnSync(process.execPath, allArgs, {
    cwd: root,
    env: { ...process.env, ...env },
    // `--watch` reads keys. jest's stdout has only the JSON; its report goes to stderr.
    stdio: [isWatching ? "inherit" : "ignore", "ignore", "inherit"],
  });
  const json = readIfThere(results);
  return { status, result: json === undefined ? undefined : (JSON.parse(json) as JestResult) };
}

const maxSlowFiles = 10;

function printSummary({ args = [], env = {} }: JestRun, { testResults }: JestResult): void {
  // With a pattern for titles, jest counts all other tests as skipped.
  const hasPattern = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  for (const { name, status, assertionResults } of testResults) {
    const path = relative(root, name);
    const skipped = assertionResults.filter((result) => result.status === "pending" && !hasPattern);
    // The title of a skipped test says why it is skipped.
    for (const { fullName } of skipped) console.log(`skipped in ${path}: ${fullName}`);
    const command = `${settings.join("")}npm test -- ${path}`;
    if (status === "failed") console.log(`failed: ${path}; to run it alone: \`${command}\``);
  }
  if (testResults.length <= maxSlowFiles) return;
  const slowest = testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, maxSlowFiles);
  console.log("the slowest files:");
  for (const { name, seconds } of slowest)
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${relative(root, name)}`);
}
