/** What goes into the single executable beside Node, the same for every platform. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../support/bundle";
import { hashOf } from "../support/files";
import { root } from "../support/paths";

export interface Parts {
  /** The script that Node runs first, and what it finds by name. */
  start: string;
  assets: Readonly<Record<string, Buffer>>;
  /** What they are made of, as paths from the root. */
  inputs: readonly string[];
}

export async function makeParts(): Promise<Parts> {
  const provider = await bundle("provider/main.ts", "provider.js");
  const source = `(function (require, __dirname) {${textOf(provider)}\n})`;
  const start = await bundle("provider/start/embedded.ts", "start.js", {
    define: { bundleDigest: JSON.stringify(hashOf([source]).slice(0, 16)) },
  });
  return {
    start: textOf(start),
    assets: {
      "provider.js": Buffer.from(source),
      "schema.json": readFileSync(join(root, "schema.json")),
    },
    inputs: [...provider.inputs, ...start.inputs, "schema.json", "tsconfig.json"],
  };
}

function textOf({ files }: Awaited<ReturnType<typeof bundle>>): string {
  const [only, ...others] = files;
  if (only === undefined || others.length > 0) throw new Error("one file was to come of it");
  return only.text;
}
