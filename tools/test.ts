/**
 * `npm test`: every test, in jest. Arguments go to jest (`npx jest --help`): a path, `--selectProjects=unit`.
 * The toolchain and the plugin are built only where a test needs them.
 */
import { runJest } from "./support/jest";
import { runWithArguments } from "./support/main";

runWithArguments(async (args) => runJest(args));
