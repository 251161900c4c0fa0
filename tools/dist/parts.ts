/** Makes the parts of the single executable other than Node, which are the same for every platform. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle, bundlePlugin } from "../support/bundle";
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
  const provider = await bundlePlugin();
  const emulator = await bundle("emulator/bundled.ts");
  const start = await bundle("provider/process/embedded.ts");
  const inputs = [provider, emulator, start].flatMap((part) => part.inputs);
  return {
    start: start.code,
    assets: {
      "provider.js": Buffer.from(provider.code),
      "emulator.js": Buffer.from(`(function (require, module) {${emulator.code}\n})`),
      "schema.json": readFileSync(join(root, "schema.json")),
    },
    inputs: [...inputs, "schema.json", "tsconfig.json"],
  };
}
