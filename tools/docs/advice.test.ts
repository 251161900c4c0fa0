/**
 * Tests that the list of advice (`tests/engine/advice.ts`) is complete: each message of the plugin that says what to type, or
 * to run again, is in it, with the tests that follow it to its end.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import ts from "typescript";
import { advice } from "../../tests/engine/advice";
import { repositoryFiles, root } from "../support/paths";
import { blocksOf } from "./markdown";
import { pages } from "./pages";

/** A text in the source that advises something. */
interface Found {
  file: string;
  text: string;
}

/** The functions and constants of `provider/advice.ts` that make commands. */
const makers =
  /^(?:(?:configCommands|oneRunCommands)\b|(?:pluginCommand|settleCommand|importCommand|importPlanCommand|inStack|stateDeleteCommand|importAs)$)/;
/** What a message contains if it says what to type, or to run something again. */
const typing =
  /`(?:(?:[A-Z_]+=\w+ )?pulumi |(?:audit|doctor|settle)\b|<value>`)|\b[Rr]un [^.;`]*\bagain\b/;

const textOf = (file: string) => readFileSync(join(root, file), "utf8");

const allAdvice = repositoryFiles("provider", "cli")
  .filter((file) => file.endsWith(".ts") && !/\/testing\/|\.test\.ts$/.test(file))
  .flatMap(findAdvice);

test("each message that says what to type, or to run again, is in the list", () => {
  expect(allAdvice.length).toBeGreaterThan(50);
  const isOf = (entry: Found, { file, text }: Found) =>
    entry.file === file && text.includes(entry.text);
  const unlisted = allAdvice.filter((found) => !advice.some((entry) => isOf(entry, found)));
  const unprinted = advice.filter((entry) => !allAdvice.some((found) => isOf(entry, found)));
  expect({ unlisted, unprinted }).toEqual({ unlisted: [], unprinted: [] });
});

test("each entry of the list has a way, and each test that it names exists", () => {
  expect(advice.filter(({ ways }) => Object.keys(ways).length === 0)).toEqual([]);
  const ways = advice.flatMap((entry) => Object.values(entry.ways));
  const named = ways.flatMap((way) => ("test" in way ? [way.test] : []));
  expect(named.filter((name) => !exists(name))).toEqual([]);
});

test("a command to type that would only ask at a terminal has --yes", () => {
  const blocks = pages.flatMap(blocksOf).filter(({ language }) => language === "sh");
  // The running text of a page may mention `pulumi cancel`.
  const typed = [...allAdvice, ...blocks].map(({ text }) => text).join("\n");
  const all = [typed, textOf("provider/advice.ts"), ...pages.map(({ text }) => text)].join("\n");
  const commands = [
    ...typed.matchAll(/pulumi cancel[^`\n]*/g),
    ...all.matchAll(/pulumi state delete ['<$][^`\n]*/g),
  ].map(([command]) => command);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => !command.includes(" --yes"))).toEqual([]);
});

/** Whether there is such a test: `FILE: NAME`, where the name may be cut short. */
function exists(named: string): boolean {
  const [, file = "", name = ""] = /^(\S+\.test\.ts): (.+)$/.exec(named) ?? [];
  return ['"', "`", "'"].some((quote) => textOf(file).includes(quote + name));
}

/** Returns the messages in a file that say what to type, and its commands outside of such messages. */
function findAdvice(file: string): Found[] {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (isAdvice(node) || (makesCommand(node) && file !== "provider/advice.ts")) {
      found.push({ file, text: node.getText(source) });
    } else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether a string or template says what to type. Of its substitutions, only those count that make a command. */
function isAdvice(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return typing.test(node.text);
  if (!ts.isTemplateExpression(node)) return false;
  const parts = node.templateSpans.map(({ expression, literal }) => {
    const command = makesCommand(expression) ? "`pulumi `" : "<value>";
    return command + literal.text;
  });
  return typing.test([node.head.text, ...parts].join(""));
}

/** Whether the node is a command of `provider/advice.ts`. */
function makesCommand(node: ts.Node): boolean {
  const maker =
    ts.isCallExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node)
      ? node.expression
      : undefined;
  return maker !== undefined && ts.isIdentifier(maker) && makers.test(maker.text);
}
