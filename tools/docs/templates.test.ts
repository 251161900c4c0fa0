/** Tests what the templates for `pulumi new` ask and ignore, and that a page has them. tests/engine/templates.test.ts runs them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { readPage } from "./pages";
import { pathOf, questionsOf, templates } from "./templates";

test("all templates ask the same questions, and only the address and the token have no default", () => {
  const [first = {}, ...others] = Object.values(templates).map(questionsOf);
  for (const questions of others) expect(questions).toEqual(first);
  const withoutDefault = Object.entries(first).filter(
    ([, question]) => question.default === undefined,
  );
  expect(withoutDefault.map(([name, { secret = false }]) => [name, secret])).toEqual([
    [`${metadata.name}:baseUrl`, false],
    [`${metadata.name}:apiToken`, true],
  ]);
});

test.each(Object.entries(templates))("docs/install.md has the command for %s", (_, template) => {
  const address = `${metadata.repository}/tree/main/templates/${template}`;
  expect(readPage("docs/install.md").text).toContain(`\`pulumi new ${address}\``);
});

test.each(Object.entries(templates))("%s: git ignores a file with the token", (_, template) => {
  const ignored = readFileSync(join(pathOf(template), ".gitignore"), "utf8").split("\n");
  expect(ignored).toContain(".env");
});
