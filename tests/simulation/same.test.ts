/** Tests that the same seed produces the same history, byte for byte, even on a busy machine. */
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { history } from "./history";
import { tell } from "./search";

async function traces(): Promise<string> {
  const histories = fc.sample(history, { seed: 7, numRuns: 30 });
  const all: string[] = [];
  for (const sample of histories) all.push((await tell(sample)).join("\n"));
  return all.join("\n\n");
}

test("the same seed produces the same trace twice, the second time beside two busy loops", async () => {
  const first = await traces();
  const busy = [0, 1].map(() => new Worker("for (;;);", { eval: true }));
  try {
    expect(await traces()).toBe(first);
  } finally {
    await Promise.all(busy.map((worker) => worker.terminate()));
  }
  expect(first.split("\n").length).toBeGreaterThan(1000);
});
