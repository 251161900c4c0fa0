/** Checks ARCHITECTURE.md: the guarantees' files and tests, a row for each folder, a reason for each dependency. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { root, repositoryFiles } from "../support/paths";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const architecture = read("ARCHITECTURE.md");
const isMissing = (path: string) => !existsSync(join(root, path));

function sectionOf(title: string): string {
  const [, section = ""] = architecture.split(`\n## ${title}\n`);
  return section.split("\n## ")[0] ?? "";
}

/** Returns the cells of each row of a section's table, without its head. */
function rowsOf(section: string): string[][] {
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) => row.split("|").slice(1, -1));
}

/** Returns what a cell has in backticks. `a/{b,c}.ts` stands for two. */
function namesIn(cell = ""): string[] {
  return [...cell.matchAll(/`([^`{]*)(?:\{([^}]*)\}([^`]*))?`/g)].flatMap(
    ([, before = "", choices, after = ""]) =>
      choices === undefined ? [before] : choices.split(",").map((one) => before + one + after),
  );
}

describe("the guarantees", () => {
  const guarantees = rowsOf(sectionOf("Guarantees")).map(([promise = "", keepers, tests]) => ({
    name: promise.trim().split(" ")[0] ?? "",
    keepers: namesIn(keepers),
    tests: namesIn(tests),
  }));

  test("all ten are in the table, in order", () => {
    const names = Array.from({ length: 10 }, (_, index) => `G${index + 1}`);
    expect(guarantees.map(({ name }) => name)).toEqual(names);
  });

  test.each(guarantees)("$name: the files that keep it exist", ({ keepers }) => {
    expect(keepers.length).toBeGreaterThan(0);
    expect(keepers.filter(isMissing)).toEqual([]);
  });

  test.each(guarantees)("$name: the tests that prove it exist, and name it", ({ name, tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((path) => !path.endsWith(".test.ts"))).toEqual([]);
    const names = new RegExp(`\\b${name}\\b`);
    expect(tests.filter((path) => !names.test(read(path)))).toEqual([]);
  });

  test("no test names one that is not in the table", () => {
    const known = new Set(guarantees.map(({ name }) => name));
    const named = guarantees.flatMap(({ tests }) =>
      tests.flatMap((path) => read(path).match(/\bG\d+\b/g) ?? []),
    );
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

test("each test that SECURITY.md names exists", () => {
  const named = namesIn(read("SECURITY.md")).filter((path) => path.endsWith(".test.ts"));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
});

describe("the rooms", () => {
  const foldersIn = (text = "") =>
    [...text.matchAll(/`([\w/.-]+)\/`/g)].map(([, folder = ""]) => folder);
  const section = sectionOf("Rooms");
  const rooms = rowsOf(section).flatMap(([cell]) => foldersIn(cell));
  /** The text may describe further folders, which are in rooms or have the same name in many. */
  const named = foldersIn(section);
  /** Their subfolders need no description. */
  const undivided = /^(docs|sdk|examples|templates|tools\/(go|npm|python)|\..*)\//;

  test("each folder is described", () => {
    const folders = [...new Set(repositoryFiles().map(dirname))].filter(
      (folder) => folder !== "." && !undivided.test(`${folder}/`),
    );
    const isDescribed = (folder: string) =>
      rooms.includes(folder) ||
      folder.split("/").some((part, depth) => depth > 0 && named.includes(part));
    expect(folders.filter((folder) => !isDescribed(folder))).toEqual([]);
    expect(folders.length).toBeGreaterThan(rooms.length - 10);
  });

  test("each described folder exists", () => {
    expect(rooms.length).toBeGreaterThan(30);
    expect(rooms.filter(isMissing)).toEqual([]);
  });
});

describe("the dependencies", () => {
  const filesMatching = (pattern: string) => globSync(pattern, { cwd: root });
  const npmPackages = (path: string) => {
    const groups = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];
    const json = JSON.parse(read(path)) as Record<string, object>;
    return groups.flatMap((group) => Object.keys(json[group] ?? {}));
  };
  const manifests = ["package.json", ...filesMatching("{examples,tools/npm}/*/package.json")];
  const dependencies = [
    // The SDK of this repository does not count as a dependency.
    ...manifests.flatMap(npmPackages).filter((name) => name !== metadata.sdk.nodejs.package),
    ...filesMatching("tools/go/*/go.sum").map((path) => basename(dirname(path))),
    ...filesMatching("tools/python/*/requirements.txt").flatMap((path) =>
      [...read(path).matchAll(/^([\w-]+)==/gm)].map(([, name = ""]) => name),
    ),
  ];
  const reasons = rowsOf(sectionOf("Dependencies")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`(?:overrides: )?([^`]*[^`/])`/g)].map(([, name = ""]) => name),
  );
  /** A reason that ends in `*` is for all names with that beginning. */
  const isFor = (name: string, reason: string) =>
    reason.endsWith("*") ? name.startsWith(reason.slice(0, -1)) : name === reason;

  test("each has a reason", () => {
    expect(dependencies.length).toBeGreaterThan(40);
    const hasReason = (name: string) => reasons.some((reason) => isFor(name, reason));
    expect(dependencies.filter((name) => !hasReason(name))).toEqual([]);
  });

  test("each reason is for one", () => {
    const isNeeded = (reason: string) => dependencies.some((name) => isFor(name, reason));
    expect(reasons.filter((reason) => !isNeeded(reason))).toEqual([]);
  });
});
