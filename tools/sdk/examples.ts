/** The example programs. The tests run them; docs and packages show them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";

/** By the name of the language in a fenced block. */
const programs = {
  typescript: { title: "TypeScript", file: "instance/index.ts" },
  python: { title: "Python", file: "instance-python/__main__.py" },
  go: { title: "Go", file: "instance-go/main.go" },
  csharp: { title: "C#", file: "instance-csharp/Program.cs" },
  java: { title: "Java", file: "instance-java/src/main/java/myproject/App.java" },
  yaml: { title: "YAML", file: "instance-yaml/Pulumi.yaml" },
  hcl: { title: "HCL", file: "instance-hcl/main.tf" },
};

export type ExampleLanguage = keyof typeof programs;

/** In the order of the pages. */
export const exampleLanguages = Object.keys(programs) as ExampleLanguage[];

export function titleOf(language: ExampleLanguage): string {
  return programs[language].title;
}

export function exampleBlock(language: ExampleLanguage): string {
  const content = readFileSync(join(root, "examples", programs[language].file), "utf8");
  // Without the project's settings.
  const program =
    language === "yaml" ? content.slice(content.search(/^(variables|resources):/m)) : content;
  return `\`\`\`${language}\n${program.trimEnd()}\n\`\`\``;
}

/** Returns a program of examples/reference in each language, with its title. */
export function referenceExample(name: string): string {
  return readFileSync(join(root, "examples", "reference", `${name}.md`), "utf8").trimEnd();
}

/** The example programs, with a title. */
export function webServersExample(): string {
  return ["### Web servers", "", ...exampleLanguages.map(exampleBlock)].join("\n");
}

/** Returns examples in the form from which the Registry and the SDK generators pick a language. */
export function exampleUsage(...examples: readonly string[]): string {
  return [
    "{{% examples %}}",
    "## Example Usage",
    ...examples.flatMap((example) => ["{{% example %}}", example, "{{% /example %}}"]),
    "{{% /examples %}}",
  ].join("\n");
}
