/**
 * Every history of the create protocol, as `npm run explore` walks them: no promise is broken, and a
 * slice breaks for each rule that is left out. In a process of its own, since Jest makes it far slower.
 */
import { expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../../tools/support/paths";
import { reportFigures } from "../support/figures";

test("no history of the create protocol breaks a promise (G1, G2), and none of its rules can be left out", async () => {
  const { code, printed } = await explored();
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

function explored(): Promise<{ code: number | null; printed: string }> {
  const tool = join(root, "tools", "explore.ts");
  const child = spawn(process.execPath, ["--import", "tsx", tool], { cwd: root });
  let printed = "";
  const add = (chunk: Buffer) => void (printed += chunk.toString());
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, printed }));
  });
}
