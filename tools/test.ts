/**
 * `npm test`: all but the outer rings, in minutes: unit tests, the service's contract, every history of a
 * create, the simulation, life cycles over real sockets, and the core of what the real engine shows.
 * `npm run test:all` (`--all`): what that leaves out, in the real engine too: pipelines, backends, languages,
 * code blocks, installations, executables, API docs, and the core once more with the oldest engine.
 * `--both`: one after the other, and the sum, as in continuous integration.
 *
 * Other arguments go to jest (`npx jest --help`): a path, `--selectProjects=unit`. What a path finds is run
 * wherever it belongs. The toolchain and the plugin are built only where a test needs them.
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
  const choosesItself = others.some(
    (arg) => !arg.startsWith("-") || /^--(selectProjects|watch)/.test(arg),
  );
  runJest(choosesItself ? [{ args: others }] : runs.map((run) => ({ ...run, args: others })));
});
