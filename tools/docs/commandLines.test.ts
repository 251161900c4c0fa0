/** Tests the parser of shell blocks. */
import { expect, test } from "@jest/globals";
import { commandsIn } from "./commandLines";

const wordsIn = (block: string) => commandsIn(block).map(({ line, words }) => [line, ...words]);

test("comments are left out, and quotes and backslashes join words", () => {
  const block = [
    "# first",
    "pulumi up     # again: it's fine",
    "  audit '<urn> #1' \"a b\"c d\\ e",
    "",
    "npm start",
  ].join("\n");
  expect(wordsIn(block)).toEqual([
    [2, "pulumi", "up"],
    [3, "audit", "<urn> #1", "a bc", "d e"],
    [5, "npm", "start"],
  ]);
});

test("a line can hold several commands, and a command can have several lines", () => {
  const block = "A=1 B=2 one | two && three; four\npulumi up \\\n  --yes # so\nfive";
  expect(wordsIn(block)).toEqual([
    [1, "one"],
    [1, "two"],
    [1, "three;", "four"],
    [2, "pulumi", "up", "--yes"],
    [4, "five"],
  ]);
});

test("a line that only sets variables is not a command", () => {
  expect(wordsIn("A=1\ncode=$B")).toEqual([]);
});
