/** Checks the scripts of package.json: they are few, CONTRIBUTING.md describes each, nothing names any other, and what they fetch. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import jestConfig from "../jest.config.cjs";
import { repositoryFiles, root } from "./support/paths";

interface Project {
  displayName: string;
  testMatch: string[];
  testPathIgnorePatterns?: string[];
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const names = Object.keys(scripts).sort();

test("there are at most ten scripts, and each is the tool of its name", () => {
  expect(names.length).toBeLessThanOrEqual(10);
  for (const name of names) expect(scripts[name]).toBe(`node tools/run.mjs ${name}`);
  const tools = globSync("tools/*.ts", { cwd: root, exclude: ["**/*.test.ts"] });
  expect(tools.sort()).toEqual(names.map((name) => join("tools", `${name}.ts`)));
});

test("each script has a help text, and CONTRIBUTING.md says what it is for", () => {
  const page = read("CONTRIBUTING.md");
  for (const name of names) {
    const command = ["start", "test"].includes(name) ? `npm ${name}` : `npm run ${name}`;
    expect(page).toContain(command);
    expect(read(`tools/${name}.ts`)).toMatch(new RegExp(`^/\\*\\*(\n \\*)? \`${command}\\b`));
  }
});

test("no page, message or comment names a script that does not exist", () => {
  const files = repositoryFiles().filter(
    // The examples have scripts of their own, and earlier versions had others.
    (file) =>
      /\.(md|ts|mjs|cjs|yml)$/.test(file) &&
      !/^(examples\/|tests\/engine\/|CHANGELOG\.md$)/.test(file),
  );
  const mentions = files.flatMap((file) =>
    [...read(file).matchAll(/\bnpm (?:--prefix \S+ )?run (?:-s |--silent )?([a-z][\w:-]*)/g)].map(
      ([, name = ""]) => [file, name] as const,
    ),
  );
  expect(mentions.length).toBeGreaterThan(names.length);
  expect(mentions.filter(([, name]) => !names.includes(name))).toEqual([]);
});

test("npm installs packages without running their scripts", () => {
  const linesWith = (files: RegExp, command: RegExp) =>
    repositoryFiles()
      .filter((file) => files.test(file))
      .flatMap((file) => read(file).split("\n"))
      .filter((line) => command.test(line));
  const commands = [
    ...linesWith(/\.(yml|yaml)$|Dockerfile$|^\.ci\//, /^[^#]*\bnpm (ci|install|i)\b/),
    ...linesWith(/\.(ts|mjs)$/, /"--no-audi[t]"|\("npm", \["(ci|install)"/),
  ];
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((line) => !/--ignore-scripts|\.\.\.\w*[oO]ptions/.test(line))).toEqual([]);
});

test("no unit test fetches a program", () => {
  const { projects } = jestConfig as { projects: (Project | undefined)[] };
  const unit = projects.find((project) => project?.displayName === "unit");
  const ignored = (unit?.testPathIgnorePatterns ?? []).map((pattern) =>
    pattern.replace("<rootDir>/", "^"),
  );
  const folders = (unit?.testMatch ?? []).map((glob) =>
    glob.slice("<rootDir>/".length, -"/**/*.test.ts".length),
  );
  const files = repositoryFiles(...folders).filter(
    (file) =>
      file.endsWith(".test.ts") && !ignored.some((pattern) => new RegExp(pattern).test(file)),
  );
  expect(files.length).toBeGreaterThan(100);
  const fetching = /\b(startChromium|ensureFetched|ensurePythonTools|ensureGoTool|ensureRuntime)\(/;
  expect(files.filter((file) => fetching.test(read(file)))).toEqual([]);
});
