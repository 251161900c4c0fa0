/**
 * `npm run test:faults -- [CASES]`: the fault matrix alone, with more cases at random than `npm test` has
 * time for (2000 unless said otherwise). COMPUTE_SEED plays those of an earlier run again.
 */
import { runJest } from "./support/jest";
import { runTool, ToolError } from "./support/main";

runTool({ allowPositionals: true }, async ({ positionals: [cases = "2000"] }) => {
  if (!/^\d+$/.test(cases)) throw new ToolError(`CASES must be a whole number, not "${cases}".`);
  // The tests begin from the same seed each time; who looks for longer looks elsewhere.
  const seed = process.env["COMPUTE_SEED"] ?? String(Date.now() % 1_000_000);
  const env = { COMPUTE_RANDOM_CASES: cases, COMPUTE_SEED: seed };
  runJest(["tests/lifecycle/matrix", "tests/engine/faultMatrix"], env);
});
