/** The entry point of the single executable. It runs the bundle inside. */
import { dirname } from "node:path";
import { getRawAsset } from "node:sea";
import { Script } from "node:vm";
import { runBundle } from "./runBundle";

const nodeRequire: (name: string) => unknown = require;
const file = "provider.js";
const folder = dirname(process.execPath);
runBundle({ file, source: readScript(file), folder, require: requireFromBundle });

/** The build makes sure that a bundle has only ASCII characters. */
function readScript(name: string): string {
  return Buffer.from(getRawAsset(name)).toString("latin1");
}

/** Loads Node's own modules, and the emulator, which is a bundle of its own. */
function requireFromBundle(name: string): unknown {
  if (name !== "./emulator.js") return nodeRequire(name);
  const emulator = new Script(readScript("emulator.js"), { filename: "emulator.js" });
  const load = emulator.runInThisContext() as (
    require: (name: string) => unknown,
    module: { exports: unknown },
  ) => void;
  const module = { exports: undefined };
  load(nodeRequire, module);
  return module.exports;
}
