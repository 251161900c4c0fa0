/** Finds fenced blocks, links, code spans and anchors in a Markdown page. */
import { parse } from "yaml";

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

/** Returns the front matter of a page, which is empty if the page does not begin with one, and what follows it. */
export function frontMatterOf({ text }: Page): { head: Record<string, string>; body: string } {
  const [, head = "{}", body = text] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  return { head: parse(head) as Record<string, string>, body };
}

const fence = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;

const codeSpan = /(`+)(?!`)(.*?)\1(?!`)/g;

/** @throws if a block is not closed */
export function blocksOf({ name, text }: Page): Block[] {
  const blocks: Block[] = [];
  let open: { block: Block; marks: string; indent: string; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (!open) {
      const [, indent = "", marks, language = ""] = fence.exec(line) ?? [];
      if (marks === undefined) continue;
      open = {
        block: { page: name, line: index + 1, language, text: "" },
        marks,
        indent,
        lines: [],
      };
    } else if (line.trim().startsWith(open.marks) && /^(`+|~+)$/.test(line.trim())) {
      blocks.push({ ...open.block, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    }
  }
  if (open) throw new Error(`${name}:${open.block.line}: the block is not closed`);
  return blocks;
}

export function linksOf(page: Page): Link[] {
  const targets =
    /\]\(\s*<?([^\s)>]+)|^\s*\[[^\]]+\]:\s+(\S+)|\b(?:href|src)="([^"]*)"|<(https?:[^\s>]*)>/g;
  return withoutBlocks(page).flatMap((line, index) =>
    [...withoutCode(line).matchAll(targets)].map((found) => ({
      page: page.name,
      line: index + 1,
      target: found.slice(1).find((target) => target !== undefined) ?? "",
    })),
  );
}

/** Returns the code spans (in backticks) outside of blocks. */
export function codeSpansOf(page: Page): { line: number; text: string }[] {
  return withoutBlocks(page).flatMap((line, index) =>
    [...line.matchAll(codeSpan)].map(([, , text = ""]) => ({ line: index + 1, text })),
  );
}

/** Returns the anchors that GitHub makes from headings, and the explicit anchors (`{#here}`, `id="here"`). */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  const slugCounts = new Map<string, number>();
  for (const line of withoutBlocks(page)) {
    for (const [, id = ""] of line.matchAll(/\bid="([^"]+)"/g)) anchors.add(id);
    const [, heading, id] = /^#{1,6}\s+(.*?)\s*(?:\{#([^}]+)\})?\s*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = id ?? slugOf(heading);
    const before = slugCounts.get(slug) ?? 0;
    slugCounts.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return shown
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** The lines of fenced blocks are empty, so that the line numbers stay the same. */
function withoutBlocks(page: Page): string[] {
  const lines = page.text.split("\n");
  for (const { line, text } of blocksOf(page)) {
    lines.fill("", line - 1, line + text.split("\n").length);
  }
  return lines;
}

function withoutCode(line: string): string {
  return line.replace(codeSpan, "");
}
