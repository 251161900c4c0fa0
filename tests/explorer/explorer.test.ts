/**
 * Runs `npm run explore -- --shallow`, which walks the histories of the create protocol with few faults. No history may break a
 * promise. `rest/` walks them all. It runs in its own process, because Jest makes it far slower.
 */
import { expect, test } from "@jest/globals";
import { runToolProcess } from "../support/tool";
import type { Depth } from "./slice";
import { slicesOf } from "./slices";

test("no history with few faults loses an instance (G1) or creates one twice (G2)", async () => {
  const { code, printed } = await runToolProcess("explore", ["--shallow"]);
  if (code !== 0) throw new Error(printed);
  const [, states] = /^(\d+) states in \d+ slices/m.exec(printed) ?? [];
  expect(Number(states)).toBeGreaterThan(100_000);
});

test("a shallow walk has each kind of fault and each act", () => {
  const kindsOf = (depth: Depth) =>
    new Set(
      slicesOf(depth).flatMap(({ faults, maxFaults, acts = [] }) => [
        ...(maxFaults > 0 ? faults : []),
        ...acts,
      ]),
    );
  expect(kindsOf("shallow")).toEqual(kindsOf("deep"));
});
