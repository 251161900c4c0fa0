/**
 * Every fenced block of README.md, the other pages and the schema's descriptions, compiled or run: what a
 * person copies works.
 */
import { beforeAll, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { commandsIn } from "../../tools/docs/commandLines";
import { pages } from "../../tools/docs/pages";
import { describeUnless } from "../../tools/support/unless";
import { csharp, go, java, typescript } from "./support/blocks/compiled";
import { json, text, xml } from "./support/blocks/data";
import { python, yaml } from "./support/blocks/programs";
import { samples, type Check, type Sample } from "./support/blocks/samples";
import { problemsInText, problemWith, shell } from "./support/blocks/shell";

// Most of it is downloads, the first time.
/** By what stands behind the fence. */
const checks: Readonly<Record<string, Check>> = {
  ...{ csharp, go, java, json, python, text, typescript, xml, yaml },
  sh: shell,
  ts: typescript,
};

test("each block says in which language it is, and that language is checked", () => {
  const strange = samples.filter(({ language }) => !Object.hasOwn(checks, language));
  expect(strange.map(({ places, language }) => `${places}: "${language}"`)).toEqual([]);
  expect(samples.length).toBeGreaterThan(20);
});

// A changelog may name what there is no longer.
const current = pages.filter(({ name }) => name !== "CHANGELOG.md");

test.each(current)("$name: each command in the running text is one that there is", async (page) => {
  expect(await problemsInText(page)).toEqual([]);
});

test("a path to the installed plugin names its version", () => {
  const paths = current.flatMap(({ text }) => [...text.matchAll(/resource-compute-v([\d.]+\d)/g)]);
  expect(paths.length).toBeGreaterThan(2);
  expect(new Set(paths.map(([, version]) => version))).toEqual(new Set([metadata.version]));
});

test.each([
  ["npx pulumi-compute audit --jsno", "audit has no --jsno"],
  ["pulumi-resource-compute audit --json --stack dev", undefined],
  ["pulumi-resource-compute audit --jsno", "audit has no --jsno"],
  ["pulumi-resource-compute doctor --out=plan.json", "doctor has no --out"],
  ["pulumi-resource-compute docto", "--help has no docto"],
])("of %s is said: %s", async (text, problem) => {
  const [command] = commandsIn(text);
  expect(command && (await problemWith(command, "README.md"))).toBe(problem);
});

for (const check of new Set(Object.values(checks))) {
  const ours = samples.filter(({ language }) => checks[language] === check);
  const [first] = ours;
  if (!first) continue;
  describeUnless(check.hindrance?.(), first.language, () => {
    if (check.leftOut !== undefined) test.skip(`all of them: ${check.leftOut}`, () => undefined);
    const problems = new Map<Sample, string[]>(ours.map((sample) => [sample, []]));
    beforeAll(async () =>
      check.run(ours, (sample, problem) => problems.get(sample)?.push(problem)),
    );
    test.each(ours)("$places", (sample) => {
      expect(problems.get(sample)?.join("\n")).toBe("");
    });
  });
}
