/** Tests what the progress bar prints on a terminal and in a log. */
import { expect, test } from "@jest/globals";
import { createProgressBar } from "./progressBar";

function printed(isTTY: boolean, shares: readonly number[]): string[] {
  const lines: string[] = [];
  const bar = createProgressBar({ isTTY, write: (text: string) => lines.push(text) > 0 });
  shares.forEach(bar.show);
  bar.end();
  return lines;
}

test("a log gets a line for each quarter", () => {
  const shares = [0.1, 0.25, 0.26, 0.3, 0.8, 1];
  expect(printed(false, shares)).toEqual(["  25 %\n", "  75 %\n", "  100 %\n"]);
});

test("a terminal gets one line, which is redrawn for each percent and cleared at the end", () => {
  const [half = "", ...rest] = printed(true, [0.5, 0.501, 1]);
  expect(half).toBe(`\r  [${"#".repeat(15)}${" ".repeat(15)}] 50 %`);
  expect(rest).toEqual([
    expect.stringMatching(/^\r {2}\[#{30}\] 100 %$/),
    expect.stringMatching(/^\r +\r$/),
  ]);
});
