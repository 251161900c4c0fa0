/** Writes an SDK, whole: what the official generator makes, and what it leaves to the publisher. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { exampleBlock, titleOf } from "./examples";
import type { SdkLanguage } from "./language";
import { sdkLanguages, type Language } from "./languages";

export async function writeSdk(language: Language, schema: string, out: string): Promise<void> {
  const sdk: SdkLanguage = sdkLanguages[language];
  const generator = await ensureGoTool(sdk.generator);
  await captured(generator, ["-schema", schema, "-language", language, "-out", out]);
  const directory = join(out, sdk.root ?? ".");
  await sdk.complete(directory);
  writeReadme(directory, sdk);
  cpSync(join(root, "LICENSE"), join(directory, "LICENSE"));
}

function writeReadme(directory: string, { example, install }: SdkLanguage): void {
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
