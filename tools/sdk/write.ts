/** Writes an SDK, whole: what the official generator makes, and what it leaves to the publisher. */
import { join } from "node:path";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import type { SdkLanguage } from "./language";
import { sdkLanguages, type Language } from "./languages";
import { copyLicence, writeReadme } from "./package";

export async function writeSdk(language: Language, schema: string, out: string): Promise<void> {
  const sdk: SdkLanguage = sdkLanguages[language];
  const generator = await ensureGoTool(sdk.generator);
  await captured(generator, ["-schema", schema, "-language", language, "-out", out]);
  const directory = join(out, sdk.root ?? ".");
  await sdk.complete(directory);
  writeReadme(directory, sdk);
  copyLicence(directory);
}
