/** Makes the parts of the single executable other than Node, which are the same for every platform. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle, digestOf } from "../support/bundle";
import { root } from "../support/paths";

export interface Parts {
  /** The script that Node runs first. */
  start: string;
  /** Files that the script reads by name. */
  assets: Readonly<Record<string, Buffer>>;
  /** The files that the parts were made from, as paths from the root. */
  inputs: readonly string[];
}

export async function makeParts(): Promise<Parts> {
  const provider = await bundle("provider/main.ts", "provider.js");
  const emulator = await bundle("emulator/bundled.ts", "emulator.js");
  const source = codeOf(provider);
  const define = digestOf(source);
  const start = await bundle("provider/start/embedded.ts", "start.js", { define });
  const inputs = [provider, emulator, start].flatMap((part) => part.inputs);
  return {
    start: codeOf(start),
    assets: {
      "provider.js": Buffer.from(source),
      "emulator.js": Buffer.from(`(function (require, module) {${codeOf(emulator)}\n})`),
      "schema.json": readFileSync(join(root, "schema.json")),
    },
    inputs: [...inputs, "schema.json", "tsconfig.json"],
  };
}

/** Without source maps, there is only one file. */
function codeOf({ files }: Awaited<ReturnType<typeof bundle>>): string {
  return files.map(({ text }) => text).join("");
}
