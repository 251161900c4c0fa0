/** Checks that every link in our pages has a target, that every `compute:NAME` in them exists, and that lines are short. */
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { functions } from "../../provider/functions/functions";
import { settingNames } from "../../provider/config/settings";
import { instanceToken } from "../../provider/pulumi/names";
import { problemWith } from "./links";
import { anchorsOf, blocksOf, linksOf, type Page } from "./markdown";
import { descriptions, pages } from "./pages";

const schema = "schema.json";
/** A test for each page, and one for all descriptions in the schema. */
const subjects = [...pages.map(({ name }) => name), schema];
const pagesOf = (subject: string): readonly Page[] =>
  subject === schema ? descriptions : pages.filter(({ name }) => name === subject);

const tokens = [instanceToken, ...Object.keys(functions)];
const known = new Set([
  ...settingNames.map((name) => `compute:${name}`),
  ...tokens.flatMap((token) => [token, token.replace(":index:", ":")]),
]);

test("the pages, their links and the descriptions are found", () => {
  const names = pages.map(({ name }) => name);
  const expected = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/_index.md"];
  expect(names).toEqual(expect.arrayContaining(expected));
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(30);
  expect(descriptions.length).toBeGreaterThan(30);
});

test.each(subjects)("%s: each link has a target", (subject) => {
  const broken = pagesOf(subject).flatMap((page) =>
    linksOf(page).flatMap((link) => {
      const problem = problemWith(link.target, page);
      return problem === undefined ? [] : [`${page.name}:${link.line}: ${link.target}: ${problem}`];
    }),
  );
  expect(broken).toEqual([]);
});

test.each(pages)("$name: no line has more than 130 columns, apart from its links", ({ text }) => {
  const lines = text.split("\n").map((line) => line.replace(/\]\([^)]*\)|https?:\S+/g, ""));
  expect(lines.filter((line) => [...line].length > 130)).toEqual([]);
});

test.each(pages)("$name: the plugin to install is that of the version", ({ text }) => {
  const named = text.matchAll(
    /resource-compute-v(\d[\d.]+\d)|plugin install resource compute (\d\S+)/g,
  );
  const versions = Array.from(named, ([, inFile, typed]) => inFile ?? typed);
  expect(versions.filter((version) => version !== metadata.version)).toEqual([]);
});

test.each(subjects)("%s: each compute:NAME exists", (subject) => {
  const unknown = pagesOf(subject).flatMap(({ name, text }) =>
    text.split("\n").flatMap((line, index) =>
      [...line.matchAll(/(?<![\w:./-])compute:[A-Za-z][\w:]*\w/g)]
        // A name in capitals is a placeholder.
        .filter(([word]) => !known.has(word) && !/^compute:[A-Z]+$/.test(word))
        .map(([word]) => `${name}:${index + 1}: ${word}`),
    ),
  );
  expect(unknown).toEqual([]);
});

test("each template that a page gives to `pulumi new` exists", () => {
  const given = pages.flatMap((page) =>
    [...page.text.matchAll(/pulumi new (https:[^\s`]+)/g)].map(([, target = ""]) => ({
      page,
      target,
    })),
  );
  expect(given.length).toBeGreaterThan(0);
  const problems = given.map(({ page, target }) => problemWith(target, page));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

const page = (text: string, name = "docs/page.md"): Page => ({ name, text });
const problemsOf = (subject: Page) =>
  linksOf(subject).map((link) => problemWith(link.target, subject));

test("a link without a target is found, to a page, an anchor, a file or a URL", () => {
  const links = [
    "[a](../README.md) ![b](pulumi-up.svg) [c](../README.md#a-program) [d](#here)",
    "## Here",
    "[e](../LICENCE) [f](../README.md#nowhere) [g](#nowhere) [h](../../outside.md) [i](../bin/start.js)",
    "[j](https://example.com/a) [k](http://example.com) [l](https://example) <https://…/v2>",
    "[m](https://github.com/compute-instances/pulumi-compute/blob/main/SECURITY.md)",
    "[n](https://github.com/compute-instances/pulumi-compute/blob/main/NOTHING.md)",
    "[o](https://github.com/compute-instances/pulumi-compute/wikis)",
    "`[no](link)`",
    "```text\n[no](link)\n```",
  ];
  const ok = undefined;
  expect(problemsOf(page(links.join("\n")))).toEqual([
    ...[ok, ok, ok, ok],
    "there is no LICENCE",
    "there is no #nowhere in README.md",
    "there is no #nowhere in docs/page.md",
    "outside of the repository",
    "not committed",
    ...[ok, "not https", "not the name of a host", "not a URL"],
    ok,
    "there is no NOTHING.md",
    "not a page that the repository's site has",
  ]);
});

test("a link from a page of the Registry to a file of the repository is found", () => {
  const text =
    "---\nlayout: package\n---\n[a](./installation-configuration/) [b](scaling.md) [c](./nothing/) [d](./api-docs/provider/) [e](./api-docs/instances/)";
  expect(problemsOf(page(text))).toEqual([
    undefined,
    "the Registry has only ./PAGE/ and ./api-docs/PAGE/",
    "there is no docs/nothing.md",
    undefined,
    "the API docs have no page instances",
  ]);
});

test("blocks are found with their line and language, even in lists, and an unclosed block is an error", () => {
  const text =
    "# A `b`, c\n\n- one\n\n  ```sh\n  ls\n  ```\n\n````text\n```\n````\n\n## A b c\n\n## A b c\n";
  expect(blocksOf(page(text))).toEqual([
    { page: "docs/page.md", line: 5, language: "sh", text: "ls\n" },
    { page: "docs/page.md", line: 9, language: "text", text: "```\n" },
  ]);
  expect([...anchorsOf(page(text))]).toEqual(["a-b-c", "a-b-c-1", "a-b-c-2"]);
  expect(() => blocksOf(page("```sh\nls\n"))).toThrow("docs/page.md:1: the block is not closed");
});
