/** Runs the bundle of the plugin, each part of it when it is needed. */
import { join } from "node:path";
import { CompiledCode } from "./compiledCode";
import { PartsFile } from "./partsFile";

/** The plugin as its build has made it. */
interface Bundle {
  /** In stack traces. */
  file: string;
  /** ASCII. */
  content: Buffer;
  /** Where the plugin is installed. */
  folder: string;
  /** Loads what the bundle does not contain: Node's own modules, and the emulator. */
  require: (name: string) => unknown;
}

/** What a part is as a script. */
type BundlePart = (
  require: (name: string) => unknown,
  module: { exports: unknown },
  folder: string,
) => void;

/** The part that runs first. */
const first = "./main.js";

/** @throws whatever the first part throws, and Error if the content is no bundle */
export function runBundle({ file, content, folder, require }: Bundle): void {
  // All of it is in memory: a plugin that is updated or removed while it runs must not miss a part.
  const bundle = new PartsFile(content);
  const compiled = new CompiledCode(folder, bundle.digest);
  const modules = new Map<string, { exports: unknown }>();
  const load = (name: string): unknown => {
    const loaded = modules.get(name);
    if (loaded) return loaded.exports;
    const source = bundle.parts.get(name);
    if (!source) return require(name);
    const module = { exports: undefined };
    modules.set(name, module);
    const script = compiled.script(name, source.toString("latin1"), join(file, name));
    const run = script.runInThisContext() as BundlePart;
    run(load, module, folder);
    return module.exports;
  };
  load(first);
}
