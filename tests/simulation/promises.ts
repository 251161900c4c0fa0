/** A share of the histories that `npm test` plays; each file of them runs on a core of its own. */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { commandFor, search, tell } from "./search";

export function playHistories(seed: number, histories: number): void {
  test(`${histories} histories from seed ${seed}: nothing is lost, doubled or forgotten`, async () => {
    const { broken, ...figures } = await search(seed, histories);
    if (broken) {
      const told = (await tell(broken.history)).join("\n");
      throw new Error(`${broken.promise}\nagain: ${commandFor(broken)}\n${told}`);
    }
    reportFigures(`simulated histories, seed ${seed}`, {
      ...figures,
      lost: 0,
      doubled: 0,
      "wrongly forgotten": 0,
    });
    expect(figures.histories).toBe(histories);
  });
}
