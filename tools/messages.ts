/**
 * `npm run messages`: prints every sentence in the source of the plugin, for a review of words, tone and next steps.
 * The command finds them in the syntax trees. After each sentence it names what can lead to it:
 * the calls of the engine, the commands of the plugin, or its start. The engine calls configure, check and diff in each
 * preview and up; create and update in up; read in refresh, in import, and in the up of an unfinished instance; delete
 * in destroy and up; invoke and list for functions and `pulumi do`.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { Callers, commands } from "./support/callers";
import { runTool } from "./support/main";
import { root } from "./support/paths";

/** Two words with a space between them, which no name, key or path has. */
const isSentence = (value: string) => /\p{L}\S* \S*\p{L}/u.test(value);

async function main(): Promise<void> {
  const exclude = ["**/testing/**", "**/*.test.ts"];
  const paths = globSync("{provider,cli}/**/*.ts", { cwd: root, exclude }).sort();
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) =>
    readFileSync(path, "utf8"),
  ) as { config: { compilerOptions: unknown } };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(
    paths.map((path) => join(root, path)),
    options,
  );
  const files = paths.flatMap((path) => program.getSourceFile(join(root, path)) ?? []);
  const callers = new Callers(program, files);
  for (const [index, file] of files.entries()) {
    const sentences = sentencesIn(file, callers);
    if (sentences.length > 0) console.log([paths[index], ...sentences, ""].join("\n"));
  }
}

function sentencesIn(source: ts.SourceFile, callers: Callers): string[] {
  const sentences: string[] = [];
  const visit = (node: ts.Node): void => {
    const value = stringOf(node, source);
    if (value === undefined) ts.forEachChild(node, visit);
    else if (isSentence(value)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const entries = shortened(callers.entriesOf(node)).join(" ");
      sentences.push(
        `  ${String(line + 1).padStart(4)}  ${value.replaceAll("\n", "⏎")}  [${entries}]`,
      );
    }
  };
  visit(source);
  return sentences;
}

/** Returns the entries, with one word in place of the calls for an instance if all of them are there. */
function shortened(entries: readonly string[]): readonly string[] {
  const calls = ["check", "create", "delete", "diff", "read", "update"];
  if (!calls.every((call) => entries.includes(call))) return entries;
  return ["any-call", ...entries.filter((entry) => commands.includes(entry))];
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
