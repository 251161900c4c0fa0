/** Finds sections, fenced blocks, links, code spans and anchors in a Markdown page, with Prettier's parser. */
import { parsers } from "prettier/plugins/markdown";
import { load } from "js-yaml";

/** A Markdown page, or Markdown from another file. */
export interface Page {
  /** For messages. A file's path. */
  name: string;
  text: string;
}

export interface Block {
  page: string;
  /** The line of the opening fence. */
  line: number;
  /** The first word after the fence, or empty. */
  language: string;
  text: string;
}

export interface Link {
  page: string;
  line: number;
  target: string;
}

/** Of the syntax tree (https://github.com/syntax-tree/mdast). */
interface Node {
  type: string;
  value?: string;
  url?: string;
  lang?: string | null;
  /** Of a heading: 1 for `#`. */
  depth?: number;
  children?: readonly Node[];
  position: { start: { line: number }; end: { line: number } };
}

/** Returns the front matter of a page, which is empty if the page does not begin with one, and what follows it. */
export function frontMatterOf({ text }: Page): { head: Record<string, string>; body: string } {
  const [, head = "{}", body = text] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  return { head: load(head) as Record<string, string>, body };
}

/**
 * Returns what follows a heading, up to the next heading of its level or above.
 *
 * @throws if the page has no such heading
 */
export function sectionOf(page: Page, title: string): string {
  const headings = nodesOf(page).filter(({ type }) => type === "heading");
  const index = headings.findIndex((heading) => textOf(heading) === title);
  const heading = headings[index];
  if (!heading) throw new Error(`${page.name} has no heading "${title}"`);
  const { depth = 1, position } = heading;
  const next = headings.slice(index + 1).find((later) => (later.depth ?? 1) <= depth);
  const lines = page.text.split("\n");
  return lines
    .slice(position.end.line, next && next.position.start.line - 1)
    .join("\n")
    .trim();
}

/** @throws if a block is not closed */
export function blocksOf(page: Page): Block[] {
  const lines = page.text.split("\n").map((line) => line.trim());
  return nodesOf(page).flatMap(({ type, value, lang, position: { start, end } }) => {
    const [marks] = /^(`{3,}|~{3,})/.exec(lines[start.line - 1] ?? "") ?? [];
    // A block without marks is an indented one.
    if (type !== "code" || marks === undefined) return [];
    const last = lines[end.line - 1] ?? "";
    if (end.line === start.line || !last.startsWith(marks) || /[^`~]/.test(last))
      throw new Error(`${page.name}:${start.line}: the block is not closed`);
    return [{ page: page.name, line: start.line, language: lang ?? "", text: `${value}\n` }];
  });
}

export function linksOf(page: Page): Link[] {
  return nodesOf(page).flatMap(({ type, value = "", url, position }) => {
    const inHtml = type === "html" ? [...value.matchAll(/\b(?:href|src)="([^"]*)"/g)] : [];
    const targets = url === undefined ? inHtml.map(([, target = ""]) => target) : [url];
    return targets.map((target) => ({ page: page.name, line: position.start.line, target }));
  });
}

/** Returns the code spans (in backticks) outside of blocks. */
export function codeSpansOf(page: Page): { line: number; text: string }[] {
  return nodesOf(page)
    .filter(({ type }) => type === "inlineCode")
    .map(({ value = "", position }) => ({
      line: position.start.line,
      text: value.replaceAll("\n", " "),
    }));
}

/** Returns the anchors that GitHub makes from headings, and the explicit anchors (`{#here}`, `id="here"`). */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const node of nodesOf(page)) {
    const inHtml = node.type === "html" ? (node.value ?? "").matchAll(/\bid="([^"]+)"/g) : [];
    for (const [, id = ""] of inHtml) anchors.add(id);
    if (node.type !== "heading") continue;
    const [, heading = "", id] = /^(.*?)\s*(?:\{#([^}]+)\})?$/.exec(textOf(node)) ?? [];
    const slug = id ?? slugOf(heading);
    let anchor = slug;
    for (let before = 1; anchors.has(anchor); before++) anchor = `${slug}-${before}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns what a reader sees of a node. */
function textOf(node: Node): string {
  return descendantsOf(node)
    .map(({ value = "" }) => value)
    .join("");
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

const parsed = new Map<string, readonly Node[]>();

/** Returns all nodes of the page, in its order. */
function nodesOf({ text }: Page): readonly Node[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const tree = parsers.markdown.parse(text, {} as never) as Node;
  const nodes = descendantsOf(tree);
  parsed.set(text, nodes);
  return nodes;
}

function descendantsOf({ children = [] }: Node): Node[] {
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}
