/**
 * Compiles or runs every fenced block of README.md, the other pages and the schema's descriptions, so that what a
 * person copies works.
 */
import { beforeAll, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { pluginRun } from "../../provider/advice";
import { commandsIn } from "../../tools/docs/commandLines";
import { pages } from "../../tools/docs/pages";
import { describeUnless, testUnless } from "../../tools/support/unless";
import { csharp, go, java, typescript } from "./support/blocks/compiled";
import { json, powershell, text, xml } from "./support/blocks/data";
import { hcl, python, typeErrors, yaml } from "./support/blocks/programs";
import { samples, type Check, type Sample } from "./support/blocks/samples";
import { problemsInText, problemWith, shell } from "./support/blocks/shell";
import { languages, missingTools } from "./support/installing";

/** The checks by the language after the fence. On the first run they spend most of their time on downloads. */
const checks: Readonly<Record<string, Check>> = {
  csharp,
  go,
  hcl,
  java,
  json,
  powershell,
  python,
  text,
  typescript,
  xml,
  yaml,
  sh: shell,
  ts: typescript,
};

test("each block names a language that has a check", () => {
  const unchecked = samples.filter(({ language }) => !Object.hasOwn(checks, language));
  expect(unchecked.map(({ places, language }) => `${places}: "${language}"`)).toEqual([]);
  expect(samples.length).toBeGreaterThan(20);
});

// A changelog may name commands that were removed.
const current = pages.filter(({ name }) => name !== "CHANGELOG.md");

test.each(current)("$name: each command in the running text exists", async (page) => {
  expect(await problemsInText(page)).toEqual([]);
});

test("each path to the installed plugin has the current version", () => {
  const paths = current.flatMap(({ text }) => [...text.matchAll(/resource-compute-v([\d.]+\d)/g)]);
  expect(paths.length).toBeGreaterThan(2);
  expect(new Set(paths.map(([, version]) => version))).toEqual(new Set([metadata.version]));
});

test.each([
  ["npx pulumi-compute audit --jsno", "audit has no --jsno"],
  ["bin/pulumi-resource-compute audit --jsno", "audit has no --jsno"],
  [`${pluginRun} audit --json --stack dev`, undefined],
  [`${pluginRun} audit --jsno`, "audit has no --jsno"],
  [`${pluginRun} doctor --out=plan.json`, "doctor has no --out"],
  [`${pluginRun} docto`, "--help has no docto"],
  ["pulumi plugin run --kind resource comptue -- audit", "write " + pluginRun],
])("for the command %s the check returns: %s", async (text, problem) => {
  const [command] = commandsIn(text);
  expect(command && (await problemWith(command, "README.md"))).toBe(problem);
});

test("in TypeScript, an argument of few words is a plain string, and a wrong one does not compile", async () => {
  const text = `
    import * as compute from "pulumi-compute-instances";
    new compute.Provider("own", { requireTokenKind: "test", deletePolicy: "retain", leftovers: "fail" });
    export const offline = compute.getInstancesOutput({ status: "OFFLINE", namePattern: "web-*" });
  `;
  const wrong = ["test", "retain", "fail", "OFFLINE"].map((word) => text.replace(word, "other"));
  const programs = [text, ...wrong].map((text): Sample => {
    const block = { page: "a test", line: 0, language: "typescript", text };
    return { places: block.page, block, language: block.language, text };
  });
  const refused = new Set<Sample>();
  await typescript.run(programs, (sample) => refused.add(sample));
  expect([...refused]).toEqual(programs.slice(1));
});

testUnless(
  missingTools(languages.Python),
  "in Python, the types of each block are right, and an argument of few words takes its enum or a plain string",
  async () => {
    const words = `
import pulumi_compute_instances as compute
compute.Provider("a", require_token_kind="test", delete_policy="retain", leftovers="fail")
compute.Provider("b", require_token_kind=compute.TokenKind.TEST, user_data_in_state="hash")
compute.get_instances_output(status="OFFLINE", name_pattern="web-*")
`;
    const blocks = samples.filter(({ language }) => language === "python");
    const programs = [words, ...blocks.map(({ text }) => text)];
    expect(await typeErrors(programs)).toBe("");
    expect(await typeErrors([words.replace('"test"', "1")])).toMatch(/program_0\.py:3: error/);
  },
);

for (const check of new Set(Object.values(checks))) {
  const checked = samples.filter(({ language }) => checks[language] === check);
  const [first] = checked;
  if (!first) continue;
  describeUnless(check.skipReason?.(), first.language, () => {
    if (check.leftOut !== undefined) test.skip(`all blocks: ${check.leftOut}`, () => undefined);
    const problems = new Map<Sample, string[]>(checked.map((sample) => [sample, []]));
    beforeAll(async () =>
      check.run(checked, (sample, problem) => problems.get(sample)?.push(problem)),
    );
    test.each(checked)("$places", (sample) => {
      expect(problems.get(sample)?.join("\n")).toBe("");
    });
  });
}
