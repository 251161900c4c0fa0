/** The example programs, one a language: the docs and the packages' READMEs show what the tests run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";

/** By the name that a fenced block of the language has. */
const programs = {
  typescript: { title: "TypeScript", file: "instance/index.ts" },
  python: { title: "Python", file: "instance-python/__main__.py" },
  go: { title: "Go", file: "instance-go/main.go" },
  csharp: { title: "C#", file: "instance-csharp/Program.cs" },
  java: { title: "Java", file: "instance-java/src/main/java/myproject/App.java" },
  yaml: { title: "YAML", file: "instance-yaml/Pulumi.yaml" },
};

export type ExampleLanguage = keyof typeof programs;

/** In the order in which pages show them. */
export const exampleLanguages = Object.keys(programs) as ExampleLanguage[];

/** The name of the language, as people write it. */
export function titleOf(language: ExampleLanguage): string {
  return programs[language].title;
}

/** The example as a fenced block of Markdown. */
export function exampleBlock(language: ExampleLanguage): string {
  const text = readFileSync(join(root, "examples", programs[language].file), "utf8");
  // The head of a YAML program is the project's, not the program's.
  const program = language === "yaml" ? text.slice(text.search(/^(variables|resources):/m)) : text;
  return `\`\`\`${language}\n${program.trimEnd()}\n\`\`\``;
}

/** All of them, as the registry and the SDK generators read them: each takes what is its language's. */
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
