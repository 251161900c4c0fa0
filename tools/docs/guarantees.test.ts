/**
 * The guarantees of ARCHITECTURE.md: who holds each is there, and the tests that show it say so. What
 * SECURITY.md points to is there too.
 */
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

test("all ten are there, once each, in order", () => {
  const names = Array.from({ length: 10 }, (_, index) => `G${index + 1}`);
  expect(guarantees.map(({ name }) => name)).toEqual(names);
});

test.each(guarantees)("$name: who holds it is there", ({ holders }) => {
  expect(holders.length).toBeGreaterThan(0);
  expect(holders.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(guarantees)(
  "$name: each test that shows it is there, and names it",
  ({ name, tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((path) => !path.endsWith(".test.ts"))).toEqual([]);
    const names = new RegExp(`\\b${name}\\b`);
    const silent = tests.filter((path) => !names.test(read(path)));
    expect(silent).toEqual([]);
  },
);

test("no test names a guarantee that there is not", () => {
  const known = new Set(guarantees.map(({ name }) => name));
  const tests = guarantees.flatMap((guarantee) => guarantee.tests);
  const unknown = tests.flatMap((path) =>
    (read(path).match(/\bG\d+\b/g) ?? []).filter((name) => !known.has(name)),
  );
  expect(unknown).toEqual([]);
});

test("each test that SECURITY.md points to is there", () => {
  const named = filesIn(read("SECURITY.md")).filter((path) => path.endsWith(".test.ts"));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
});
