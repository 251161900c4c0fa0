/** Builds all that a release publishes, into one folder. The jobs that publish have no other source. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { committedChecksums, packedChecksums, packPlugins } from "../dist/archives";
import { compareWithOfficial, nodejsOrg, packagedNode } from "../dist/officialNode";
import { platformNames } from "../dist/platforms";
import { packForRelease } from "../sdk/pack";
import { writeWhole } from "../support/files";
import { say, ToolError } from "../support/main";
import { root, toolsDir } from "../support/paths";
import { releaseNotes } from "./versions";

/**
 * Writes `plugins/`, a folder for each SDK but Go's, which is published as a tag, and `notes.md` into `.tools/release`.
 *
 * @throws {ToolError} before it packs anything, if the Node of a platform is not the official one; and before the SDKs, if
 *   the pages name other checksums
 */
export async function buildRelease(releases = nodejsOrg): Promise<void> {
  for (const platform of platformNames)
    await compareWithOfficial(await packagedNode(platform), releases);
  const out = join(toolsDir, "release");
  rmSync(out, { recursive: true, force: true });
  await packPlugins(platformNames);
  const packed = packedChecksums();
  const unlike = [...committedChecksums()].filter(([name, sum]) => packed.get(name) !== sum);
  if (unlike.length > 0) {
    throw new ToolError(
      `${unlike.length} of these archives have other checksums than the pages and pipelines name. ` +
        "Run `npm run release -- checksums` and `npm run generate`, and commit what they write.",
    );
  }
  for (const name of ["SHA256SUMS", ...packed.keys()])
    cpSync(join(root, "dist", name), join(out, "plugins", name));
  for (const language of ["nodejs", "python", "dotnet", "java"] as const)
    await packForRelease(language);
  writeWhole(join(out, "notes.md"), `${releaseNotes() ?? ""}\n`);
  say(`Built ${out}.`);
}
