/** The plugin as a process of its own, with a scripted provider in the place of the real one. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build, type Metafile } from "esbuild";

export interface Bundle {
  path: string;
  /** The source files in it. */
  inputs: string[];
  remove(): Promise<void>;
}

/** Bundles `provider/main.ts` with `provider` (a file in this folder) instead of its provider. */
export async function bundlePlugin(provider: string): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "compute-plugin-"));
  const path = join(folder, "plugin.cjs");
  const { metafile } = await build({
    entryPoints: [join(__dirname, "../../main.ts")],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
    metafile: true,
    plugins: [
      {
        name: "scripted-provider",
        setup(plugin) {
          plugin.onResolve({ filter: /^\.\/provider$/ }, () => ({
            path: join(__dirname, provider),
          }));
        },
      },
    ],
  });
  const inputs = loadedAtStart(metafile);
  return { path, inputs, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The files that are reached without a dynamic import. */
function loadedAtStart({ inputs }: Metafile): string[] {
  const reached = new Set(Object.keys(inputs).filter((file) => file.endsWith("provider/main.ts")));
  for (const file of reached) {
    for (const { path, kind } of inputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import") reached.add(path);
    }
  }
  return [...reached];
}

export interface Plugin {
  process: ChildProcess;
  port: number;
  /** All that came on stdout so far. */
  stdout(): string;
  /** Exit code, or the signal that ended it; resolves at its end. */
  ended: Promise<number | string | null>;
}

/** Starts it and waits for its port. */
export async function startPlugin(bundle: Bundle, args: readonly string[]): Promise<Plugin> {
  const child = spawn(process.execPath, [bundle.path, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.resume();
  const ended = once(child, "exit").then(
    ([code, signal]: unknown[]) => (code ?? signal) as number | string | null,
  );
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { process: child, port: Number(line), stdout: () => stdout, ended };
}
