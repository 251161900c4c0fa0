/** The table of guarantees in ARCHITECTURE.md: its files exist, and its tests name the guarantee that they show. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../support/paths";

interface Guarantee {
  name: string;
  holders: string[];
  tests: string[];
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const guarantees = [...read("ARCHITECTURE.md").matchAll(/^\| (G\d+) .*\|$/gm)].map(guaranteeOf);

function guaranteeOf([row, name = ""]: RegExpMatchArray): Guarantee {
  const [, , holders = "", tests = ""] = row.split("|");
  return { name, holders: filesIn(holders), tests: filesIn(tests) };
}

/** `a/{b,c}.ts` in backticks is two files. */
function filesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`{]*)(?:\{([^}]*)\}([^`]*))?`/g)].flatMap(
    ([, before = "", choices, after = ""]) =>
      choices === undefined ? [before] : choices.split(",").map((one) => before + one + after),
  );
}

test("all ten guarantees are in the table, in order", () => {
  const names = Array.from({ length: 10 }, (_, index) => `G${index + 1}`);
  expect(guarantees.map(({ name }) => name)).toEqual(names);
});

test.each(guarantees)("$name: the files that hold it exist", ({ holders }) => {
  expect(holders.length).toBeGreaterThan(0);
  expect(holders.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(guarantees)("$name: the tests that show it exist, and name it", ({ name, tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((path) => !path.endsWith(".test.ts"))).toEqual([]);
  const names = new RegExp(`\\b${name}\\b`);
  const silent = tests.filter((path) => !names.test(read(path)));
  expect(silent).toEqual([]);
});

test("no test names a guarantee that is not in the table", () => {
  const known = new Set(guarantees.map(({ name }) => name));
  const tests = guarantees.flatMap((guarantee) => guarantee.tests);
  const unknown = tests.flatMap((path) =>
    (read(path).match(/\bG\d+\b/g) ?? []).filter((name) => !known.has(name)),
  );
  expect(unknown).toEqual([]);
});

test("each test that SECURITY.md names exists", () => {
  const named = filesIn(read("SECURITY.md")).filter((path) => path.endsWith(".test.ts"));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
});
