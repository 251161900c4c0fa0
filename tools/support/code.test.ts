import { expect, test } from "@jest/globals";
import { codeLines, sharedNames } from "./code";

const text = `/** Says what it is.
 * Longer. */
export interface Look {}

function read() {
  // Why.
  return 1; // What.
}
const seen = 1;
`;
const other = "type Look = 1;\nclass Poller {}\nconst seen = 2;\n";

test("a line that is blank or a comment is no line of code", () => {
  const files = [
    { path: "cli/a.ts", text },
    { path: "cli/b.ts", text: other },
    { path: "cli/settle/c.ts", text: other },
  ];
  expect([...codeLines(files)]).toEqual([
    ["cli", 8],
    ["cli/settle", 3],
  ]);
});

test("a type or function that two files declare is named with both, and a constant is not", () => {
  const files = [
    { path: "cli/a.ts", text },
    { path: "cli/b.ts", text: other },
  ];
  expect([...sharedNames(files)]).toEqual([["Look", ["cli/a.ts", "cli/b.ts"]]]);
  expect(sharedNames(files.slice(1)).size).toBe(0);
});
