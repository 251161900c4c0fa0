/** Writes an SDK: what the official generator makes, and what it leaves to the publisher. */
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { temporaryFolder } from "../support/files";
import { root } from "../support/paths";
import { exampleBlock, titleOf } from "./examples";
import type { PackageSchema } from "./schema";
import { sdkLanguages, type Language, type SdkLanguage } from "./languages";

/** Writes the SDK to the folder `out`. */
export async function writeSdk(
  language: Language,
  schema: PackageSchema,
  out: string,
): Promise<void> {
  const sdk: SdkLanguage = sdkLanguages[language];
  const generator = await ensureGoTool(sdk.generator);
  using scratch = temporaryFolder();
  const file = join(scratch.path, "schema.json");
  writeFileSync(file, JSON.stringify(sdk.schema?.(schema) ?? schema));
  await captured(generator, ["-schema", file, "-language", language, "-out", out]);
  await sdk.complete(out);
  const readme = `# ${metadata.displayName} for Pulumi, in ${titleOf(sdk.example)}

${metadata.description}

${sdk.install}

${exampleBlock(sdk.example)}

The settings (\`compute:baseUrl\`, \`compute:apiToken\` and more), what a delete does, and everything else:
<${metadata.homepage}>

This package is generated from the provider's schema. Licence: ${metadata.license}.
`;
  writeFileSync(join(out, "README.md"), readme);
  cpSync(join(root, "LICENSE"), join(out, "LICENSE"));
}

/** Compiled or installed files, which the languages' tools leave beside the sources. */
const buildOutput = /^sdk\/\w+\/(bin|build|dist|node_modules|obj|target|\w+\.egg-info)$/;

/** Returns the generated files below a folder such as `sdk/python`, from `base`. */
export function generatedFiles(base: string, folder: string): string[] {
  return readdirSync(join(base, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (buildOutput.test(path)) return [];
    return entry.isDirectory() ? generatedFiles(base, path) : [path];
  });
}
