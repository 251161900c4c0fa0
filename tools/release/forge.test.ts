/** Checks what GitHub, development containers and coding agents read of this repository, beside the workflows. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { load } from "js-yaml";
import metadata from "../../metadata.json";
import rootPackage from "../../package.json";
import { problemWith } from "../docs/links";
import { frontMatterOf } from "../docs/markdown";
import { readPage } from "../docs/pages";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { ensurePythonTools } from "../support/python";
import { missingPython, testUnless } from "../support/unless";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const forms = ".github/ISSUE_TEMPLATE";

/** By the schema that they must match. */
const schemas = {
  "github-issue-forms": globSync(`${forms}/*.yml`, { cwd: root }).filter(
    (file) => !file.endsWith("/config.yml"),
  ),
  "github-issue-config": [`${forms}/config.yml`],
  dependabot: [".github/dependabot.yml"],
  "github-workflows": globSync(".github/workflows/*.yml", { cwd: root }),
};

for (const [schema, files] of Object.entries(schemas)) {
  testUnless(missingPython(), `GitHub's schema holds: ${schema}`, async () => {
    expect(files.length).toBeGreaterThan(0);
    const checker = join(await ensurePythonTools("schemas"), "check-jsonschema");
    await captured(checker, ["--builtin-schema", `vendor.${schema}`, ...files], { cwd: root });
  });
}

test("the links beside the issue forms lead somewhere", () => {
  const file = `${forms}/config.yml`;
  const { contact_links } = load(read(file)) as { contact_links: { url: string }[] };
  const page = { name: file, text: read(file) };
  const problems = contact_links.map(({ url }) => problemWith(url, page));
  expect(problems).toEqual([undefined, undefined]);
});

test("a team of the repository's owner reviews every file", () => {
  const [owner = ""] = new URL(metadata.repository).pathname.slice(1).split("/");
  const rules = read(".github/CODEOWNERS")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(rules).toEqual([expect.stringMatching(new RegExp(`^\\* @${owner}/[\\w-]+$`))]);
});

test("the commands of the pull request's form and of the development container are scripts", () => {
  const form = read(".github/pull_request_template.md");
  const { postCreateCommand } = JSON.parse(read(".devcontainer/devcontainer.json")) as {
    postCreateCommand: string;
  };
  expect(postCreateCommand).toBe("npm start");
  const scripts = [...`${form}\n${postCreateCommand}`.matchAll(/npm (?:run )?(\w+)/g)];
  expect(scripts.map(([, script]) => script)).toEqual(["check", "test", "start"]);
  expect(Object.keys(rootPackage.scripts)).toEqual(
    expect.arrayContaining(scripts.map(([, script]) => script)),
  );
});

test("SKILL.md says when to use it, and is one page", () => {
  const page = readPage("SKILL.md");
  const { head } = frontMatterOf(page);
  const { name, description } = head;
  expect(name).toBe(metadata.sdk.nodejs.package);
  expect(description).toMatch(/\bUse when\b/);
  expect(page.text.split("\n").length).toBeLessThanOrEqual(60);
});
