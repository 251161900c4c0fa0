/** What users read: our Markdown pages, and the descriptions in schema.json. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";
import type { Page } from "./markdown";

export function readPage(name: string): Page {
  return { name, text: readFileSync(join(root, name), "utf8") };
}

export const pages: readonly Page[] = globSync(["*.md", "docs/**/*.md", "examples/*/README.md"], {
  cwd: root,
})
  // As links write them, also on Windows.
  .map((name) => name.replaceAll("\\", "/"))
  .sort()
  .map(readPage);

/** Each is named by its path in the schema. */
export const descriptions: readonly Page[] = descriptionsIn(
  JSON.parse(readFileSync(join(root, "schema.json"), "utf8")),
  "schema.json",
);

function descriptionsIn(value: unknown, path: string): Page[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === "description" && typeof part === "string"
      ? [{ name: path, text: part }]
      : descriptionsIn(part, `${path}/${key}`),
  );
}
