/**
 * `npm test`: runs the quick tests: unit tests, the service's contract, the histories of a create with few faults, the simulation,
 * life cycles over real sockets, the emulator's page, and the core tests with the real engine. It takes minutes.
 *
 *   --all    runs all tests, as continuous integration does
 *   --rest   runs only those that the quick ones leave out: all histories, pipelines, backends, languages, code blocks,
 *            installations, executables, and the core tests once more with the oldest engine
 *
 * Other arguments go to jest (`npx jest --help`): a path, `--selectProjects=unit`. With a path, all tests
 * that match it run. The toolchain and the plugin are built only if a test needs them.
 */
import { runJest, type JestRun } from "./support/jest";
import { runWithArguments } from "./support/main";

const quick: readonly JestRun[] = [
  { projects: ["unit", "contract", "explorer", "simulation", "lifecycle", "page", "core"] },
];
const rest: readonly JestRun[] = [
  { projects: ["rest"] },
  { projects: ["core"], env: { COMPUTE_TEST_ENGINE: "oldest" } },
];

runWithArguments(async (args) => {
  const runs = args.includes("--all")
    ? [...quick, ...rest]
    : args.includes("--rest")
      ? rest
      : quick;
  const others = args.filter((arg) => !["--all", "--rest"].includes(arg));
  const isValue = (at: number) =>
    /^(-t|-w|--testNamePattern|--maxWorkers|--testTimeout)$/.test(others[at - 1] ?? "");
  const hasSelection = others.some((arg, at) =>
    arg.startsWith("-") ? /^--(selectProjects|watch)/.test(arg) : !isValue(at),
  );
  runJest(hasSelection ? [{ args: others }] : runs.map((run) => ({ ...run, args: others })));
});
