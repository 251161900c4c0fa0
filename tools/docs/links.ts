/** Checks the links in our pages, without a network. */
import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import metadata from "../../metadata.json";
import { functionTokens, instanceToken } from "../../provider/pulumi/names";
import { root } from "../support/paths";
import { anchorsOf, frontMatterOf, type Page } from "./markdown";
import { readPage } from "./pages";

/** Pages of a repository's site that are not its files. */
const repositoryPages = /^\/(releases|issues|security|discussions|actions)(\/|$)/;

/** Folders that our tools make. A reader of the page has none. */
const notCommitted = /^(bin|node_modules|\.tools)(\/|$)/;

/** Returns what is wrong with a link. Undefined if nothing is. */
export function problemWith(target: string, page: Page): string | undefined {
  if (target.startsWith("#")) return missingAnchor(target.slice(1), page);
  if (/^[a-z][a-z+.-]*:/i.test(target)) return problemWithUrl(target);
  return isOnRegistry(page)
    ? problemOnRegistry(target)
    : missingFile(posix.join(posix.dirname(page.name), target));
}

/** The pages of the Registry's API docs. */
const apiPages = new Set(
  ["provider", instanceToken, ...functionTokens].map((token) =>
    token.slice(token.lastIndexOf(":") + 1).toLowerCase(),
  ),
);

export function isOnRegistry(page: Page): boolean {
  return frontMatterOf(page).head["layout"] === "package";
}

function problemOnRegistry(target: string): string | undefined {
  const [, apiPage] = /^\.\/api-docs\/([\w-]+)\/(?:#.*)?$/.exec(target) ?? [];
  if (apiPage !== undefined)
    return apiPages.has(apiPage) ? undefined : `the API docs have no page ${apiPage}`;
  const [, name, anchor] = /^\.\/([\w-]+)\/(?:#(.*))?$/.exec(target) ?? [];
  if (name === undefined) return "the Registry has only ./PAGE/ and ./api-docs/PAGE/";
  return missingFile(`docs/${name}.md${anchor === undefined ? "" : `#${anchor}`}`);
}

function problemWithUrl(target: string): string | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url) return "not a URL";
  if (url.protocol !== "https:") return "not https";
  if (!/^([a-z0-9-]+\.)+[a-z]{2,}$/.test(url.hostname)) return "not the name of a host";
  if (!isWithin(target, metadata.repository)) return undefined;
  const path = target.slice(metadata.repository.length);
  if (path === "" || repositoryPages.test(path)) return undefined;
  const [, file] = /^\/(?:blob|tree)\/main\/(.+)$/.exec(path) ?? [];
  if (file === undefined) return "not a page that the repository's site has";
  return missingFile(file);
}

function isWithin(target: string, base: string): boolean {
  return target === base || target.startsWith(`${base}/`) || target.startsWith(`${base}#`);
}

function missingFile(target: string): string | undefined {
  const [path = "", anchor] = target.split("#");
  if (path.startsWith("..")) return "outside of the repository";
  if (notCommitted.test(path)) return "not committed";
  if (!existsSync(join(root, path))) return `there is no ${path}`;
  if (anchor === undefined) return undefined;
  if (!path.endsWith(".md") || statSync(join(root, path)).isDirectory()) return "no Markdown page";
  return missingAnchor(anchor, readPage(path));
}

/** Returns what is wrong with a link to this anchor. Undefined if nothing is. */
function missingAnchor(anchor: string, page: Page): string | undefined {
  return anchorsOf(page).has(anchor) ? undefined : `there is no #${anchor} in ${page.name}`;
}
