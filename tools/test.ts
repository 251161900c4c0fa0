/**
 * `npm test` runs the quick tests: unit tests, the service's contract, every history of a create, the
 * simulation, life cycles over real sockets, and the core tests with the real engine. It takes minutes.
 * `npm run test:all` (`--all`) runs the others with the real engine: pipelines, backends, languages, code
 * blocks, installations, executables, API docs, and the core tests once more with the oldest engine.
 * `--both` runs both, as continuous integration does, and prints the sum.
 *
 * Other arguments go to jest (`npx jest --help`): a path, `--selectProjects=unit`. With a path, all tests
 * that match it run. The toolchain and the plugin are built only if a test needs them.
 */
import { runJest, type JestRun } from "./support/jest";
import { runWithArguments } from "./support/main";

const quick: readonly JestRun[] = [
  { projects: ["unit", "contract", "explorer", "simulation", "lifecycle", "core"] },
];
const rest: readonly JestRun[] = [
  { projects: ["all"] },
  { projects: ["core"], env: { COMPUTE_TEST_ENGINE: "oldest" } },
];

runWithArguments(async (args) => {
  const runs = args.includes("--both")
    ? [...quick, ...rest]
    : args.includes("--all")
      ? rest
      : quick;
  const others = args.filter((arg) => !["--both", "--all"].includes(arg));
  const hasSelection = others.some(
    (arg) => !arg.startsWith("-") || /^--(selectProjects|watch)/.test(arg),
  );
  runJest(hasSelection ? [{ args: others }] : runs.map((run) => ({ ...run, args: others })));
});
