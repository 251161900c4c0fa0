/**
 * `npm run generate`: writes everything that is made from the provider's definitions and the results in bench/:
 * schema.json, the SDKs, what a YAML program has instead of one, lists and tables in docs/ and README.md, and the two pages of the
 * Pulumi Registry.
 *
 *   --check   writes nothing, and fails if a generated file in the repository is not up to date
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../metadata.json";
import { generatedPages } from "./docs/generatedPages";
import { ensureGoTool } from "./go/tools";
import { sdkNames } from "./sdk/languages";
import { packageSchema } from "./sdk/schema";
import { generatedFiles, writeSdk } from "./sdk/write";
import { captured } from "./support/command";
import { writeWhole, temporaryFolder } from "./support/files";
import { runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";

/** Says which plugin a YAML program of the template needs, and where Pulumi finds it, as `pulumi package add` writes it. */
const yamlSdks = "templates/compute-yaml/sdks";
const yamlSdk = `packageDeclarationVersion: 1
name: ${metadata.name}
version: ${metadata.version}
downloadUrl: ${metadata.pluginDownloadURL}
`;

async function main(check: boolean): Promise<void> {
  using temporary = temporaryFolder();
  const scratch = temporary.path;
  const schema = packageSchema();
  const schemaFile = join(scratch, "schema.json");
  writeFileSync(schemaFile, `${JSON.stringify(schema, undefined, 2)}\n`);
  await captured(await ensureGoTool("sdkgen"), ["-schema", schemaFile, "-check"]);
  for (const name of sdkNames) await writeSdk(name, schema, join(scratch, "sdk", name));
  writeWhole(
    join(scratch, yamlSdks, metadata.name, `${metadata.name}-${metadata.version}.yaml`),
    yamlSdk,
  );
  const pages = await generatedPages();
  for (const [page, text] of Object.entries(pages)) writeWhole(join(scratch, page), text);

  const inFolders = (base: string) =>
    ["sdk", yamlSdks].flatMap((folder) => generatedFiles(base, folder));
  const generated = [...Object.keys(pages), "schema.json", ...inFolders(scratch)];
  const stale = [
    ...generated.filter((file) => !isSame(join(scratch, file), join(root, file))),
    ...inFolders(root).filter((file) => !existsSync(join(scratch, file))),
  ];
  if (stale.length === 0) return say("Everything generated is up to date.");
  if (check) {
    throw new ToolError(
      `These files are not up to date: ${stale.join(", ")}\nRun \`npm run generate\` and commit what it writes.`,
    );
  }
  for (const file of stale) {
    if (existsSync(join(scratch, file))) cpSync(join(scratch, file), join(root, file));
    else rmSync(join(root, file));
    say(`${existsSync(join(root, file)) ? "wrote" : "removed"} ${file}`);
  }
}

function isSame(generated: string, existing: string): boolean {
  return existsSync(existing) && readFileSync(generated).equals(readFileSync(existing));
}

runTool({ options: { check: { type: "boolean", default: false } } }, ({ values }) =>
  main(values.check),
);
