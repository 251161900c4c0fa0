/** The package's schema, as `npm run generate` writes it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";

/** In the single executable; beside the bundle; in a checkout, at its root. */
export async function readSchema(): Promise<string> {
  if (isSea()) return getAsset("schema.json", "utf8");
  try {
    return await readFile(join(__dirname, "schema.json"), "utf8");
  } catch {
    return readFile(join(__dirname, "..", "schema.json"), "utf8");
  }
}
