/** `npm run messages`: prints every sentence in the source of the plugin, for a review of words, tone and next steps. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { runTool } from "./support/main";
import { root } from "./support/paths";

/** Two words with a space between them, which no name, key or path has. */
const isSentence = (value: string) => /\p{L}\S* \S*\p{L}/u.test(value);

async function main(): Promise<void> {
  const exclude = ["**/testing/**", "**/*.test.ts"];
  for (const path of globSync("provider/**/*.ts", { cwd: root, exclude }).sort()) {
    const text = readFileSync(join(root, path), "utf8");
    const sentences = sentencesIn(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
    if (sentences.length > 0) console.log([path, ...sentences, ""].join("\n"));
  }
}

function sentencesIn(source: ts.SourceFile): string[] {
  const sentences: string[] = [];
  const visit = (node: ts.Node): void => {
    const value = stringOf(node, source);
    if (value === undefined) ts.forEachChild(node, visit);
    else if (isSentence(value)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      sentences.push(`  ${String(line + 1).padStart(4)}  ${value.replaceAll("\n", "⏎")}`);
    }
  };
  visit(source);
  return sentences;
}

/** Returns the value of a string, a template, or a sum of them. Undefined for any other syntax. */
function stringOf(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isTemplateLiteral(node)) return node.getText(source).slice(1, -1);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) {
    return undefined;
  }
  const [left, right] = [node.left, node.right].map((side) => stringOf(side, source));
  if (left === undefined && right === undefined) return undefined;
  return (
    (left ?? `\${${node.left.getText(source)}}`) + (right ?? `\${${node.right.getText(source)}}`)
  );
}

runTool({}, main);
