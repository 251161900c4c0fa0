/**
 * Random histories from fixed seeds: no instance is lost (G1), created twice (G2) or wrongly reported as deleted
 * (G3). They run outside of Jest, where they are slower.
 */
import { expect, test } from "@jest/globals";
import { runToolProcess } from "../support/tool";

const histories = 20_000;

/** This takes minutes of CPU, so far more on a machine that does something else, too. */
const timeoutMs = 3_600_000;

test(
  `in ${histories} histories from fixed seeds, no instance is lost, created twice or forgotten`,
  async () => {
    const { code, printed } = await runToolProcess("explore", [
      "--histories",
      `${histories}`,
      "--from",
      "1",
    ]);
    if (code !== 0) throw new Error(printed);
    expect(printed).toMatch(new RegExp(`^${histories} histories of `, "m"));
    expect(printed).toContain("lost 0, created twice 0, wrongly forgotten 0");
  },
  timeoutMs,
);
