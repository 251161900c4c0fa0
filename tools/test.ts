/**
 * `npm test`: every test, in jest. Arguments go to jest (`npm test -- --selectProjects unit`). The
 * toolchain and the plugin are built only where a test needs them.
 */
import { runJest } from "./support/jest";
import { runTool } from "./support/main";

runTool(async (args) => runJest(args));
