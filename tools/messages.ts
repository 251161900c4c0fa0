/**
 * `npm run messages`: every sentence of the plugin that a person can meet, side by side, to be read
 * for words, tone and the next step. Found in the syntax, so none is left out.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { runTool } from "./support/main";
import { root } from "./support/paths";

/** Names, keys and paths have none of these between two words. */
const isSentence = (text: string) => /\p{L}\S* \S*\p{L}/u.test(text);

async function main(): Promise<void> {
  const exclude = ["**/testing/**", "**/*.test.ts"];
  for (const file of globSync("provider/**/*.ts", { cwd: root, exclude }).sort()) {
    const sentences = sentencesIn(readFileSync(join(root, file), "utf8"));
    if (sentences.length > 0) console.log([file, ...sentences, ""].join("\n"));
  }
}

function sentencesIn(code: string): string[] {
  const source = ts.createSourceFile("", code, ts.ScriptTarget.Latest);
  const sentences: string[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node, source);
    if (text === undefined) ts.forEachChild(node, visit);
    else if (isSentence(text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      sentences.push(`  ${String(line + 1).padStart(4)}  ${text.replaceAll("\n", "⏎")}`);
    }
  };
  visit(source);
  return sentences;
}

/** Of a text, of one with values in it, and of several put together; undefined for anything else. */
function textOf(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isTemplateLiteral(node)) return node.getText(source).slice(1, -1);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) {
    return undefined;
  }
  const [left, right] = [node.left, node.right].map((side) => textOf(side, source));
  if (left === undefined && right === undefined) return undefined;
  return (
    (left ?? `\${${node.left.getText(source)}}`) + (right ?? `\${${node.right.getText(source)}}`)
  );
}

runTool({}, main);
