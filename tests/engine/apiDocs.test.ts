/** Generates the API docs from the schema with the generator of Pulumi's Registry, and checks their pages and links. */
import { mkdtempSync, readFileSync, rmSync, globSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { apiPageOf, isOnRegistry, missingAnchor } from "../../tools/docs/links";
import { linksOf, type Link, type Page } from "../../tools/docs/markdown";
import { pages } from "../../tools/docs/pages";
import { captured } from "../../tools/support/command";
import { root } from "../../tools/support/paths";
import { describeUnless, missingGo } from "../../tools/support/unless";
import { ensureGoTool } from "../../tools/go/tools";

const out = mkdtempSync(join(tmpdir(), "compute-api-docs-"));
const docs = new Map<string, Page>();

describeUnless(missingGo(), "the pages of the API docs", () => {
  beforeAll(async () => {
    const schema = join(root, "schema.json");
    await captured(await ensureGoTool("docsgen"), [
      "-schema",
      schema,
      "-language",
      "docs",
      "-out",
      out,
    ]);
    for (const name of globSync("**/*.md", { cwd: out })) {
      docs.set(name, { name, text: readFileSync(join(out, name), "utf8") });
    }
  });

  afterAll(() => rmSync(out, { recursive: true, force: true }));

  test("the provider, its resource and each of its functions has a page", () => {
    expect([...docs.keys()].map((name) => posix.dirname(name)).sort()).toEqual(
      [".", "getaccount", "getinstance", "getinstances", "instance", "provider"].sort(),
    );
  });

  test("each link in the API docs has a target", () => {
    const links = [...docs.values()].flatMap(linksOf);
    expect(links.length).toBeGreaterThan(100);
    const broken = links.flatMap((link) => {
      const problem = problemWith(link);
      return problem === undefined ? [] : [`${link.page}:${link.line}: ${link.target}: ${problem}`];
    });
    expect(broken).toEqual([]);
  });

  test("each link from the Registry's pages to the API docs has a target", () => {
    const targets = pages
      .filter(isOnRegistry)
      .flatMap(linksOf)
      .map(({ target }) => apiPageOf(target));
    const named = targets.filter((name) => name !== undefined);
    expect(named).toContain("instance");
    expect(named.filter((name) => !docs.has(`${name}/_index.md`))).toEqual([]);
  });
});

function problemWith({ page, target }: Link): string | undefined {
  const from = docs.get(page);
  // The generator itself adds links to Pulumi's site.
  if (target.startsWith("/docs/") || !from) return undefined;
  if (target.startsWith("#")) return missingAnchor(target.slice(1), from);
  if (/^https:/.test(target)) return URL.canParse(target) ? undefined : "not a URL";
  const name = posix.join(posix.dirname(page), target, "_index.md");
  return docs.has(name) ? undefined : `there is no ${name}`;
}
