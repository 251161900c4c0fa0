/**
 * Checks ARCHITECTURE.md (the guarantees' files and tests, an entry for each folder, a reason for each dependency), and that
 * the files exist that it and docs/design.md name.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { root, repositoryFiles } from "../support/paths";
import { codeSpansOf, sectionOf } from "./markdown";
import { pages, readPage } from "./pages";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const architecture = readPage("ARCHITECTURE.md");
const design = readPage("docs/design.md");
const isMissing = (path: string) => !existsSync(join(root, path));

/** Returns what stands before the colon in each item of a section's list. */
function headsOf(section: string): string[] {
  const items = section.split(/^- /m).slice(1);
  return items.map((item) => /^(?:`[^`]*`|[^`:])*/.exec(item)?.[0] ?? "");
}

/** Returns what a text has in backticks. `a/{b,c}.ts` stands for two. */
function namesIn(text = ""): string[] {
  return [...text.matchAll(/`([^`{]*)(?:\{([^}]*)\}([^`]*))?`/g)].flatMap(
    ([, before = "", choices, after = ""]) =>
      choices === undefined ? [before] : choices.split(",").map((one) => before + one + after),
  );
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

describe("the guarantees", () => {
  const section = sectionOf(architecture, "Guarantees");
  const names = [...section.matchAll(/^### (.*)$/gm)].map(([, name = ""]) => name);
  const guarantees = names.map((name) => {
    const text = sectionOf(architecture, name);
    const [promise = "", keepers, tests] = text.split(/^- (?:Held|Shown) by /m);
    return { name, promise: oneLine(promise), keepers: namesIn(keepers), tests: namesIn(tests) };
  });

  test("all ten are there, in order, each with its promise", () => {
    expect(names).toEqual(Array.from({ length: 10 }, (_, index) => `G${index + 1}`));
    for (const { promise } of guarantees) expect(promise).toMatch(/^\*\*.+\*\* ?.*\.$/);
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

  test("no test names one that is not among them", () => {
    const known = new Set(guarantees.map(({ name }) => name));
    const named = guarantees.flatMap(({ tests }) =>
      tests.flatMap((path) => read(path).match(/\bG\d+\b/g) ?? []),
    );
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

/** As a page may name them: with the whole path, or without the folder if only one file has the name. */
const files = repositoryFiles();
const isFile = (path: string) =>
  globSync(path, { cwd: root }).length > 0 || files.some((file) => file.endsWith(`/${path}`));

test.each([architecture, design, readPage("SECURITY.md")])(
  "$name: each file that it names exists",
  (page) => {
    const named = codeSpansOf(page)
      .flatMap(({ text }) => namesIn(`\`${text}\``))
      .filter((name) => /^[\w./-]+\.(?:[cm]?[jt]s|json|md|svg)$/.test(name));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !isFile(path))).toEqual([]);
  },
);

test("each test that a page names exists", () => {
  const named = pages.flatMap((page) =>
    codeSpansOf(page)
      .flatMap(({ text }) => namesIn(`\`${text}\``))
      .filter((name) => /^[\w./-]+\.test\.ts$/.test(name)),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !isFile(path))).toEqual([]);
});

describe("the rooms", () => {
  const foldersIn = (text = "") =>
    [...text.matchAll(/`([\w/.-]+)\/`/g)].map(([, folder = ""]) => folder);
  const section = sectionOf(architecture, "Rooms");
  const rooms = headsOf(section).flatMap(foldersIn);
  /** The text may describe further folders, which are in rooms or have the same name in many. */
  const named = foldersIn(section);
  /** Their subfolders need no description. */
  const undivided = /^(docs|sdk|examples|templates|tools\/(go|npm|python)|\..*)\//;

  test("each folder is described", () => {
    const folders = [...new Set(files.map(dirname))].filter(
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
  const reasons = headsOf(sectionOf(architecture, "Dependencies")).flatMap((head) =>
    [...head.matchAll(/`(?:overrides: )?([^`]*[^`/])`/g)].map(([, name = ""]) => name),
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
