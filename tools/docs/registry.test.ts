/**
 * Repeats the rules by which the Pulumi Registry (github.com/pulumi/registry) admits a community package, as far as
 * they can be checked before a release:
 *
 * - tools/resourcedocsgen/cmd/metadata.go: the name, version, publisher and category of the schema, and front matter;
 * - scripts/ci/community-package/*.py, which check a pull request: which names, versions and links are safe, and which
 *   files the pull request may change (RELEASING.md has both entries);
 * - docs/overview-page.md and .github/pull_request_template.md: what the two pages must have;
 * - pulumi.com, "Publishing to the Pulumi Registry": titles, description, keywords and logo.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { instanceToken } from "../../provider/pulumi/names";
import { exampleLanguages } from "../sdk/examples";
import { sdkLanguages } from "../sdk/languages";
import { packageSchema } from "../sdk/schema";
import { root } from "../support/paths";
import { isOnRegistry } from "./links";
import { blocksOf, frontMatterOf, type Page } from "./markdown";
import { descriptions, pages, readPage } from "./pages";

const schema = packageSchema();
const repository = new URL(schema.repository);
const repositorySlug = repository.pathname.slice(1);
const overview = readPage("docs/_index.md");
const installation = readPage("docs/installation-configuration.md");

test("the package has the name of its repository, and a version", () => {
  expect(repository.origin).toBe("https://github.com");
  expect(repositorySlug).toMatch(/^[\w.-]+\/pulumi-/);
  expect(schema.name).toBe(repositorySlug.split("/pulumi-")[1]);
  expect(schema.version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test("the schema has everything that the Registry shows of a package", () => {
  const { displayName, description, publisher, license, homepage, pluginDownloadURL } = schema;
  const [, settingsPage = "none"] = schema.configurationDocsUrl.split("/blob/main/");
  expect(readPage(settingsPage).text).toContain("compute:baseUrl");
  for (const text of [displayName, description, publisher]) expect(text).toMatch(/\S/);
  expect(description).toContain(displayName);
  expect(license).toMatch(/^[\w.-]+$/);
  expect(new URL(homepage).protocol).toBe("https:");
  expect(pluginDownloadURL).toBe(`github://api.github.com/${repositorySlug}`);
});

test("the keywords name one category of the Registry, and that the provider is a native one", () => {
  const categories =
    /^category\/(cloud|database|infrastructure|monitoring|network|utility|vcs|versioncontrol)$/;
  const tags = (prefix: string) => schema.keywords.filter((keyword) => keyword.startsWith(prefix));
  expect(tags("category/")).toEqual([expect.stringMatching(categories)]);
  expect(tags("kind/")).toEqual(["kind/native"]);
});

test("the packages that the Registry tries to install have names that it accepts", () => {
  const { nodejs, python, go } = schema.language;
  for (const name of [schema.name, nodejs.packageName, python.packageName, go.importBasePath])
    expect(name).toMatch(/^[A-Za-z0-9._@/-]+$/);
});

test("the pages for the Registry are the overview and the installation page", () => {
  expect(pages.filter(isOnRegistry).map(({ name }) => name)).toEqual([
    overview.name,
    installation.name,
  ]);
});

test.each([
  { page: overview, title: metadata.displayName },
  { page: installation, title: `${metadata.displayName} Installation & Configuration` },
])("$page.name has its front matter, and no other title", ({ page, title }) => {
  const { head, body } = frontMatterOf(page);
  expect(head).toEqual({ title, meta_desc: expect.any(String), layout: "package" });
  expect(head["meta_desc"]).toContain(metadata.displayName);
  const code = new Set(blocksOf(page).flatMap((block) => block.text.split("\n")));
  expect(body.split("\n").filter((line) => /^# /.test(line) && !code.has(line))).toEqual([]);
});

test("the overview begins with what the package is, and has an example in each language", () => {
  const { body } = frontMatterOf(overview);
  expect(body.trimStart()).toMatch(/^\w/);
  expect(body).toMatch(/^## Example Usage$/m);
});

test("the installation page has SDKs, the plugin's command, and settings from configuration and environment", () => {
  const { text } = installation;
  for (const { install } of Object.values(sdkLanguages)) expect(text).toContain(install);
  const { name, version, pluginDownloadURL } = metadata;
  expect(text.replaceAll(" \\\n ", "")).toContain(
    `plugin install resource ${name} ${version} --server ${pluginDownloadURL} --checksum `,
  );
  const commands = blocksOf(installation).filter(({ language }) => language === "sh");
  for (const command of [
    `pulumi config set ${name}:baseUrl`,
    `pulumi config set --secret ${name}:apiToken`,
    "export COMPUTE_BASE_URL=",
    "export COMPUTE_API_TOKEN=",
  ])
    expect(commands.some((block) => block.text.includes(command))).toBe(true);
});

/**
 * Returns the languages of each chooser.
 *
 * @throws if a shortcode has the delimiters of another, which breaks the page
 */
