/** Checks the links in our pages, without a network. tools/docs/pages.test.ts uses it. */
import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import metadata from "../../metadata.json";
import { root } from "../support/paths";
import { anchorsOf, type Link, type Page } from "./markdown";
import { readPage } from "./pages";

/** Matches pages of a repository's site that are not files of the repository. */
const repositoryPages = /^\/(releases|issues|security|discussions|actions)(\/|$)/;

/** Matches folders that our tools make, which a reader of the page does not have. */
const notCommitted = /^(bin|node_modules|\.tools)(\/|$)/;

/** Returns what is wrong with a link. Undefined if the link is right. */
export function problemWith({ target }: Link, page: Page): string | undefined {
  if (target.startsWith("#")) return missingAnchor(target.slice(1), page);
  if (/^[a-z][a-z+.-]*:/i.test(target)) return problemWithUrl(target);
  return isOnRegistry(page)
    ? problemOnRegistry(target)
    : missingFile(posix.join(posix.dirname(page.name), target));
}

/** Whether Pulumi's Registry publishes this page. */
export function isOnRegistry({ text }: Page): boolean {
  return /^---\n[^]*?^layout: package$[^]*?^---$/m.test(text);
}

/** Returns the name of the page in the API docs to which a link of a Registry page points. Undefined for other links. */
export function apiPageOf(target: string): string | undefined {
  return /^\.\/api-docs\/(?:([\w-]+)\/)?(?:#.*)?$/.exec(target)?.[1];
}

function problemOnRegistry(target: string): string | undefined {
  // tests/engine/apiDocs.test.ts checks whether that page exists.
  if (apiPageOf(target) !== undefined) return undefined;
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

/** Returns what is wrong with a link to this anchor. Undefined if the page has the anchor. */
export function missingAnchor(anchor: string, page: Page): string | undefined {
  return anchorsOf(page).has(anchor) ? undefined : `there is no #${anchor} in ${page.name}`;
}
