/**
 * Runs `npm run explore`, which walks every history of the create protocol. No promise may be broken, and a
 * promise must break for each rule that is left out. It runs in its own process, because Jest makes it far slower.
 */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { runToolProcess } from "../support/tool";

test("no history of the create protocol breaks a promise (G1, G2), and none of its rules can be left out", async () => {
  const { code, printed } = await runToolProcess("explore");
  if (code !== 0) throw new Error(printed);
  const [, killed, mutants] = /^mutants killed: (\d+) of (\d+)$/m.exec(printed) ?? [];
  expect(killed).toBe(mutants);
  const [, states, slices] = /^(\d+) states in (\d+) slices/m.exec(printed) ?? [];
  expect(Number(states)).toBeGreaterThan(100_000);
  reportFigures("explored", {
    states: Number(states),
    slices: Number(slices),
    "rules left out, and noticed": Number(killed),
  });
});