function languagesOf({ name, text }: Page): string[] {
  const shortcodes = [...text.matchAll(/\{\{.*?\}\}/g)].map(([shortcode]) => shortcode);
  const wellFormed =
    /^\{\{(< chooser language "[a-z,]+" >|< \/chooser >|% choosable language [a-z]+ %|% \/choosable %)\}\}$/;
  const strange = shortcodes.filter((shortcode) => !wellFormed.test(shortcode));
  if (strange.length > 0) throw new Error(`${name}: ${strange.join(" ")}`);
  return shortcodes.flatMap((shortcode) => /chooser language "(.*)"/.exec(shortcode)?.[1] ?? []);
}

test("each chooser has a tab for each language, and its shortcodes are well formed", () => {
  for (const page of [overview, installation]) {
    const choosers = languagesOf(page);
    expect(new Set(choosers)).toEqual(new Set([exampleLanguages.join(",")]));
    for (const language of exampleLanguages) {
      const tabs = page.text.split(`{{% choosable language ${language} %}}`).length - 1;
      expect([page.name, language, tabs]).toEqual([page.name, language, choosers.length]);
    }
  }
});

test("each example of the schema has a block in each language", () => {
  const { provider, resources, functions } = schema;
  const shown = [provider, ...Object.values(resources), ...Object.values(functions)];
  for (const { description } of shown) {
    const examples = description.split("{{% example %}}").slice(1);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const [text = ""] = example.split("{{% /example %}}");
      expect(text).toMatch(/^\n### \S/);
      const blocks = blocksOf({ name: "an example", text });
      expect(blocks.map(({ language }) => language)).toEqual(exampleLanguages);
    }
  }
});

/** What a block of HCL may set, by its begin. The tests that run the blocks need the language host of HCL. */
const argumentsInHcl: Readonly<Record<string, object>> = {
  'provider "compute"': { ...schema.provider.inputProperties, alias: "" },
  'resource "compute_instance"': {
    ...schema.resources[instanceToken].inputProperties,
    provider: "",
  },
  ...Object.fromEntries(
    Object.entries(schema.functions).map(([token, { inputs }]) => [
      `data "compute${inHcl(token.replace("compute:index:get", ""))}"`,
      inputs.properties,
    ]),
  ),
};

/** Returns the name in HCL: a capital becomes an underscore and a small letter. */
function inHcl(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

test("each argument in an example in HCL is an input of the schema", () => {
  const examples = descriptions.flatMap(blocksOf).filter(({ language }) => language === "hcl");
  const blocks = examples.flatMap(({ text }) => [
    ...text.matchAll(/^((?:provider|resource|data) "\w+").*\{\n([^]*?)^\}/gm),
  ]);
  expect(blocks.length).toBeGreaterThan(6);
  for (const [, head = "", body = ""] of blocks) {
    const given = [...body.matchAll(/^ {2}(\w+) +=/gm)].map(([, name]) => name);
    const known = Object.keys(argumentsInHcl[head] ?? {}).map(inHcl);
    expect(known).toEqual(expect.arrayContaining(given));
  }
});

test("each input says whether a change replaces the instance, and each word of an enum says what it means", () => {
  const { resources, types } = schema;
  for (const { inputProperties } of Object.values(resources)) {
    for (const { description, willReplaceOnChanges = false } of Object.values(inputProperties)) {
      expect(description?.includes("A change replaces the instance.")).toBe(willReplaceOnChanges);
      expect(description).toMatch(/A change (replaces|is made in place)/);
    }
  }
  const words = Object.values<object>(types).flatMap((type) =>
    "enum" in type ? (type.enum as { description: string }[]) : [],
  );
  expect(words.length).toBeGreaterThan(10);
  for (const { description } of words) expect(description).toMatch(/^[A-Z].*[^.]\.$/);
});

/** What breaks on the Registry: relative images, relative links in HTML, links to Markdown files. */
const breaking = [
  /<img[^>]+src=["'](\.|\/|[^h])/,
  /!\[[^\]]*\]\((\.|\/)/,
  /<a[^>]+href="(\.|\/)/,
  /\]\((?!https?:\/\/)[^)]*\.md[)#]/,
];

test("the pages have no image or link that breaks on the Registry", () => {
  const lines = [overview, installation].flatMap(({ text }) => text.split("\n"));
  expect(lines.filter((line) => breaking.some((pattern) => pattern.test(line)))).toEqual([]);
});

test("RELEASING.md has both entries of the pull request as they must be", () => {
  const entries = blocksOf(readPage("RELEASING.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(text) as unknown);
  const [owner] = repositorySlug.split("/");
  expect(entries).toEqual([
    { repoSlug: repositorySlug, schemaFile: "schema.json" },
    { [schema.publisher]: owner },
  ]);
  expect(existsSync(join(root, "schema.json"))).toBe(true);
});

const raw = `https://raw.githubusercontent.com/${repositorySlug}/main/`;

test("the logo is an SVG of this repository", () => {
  expect(schema.logoUrl).toMatch(/\.svg$/);
  expect(schema.logoUrl.startsWith(raw)).toBe(true);
  const svg = readFileSync(join(root, schema.logoUrl.slice(raw.length)), "utf8");
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="/);
  // It is shown as an image, which loads nothing and has no fonts of its own.
  expect(svg).not.toMatch(/<(text|style|script|image|foreignObject)|href=|url\(/);
});
