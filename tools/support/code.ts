/** The code of provider and commands, without tests: how long each room is, and which names it declares twice. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { repositoryFiles, root } from "./paths";

interface SourceFile {
  path: string;
  text: string;
}

/** Returns the files of provider and commands. */
export function codeFiles(): SourceFile[] {
  return repositoryFiles()
    .filter(
      (path) => /^(provider|cli)\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path),
    )
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Returns for each folder how many lines are neither blank nor a comment. */
export function codeLines(files: readonly SourceFile[]): Map<string, number> {
  const lines = new Map<string, number>();
  for (const { path, text } of files) {
    const count = text.split("\n").filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length;
    lines.set(dirname(path), (lines.get(dirname(path)) ?? 0) + count);
  }
  return lines;
}

/** Returns the types and functions that several files declare at their top level, each with these files. */
export function sharedNames(files: readonly SourceFile[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    const names = statements.flatMap((statement) => {
      if (ts.isVariableStatement(statement))
        return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
          initializer && ts.isArrowFunction(initializer) && ts.isIdentifier(name) ? name.text : [],
        );
      return ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement)
        ? (statement.name?.text ?? [])
        : [];
    });
    for (const name of new Set(names)) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return new Map([...places].filter(([, paths]) => paths.length > 1));
}
