/** The example programs, one for each language. The tests run them, and the docs and the packages' READMEs show them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";

/** The title and the file of each program, by the name of the language in a fenced block. */
const programs = {
  typescript: { title: "TypeScript", file: "instance/index.ts" },
  python: { title: "Python", file: "instance-python/__main__.py" },
  go: { title: "Go", file: "instance-go/main.go" },
  csharp: { title: "C#", file: "instance-csharp/Program.cs" },
  java: { title: "Java", file: "instance-java/src/main/java/myproject/App.java" },
  yaml: { title: "YAML", file: "instance-yaml/Pulumi.yaml" },
};

/** The name of a language in a fenced block. */
export type ExampleLanguage = keyof typeof programs;

/** The languages in the order in which pages show them. */
export const exampleLanguages = Object.keys(programs) as ExampleLanguage[];

/** Returns the name of the language for readers. */
export function titleOf(language: ExampleLanguage): string {
  return programs[language].title;
}

/** Returns the example as a fenced block of Markdown. */
export function exampleBlock(language: ExampleLanguage): string {
  const content = readFileSync(join(root, "examples", programs[language].file), "utf8");
  // A Pulumi.yaml begins with the project's settings, which are not part of the program.
  const program = language === "yaml" ? content.slice(content.search(/^(variables|resources):/m)) : content;
  return `\`\`\`${language}\n${program.trimEnd()}\n\`\`\``;
}

/** Returns all examples, in the form from which the Registry and the SDK generators pick the language they need. */
export function exampleUsage(title: string): string {
  return [
    "{{% examples %}}",
    "## Example Usage",
    "{{% example %}}",
    `### ${title}`,
    "",
    ...exampleLanguages.map(exampleBlock),
    "{{% /example %}}",
    "{{% /examples %}}",
  ].join("\n");
}
