/** What the package of every language has, and no generator writes: a README and the licence. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { root } from "../support/paths";
import { exampleBlock, titleOf, type ExampleLanguage } from "./examples";

export interface About {
  example: ExampleLanguage;
  /** A fenced block: what adds the package to a project. */
  install: string;
}

export function writeReadme(directory: string, { example, install }: About): void {
  const text = `# ${metadata.displayName} for Pulumi, in ${titleOf(example)}

${metadata.description}

${install}

${exampleBlock(example)}

The settings (\`compute:baseUrl\`, \`compute:apiToken\` and more), what a delete does, and everything else:
<${metadata.homepage}>

This package is generated from the provider's schema. Licence: ${metadata.license}.
`;
  writeFileSync(join(directory, "README.md"), text);
}

export function copyLicence(directory: string): void {
  cpSync(join(root, "LICENSE"), join(directory, "LICENSE"));
}

/** Puts `insertion` after the one place in the file that says `after`; the generator may have changed. */
export function insert(file: string, after: string, insertion: string): void {
  replace(file, after, after + insertion);
}

export function replace(file: string, old: string, text: string): void {
  const before = readFileSync(file, "utf8");
  if (before.split(old).length !== 2) {
    throw new Error(`${file} is not as the generator used to write it: not one ${old}`);
  }
  writeFileSync(file, before.replace(old, () => text));
}
