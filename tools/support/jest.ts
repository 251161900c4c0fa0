/**
 * Runs jest as every script of ours does, and says what came of it: the figures, what was skipped, what
 * failed and how to run it alone, the slowest files; ends with `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root } from "./paths";

/** The environment variable that names the file to which tests write their figures, one JSON document per line. */
export const figuresVariable = "COMPUTE_FIGURES";

/** What a test has counted: how many cases, how many went wrong. */
export interface Figures {
  /** What was counted. */
  of: string;
  figures: Readonly<Record<string, number>>;
}

function readFigures(file: string): Figures[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Figures);
}

/** One line for each, and a last line with the sums of those that count cases. */
function describeFigures(all: readonly Figures[]): string[] {
  const cases = all.filter(({ figures }) => "cases" in figures);
  const sums: Record<string, number> = {};
  for (const { figures } of cases) {
    for (const [what, count] of Object.entries(figures)) sums[what] = (sums[what] ?? 0) + count;
  }
  const lines = all.map(({ of, figures }) => `${of}: ${words(figures)}`);
  return cases.length > 1 ? [...lines, `faults in all: ${words(sums)}`] : lines;
}

export function words(figures: Figures["figures"]): string {
  return Object.entries(figures)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");
}

/** One start of jest. */
export interface JestRun {
  /** Names of those of jest.config.cjs; all if left out. */
  projects?: readonly string[];
  /** For jest itself. */
  args?: readonly string[];
  /** Beside the environment of this process. */
  env?: Readonly<Record<string, string>>;
}

interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: FileResult[];
}

interface FileResult {
  /** The path of the file. */
  name: string;
  status: "passed" | "failed";
  startTime: number;
  endTime: number;
  assertionResults: { status: string; fullName: string }[];
}

/** One run after the other, whatever fails; then what came of them all. Sets the exit code. */
export function runJest(runs: readonly JestRun[]): void {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  let allWell = true;
  for (const run of runs) {
    const { status, result, figures } = outcomeOf(run);
    for (const line of describeFigures(figures)) console.log(line);
    // With a pattern, all but what it asks for counts as skipped.
    if (!run.args?.some((arg) => /^(-t|--testNamePattern)/.test(arg))) sayWhatWasSkipped(result);
    sayWhatFailed(result, run);
    sayWhatWasSlow(result);
    sum.passed += result.numPassedTests;
    sum.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
    sum.skipped += result.numPendingTests;
    allWell &&= status === 0 && result.numPassedTests > 0;
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
  console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
  process.exitCode = allWell && sum.failed === 0 ? 0 : 1;
}

function outcomeOf({ projects = [], args = [], env }: JestRun): {
  status: number | null;
  result: JestResult;
  figures: Figures[];
} {
  const scratch = mkdtempSync(join(tmpdir(), "compute-test-"));
  const results = join(scratch, "results.json");
  const figures = join(scratch, "figures");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const isWatching = args.some((arg) => /^--watch/.test(arg));
  const selected = projects.length > 0 ? ["--selectProjects", ...projects] : [];
  try {
    const { status } = spawnSync(
      process.execPath,
      [
        ...["--disable-warning=ExperimentalWarning", jest, "--json", `--outputFile=${results}`],
        ...args,
        ...selected,
      ],
      {
        cwd: root,
        env: { ...process.env, ...env, [figuresVariable]: figures },
        // Its keys are for `--watch`. jest prints its JSON to stdout as well; what a person reads goes
        // to stderr.
        stdio: [isWatching ? "inherit" : "ignore", "ignore", "inherit"],
      },
    );
    return { status, result: readResult(results), figures: readFigures(figures) };
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

function sayWhatFailed({ testResults }: JestResult, { env = {} }: JestRun): void {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  for (const { name, status } of testResults) {
    const path = relative(root, name);
    const command = `${settings.join("")}npm test -- ${path}`;
    if (status === "failed") console.log(`failed: ${path}; alone: \`${command}\``);
  }
}

const mostSlow = 10;

/** Where there are so many that it is worth a look. */
function sayWhatWasSlow({ testResults }: JestResult): void {
  if (testResults.length <= mostSlow) return;
  const seconds = ({ startTime, endTime }: FileResult) => (endTime - startTime) / 1000;
  const slowest = [...testResults].sort((one, other) => seconds(other) - seconds(one));
  console.log("the slowest files:");
  for (const file of slowest.slice(0, mostSlow)) {
    console.log(`${seconds(file).toFixed(1).padStart(7)} s  ${relative(root, file.name)}`);
  }
}

function readResult(file: string): JestResult {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JestResult;
  } catch {
    console.log("failed: jest ended without results; what it said is above");
    const nothing = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] };
    return { ...nothing, numRuntimeErrorTestSuites: 1 };
  }
}
