/** Checks that the pictures of terminals show what our code still says. `npx tsx tools/pictures/draw.ts` draws them anew. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import ts from "typescript";
import { codeFiles } from "../support/code";
import { root } from "../support/paths";

/** Rows that Pulumi or the shell prints, and commands. */
const others = [
  /^\$ /,
  /^Killed$/,
  /^(Previewing update|Updating) \(dev\):/,
  /^ *Type *Name *(Plan|Status)? *(Info)?$/,
  // A row of a resource. The Info column has the beginning of a message.
  /(pulumi:pulumi:Stack|compute:index:Instance) /,
  /^(Diagnostics|Resources|Duration):/,
  /^ *(pulumi:pulumi:Stack|compute:index:Instance) \([\w-]+\):$/,
  /^The currently running update for 'dev' has been canceled!$/,
  /^ *warning: Refreshed resource is in an unhealthy state:$/,
  /^ *[~+-]* ?\d+ (updated|unchanged|to replace)$/,
  // The rest of a path.
  /^\S*\d{4}-\d\d-\d\dT\S+\.json$/,
  // Of examples/automation.
  /^(create|delete) web-1 (…|done)$/,
  /^42 (is gone|lives until .*)$/,
  /^[[{].*[\]}]$/,
];

/** What differs from run to run, without its spaces. */
const variable =
  /^(?:"[^"]*"|urn:pulumi:[\w:-]+|https?:[\w.:/-]+|~\/[\w./:-]+|i-[0-9a-f]{16}|organization\/[\w-]+\/dev|\d+)/;
const punctuation = /^[^\p{L}\p{N}]/u;

const withoutSpaces = (text: string) => text.replace(/\s+/g, "");

/** The texts of our code, without their spaces, and divided where something is put in. */
function ourTexts() {
  const texts = new Set<string>();
  /** The words before something that is put in. */
  const heads = new Set<string>();
  for (const { path, text } of codeFiles()) {
    const visit = (node: ts.Node): void => {
      if (ts.isTemplateHead(node)) heads.add(withoutSpaces(node.text));
      const isPart = ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
      // One word of a sentence proves nothing.
      if (ts.isStringLiteralLike(node) || (isPart && /\p{L}\s.*\p{L}|^\s\p{L}/u.test(node.text)))
        for (const line of node.text.split("\n")) texts.add(withoutSpaces(line));
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  }
  return { texts, heads };
}

/** Whether the row consists of texts of our code and of what differs from run to run. */
function isOurs(row: string, { texts, heads }: ReturnType<typeof ourTexts>): boolean {
  const rest = withoutSpaces(row);
  const reached = new Set([0]);
  // What is put in may be a text into which something is put.
  const isPutIn = (text: string): boolean =>
    variable.test(text) ||
    [...heads].some((head) => text.startsWith(head) && variable.test(text.slice(head.length)));
  for (let at = 0; at < rest.length; at++) {
    if (!reached.has(at)) continue;
    for (const pattern of [variable, punctuation])
      reached.add(at + (pattern.exec(rest.slice(at))?.[0].length ?? 0));
    for (const text of texts) if (rest.startsWith(text, at)) reached.add(at + text.length);
    for (const head of heads)
      if (rest.startsWith(head, at) && isPutIn(rest.slice(at + head.length)))
        reached.add(at + head.length);
  }
  return reached.has(rest.length);
}

/** Returns the rows of a picture. One that goes on in the next row, because the terminal is narrow, is whole. */
function rowsOf(svg: string): string[] {
  const pieces = [...svg.matchAll(/<text class="terminal-r[^>]*>([^<]*)<\/text>/g)];
  const text = pieces.map(([, piece = ""]) => piece).join("");
  const entities: Record<string, string> = {
    "#160": " ",
    "#x27": "'",
    quot: '"',
    lt: "<",
    gt: ">",
    amp: "&",
  };
  const readable = text.replace(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole);
  return readable
    .replace(/^(.{103,104})\n/gm, "$1")
    .split("\n")
    .map((row) => row.trimEnd());
}

const texts = ourTexts();
const pictures = globSync("docs/*.svg", { cwd: root })
  .map((name) => [name, readFileSync(join(root, name), "utf8")] as const)
  .filter(([, svg]) => svg.includes('class="rich-terminal"'));

test.each(pictures)("each sentence in %s stands in the code, or is another's", (_, svg) => {
  const ours = rowsOf(svg).filter((row) => !others.some((other) => other.test(row)));
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((row) => !isOurs(row, texts))).toEqual([]);
});
