/** Checks that the source files have no import cycles, not even of types. */
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "@jest/globals";
import ts from "typescript";
import { root, repositoryFiles } from "./support/paths";

type Imports = ReadonlyMap<string, readonly string[]>;

test("no file imports a file that imports the first one again, directly or through others", () => {
  const files = repositoryFiles("provider", "emulator", "cli", "tools", "bench", "tests");
  const imports = new Map(
    files.filter((file) => file.endsWith(".ts")).map((file) => [file, importsOf(file)]),
  );
  expect([...imports.values()].flat().length).toBeGreaterThan(imports.size);
  const cycles = filesInCycles(imports);
  expect([...cycles].map(([file, imported]) => `${file} imports ${imported.join(", ")}`)).toEqual(
    [],
  );
});

function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), "utf8"));
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => normalize(join(dirname(file), fileName.replace(/\.js$/, ""))))
    .flatMap((path) => [`${path}.ts`, join(path, "index.ts")]);
}

/** Removes the files that import nothing or that nothing imports, until only cycles are left. */
function filesInCycles(imports: Imports): Imports {
  const imported = new Set([...imports.values()].flat());
  const remaining = new Map(
    [...imports]
      .filter(([file]) => imported.has(file))
      .map(([file, targets]) => [file, targets.filter((target) => imports.has(target))] as const)
      .filter(([, targets]) => targets.length > 0),
  );
  return remaining.size === imports.size ? remaining : filesInCycles(remaining);
}
