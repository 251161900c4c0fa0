/** Reads what users read: the Markdown pages, without those of the SDKs, and the descriptions in schema.json. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";
import type { Page } from "./markdown";

/** Reads the Markdown page at this path. */
export function readPage(name: string): Page {
  return { name, text: readFileSync(join(root, name), "utf8") };
}

export const pages: readonly Page[] = globSync(["*.md", "docs/**/*.md", "examples/*/README.md"], {
  cwd: root,
})
  .sort()
  .map(readPage);

/** The descriptions in the schema. The name of each description is its path in the schema. */
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
