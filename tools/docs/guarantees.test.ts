/** Checks the guarantees in ARCHITECTURE.md: their files exist, and their tests name them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../support/paths";

interface Guarantee {
  name: string;
  /** The files whose code keeps the guarantee. */
  keepers: string[];
  /** The tests that prove the guarantee. */
  tests: string[];
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const guarantees = [...read("ARCHITECTURE.md").matchAll(/^\| (G\d+) .*\|$/gm)].map(guaranteeOf);

function guaranteeOf([row, name = ""]: RegExpMatchArray): Guarantee {
  const [, , keepers = "", tests = ""] = row.split("|");
  return { name, keepers: filesIn(keepers), tests: filesIn(tests) };
}

/** Returns the files that a cell names. `a/{b,c}.ts` stands for two. */
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

test.each(guarantees)("$name: the files that keep it exist", ({ keepers }) => {
  expect(keepers.length).toBeGreaterThan(0);
  expect(keepers.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(guarantees)("$name: the tests that prove it exist, and name it", ({ name, tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((path) => !path.endsWith(".test.ts"))).toEqual([]);
  const names = new RegExp(`\\b${name}\\b`);
  const notNaming = tests.filter((path) => !names.test(read(path)));
  expect(notNaming).toEqual([]);
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
