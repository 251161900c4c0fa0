/**
 * Runs `npm run explore`, which walks every history of the create protocol. No history may break a promise, and without any one
 * of the protocol's rules, some history must. With `--rim`, a unit test must fail without any one of the rules around a create.
 */
import { expect, test } from "@jest/globals";
import { runToolProcess } from "../../support/tool";

/** This takes minutes of CPU, so far more on a machine that does something else, too. */
const timeoutMs = 3_600_000;

test(
  "no history of the create protocol loses an instance (G1) or creates one twice (G2), and each of its rules is needed",
  async () => {
    const { code, printed } = await runToolProcess("explore");
    if (code !== 0) throw new Error(printed);
    const [, killed, mutants] = /^mutants killed: (\d+) of (\d+)$/m.exec(printed) ?? [];
    expect(Number(killed)).toBeGreaterThan(0);
    expect(killed).toBe(mutants);
  },
  timeoutMs,
);

test(
  "each rule around a create has a test that fails without it",
  async () => {
    const { code, printed } = await runToolProcess("explore", ["--rim"]);
    if (code !== 0) throw new Error(printed);
    const [, noticed, rules] = /fails without them: (\d+) of (\d+),/.exec(printed) ?? [];
    expect(Number(noticed)).toBeGreaterThan(0);
    expect(noticed).toBe(rules);
  },
  timeoutMs,
);
