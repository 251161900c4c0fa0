/**
 * Runs jest, and prints a summary: the figures that tests have counted, the skipped tests, the failed files with the
 * command that runs each of them alone, the slowest files, and at the end `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { readIfThere } from "./files";
import { root } from "./paths";

/** The environment variable that names the file to which tests write their figures, one JSON document per line. */
export const figuresVariable = "COMPUTE_FIGURES";

/** What a test has counted, for example the number of cases and of failures. */
export interface Figures {
  /** What was measured, as a title. */
  of: string;
  figures: Readonly<Record<string, number>>;
}

/** One start of jest. */
export interface JestRun {
  /** Names of projects in jest.config.cjs. The default is all projects. */
  projects?: readonly string[];
  /** Arguments for jest itself. */
  args?: readonly string[];
  /** Variables that are added to the environment of this process. */
  env?: Readonly<Record<string, string>>;
}

/** The fields that we use of the file that jest writes with `--json`. */
interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    /** The path of the file. */
    name: string;
    status: "passed" | "failed";
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/** Runs jest for each of these runs, even after one fails, and sets the exit code. */
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

/** Starts jest once, and prints the figures of its tests. Returns its exit code and its results, if there are any. */
function runOnce({ projects = [], args = [], env }: JestRun) {
  const scratch = mkdtempSync(join(tmpdir(), "compute-test-"));
  const results = join(scratch, "results.json");
  const figures = join(scratch, "figures");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const isWatching = args.some((arg) => /^--watch/.test(arg));
  try {
    const { status } = spawnSync(
      process.execPath,
      [
        ...["--disable-warning=ExperimentalWarning", jest, "--json", `--outputFile=${results}`],
        ...args,
        ...(projects.length > 0 ? ["--selectProjects", ...projects] : []),
      ],
      {
        cwd: root,
        env: { ...process.env, ...env, [figuresVariable]: figures },
        // `--watch` reads keys. The stdout of jest is ignored, because it has only the JSON. Its report goes to stderr.
        stdio: [isWatching ? "inherit" : "ignore", "ignore", "inherit"],
      },
    );
    printFigures(readIfThere(figures) ?? "");
    const json = readIfThere(results);
    return { status, result: json === undefined ? undefined : (JSON.parse(json) as JestResult) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints one line for each test with figures. If several of these tests count cases, a last line has their sums. */
function printFigures(jsonLines: string): void {
  const all = jsonLines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Figures);
  for (const { of, figures } of all) console.log(`${of}: ${formatFigures(figures)}`);
  const cases = all.filter(({ figures }) => "cases" in figures);
  if (cases.length < 2) return;
  const sums: Record<string, number> = {};
  for (const [what, count] of cases.flatMap(({ figures }) => Object.entries(figures))) {
    sums[what] = (sums[what] ?? 0) + count;
  }
  console.log(`faults in all: ${formatFigures(sums)}`);
}

/** Writes the figures as one line: "cases 12, failures 0". */
export function formatFigures(figures: Figures["figures"]): string {
  return Object.entries(figures)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");
}

/** How many of the slowest files are printed. */
const maxSlowFiles = 10;

function printSummary({ args = [], env = {} }: JestRun, { testResults }: JestResult): void {
  // With a pattern for titles, jest counts all other tests as skipped.
  const hasPattern = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  for (const { name, status, assertionResults } of testResults) {
    const path = relative(root, name);
    const skipped = assertionResults.filter((it) => it.status === "pending" && !hasPattern);
    // The title of a skipped test says why it is skipped.
    for (const { fullName } of skipped) console.log(`skipped in ${path}: ${fullName}`);
    const command = `${settings.join("")}npm test -- ${path}`;
    if (status === "failed") console.log(`failed: ${path}; to run it alone: \`${command}\``);
  }
  if (testResults.length <= maxSlowFiles) return;
  const times = testResults.map(({ name, startTime, endTime }) => ({
    path: relative(root, name),
    seconds: (endTime - startTime) / 1000,
  }));
  console.log("the slowest files:");
  for (const { path, seconds } of times
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, maxSlowFiles)) {
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${path}`);
  }
}
