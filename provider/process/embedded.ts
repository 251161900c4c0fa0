/** The entry point of the single executable. It runs the bundle inside. */
import { dirname } from "node:path";
import { getRawAsset } from "node:sea";
import { Script } from "node:vm";
import { runBundle } from "./runBundle";

const nodeRequire: (name: string) => unknown = require;
const file = "provider.js";
const folder = dirname(process.execPath);
const content = Buffer.from(getRawAsset(file));
runBundle({ file, content, folder, require: requireFromBundle });

/** Loads Node's own modules, and the emulator, which is a bundle of its own. */
function requireFromBundle(name: string): unknown {
  if (name !== "./emulator.js") return nodeRequire(name);
  // The build makes sure that a bundle has only ASCII characters.
  const source = Buffer.from(getRawAsset("emulator.js")).toString("latin1");
  const emulator = new Script(source, { filename: "emulator.js" });
  const load = emulator.runInThisContext() as (
    require: (name: string) => unknown,
    module: { exports: unknown },
  ) => void;
  const module = { exports: undefined };
  load(nodeRequire, module);
  return module.exports;
}
