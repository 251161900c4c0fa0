/**
 * `npm run messages`: every sentence of the plugin that a person can meet, side by side, to be read
 * for words, tone and the next step. Found in the syntax, so none is left out.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createSourceFile,
  forEachChild,
  isBinaryExpression,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
  ScriptTarget,
  SyntaxKind,
  type Expression,
  type Node,
  type SourceFile,
} from "typescript";
import { runTool } from "./support/main";
import { root } from "./support/paths";

/** Names, keys and paths have none of these between two words. */
const isSentence = (text: string) => /\p{L}\S* \S*\p{L}/u.test(text);

function main(): Promise<void> {
  const files = globSync("provider/**/*.ts", {
    cwd: root,
    exclude: ["**/testing/**", "**/*.test.ts"],
  });
  for (const file of files.sort()) {
    const sentences = sentencesIn(readFileSync(join(root, file), "utf8"));
    if (sentences.length > 0) console.log([file, ...sentences, ""].join("\n"));
  }
  return Promise.resolve();
}

function sentencesIn(code: string): string[] {
  const source = createSourceFile("", code, ScriptTarget.Latest);
  const sentences: string[] = [];
  const visit = (node: Node): void => {
    const text = textOf(node, source);
    if (text === undefined) forEachChild(node, visit);
    else if (isSentence(text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      sentences.push(`  ${String(line + 1).padStart(4)}  ${text.replaceAll("\n", "⏎")}`);
    }
  };
  visit(source);
  return sentences;
}

/** Of a text, of one with values in it, and of several put together; undefined for anything else. */
function textOf(node: Node, source: SourceFile): string | undefined {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  const value = (expression: Expression) => `‹${expression.getText(source)}›`;
  if (isTemplateExpression(node)) {
    const spans = node.templateSpans.map(
      ({ expression, literal }) => value(expression) + literal.text,
    );
    return node.head.text + spans.join("");
  }
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.PlusToken) {
    const sides = [node.left, node.right].map((side) => ({ side, text: textOf(side, source) }));
    if (sides.every(({ text }) => text === undefined)) return undefined;
    return sides.map(({ side, text }) => text ?? value(side)).join("");
  }
  return undefined;
}

runTool({}, main);
