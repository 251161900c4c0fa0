/** Starts the plugin as a process, with its real provider or with a scripted one. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin as EsbuildPlugin } from "esbuild";
import { firstLine } from "../../../tools/support/command";

/** A bundle of the plugin, as a file in a temporary folder. */
export interface Bundle {
  path: string;
  remove(): Promise<void>;
}

/** Bundles `provider/process/main.ts` with the provider of the file `provider` in this folder. */
export async function bundleScripted(provider: string): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "compute-plugin-"));
  const path = join(folder, "plugin.cjs");
  await build({
    entryPoints: [join(__dirname, "../../process/main.ts")],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
    plugins: [replaceProvider(join(__dirname, provider))],
  });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

function replaceProvider(path: string): EsbuildPlugin {
  return {
    name: "scripted-provider",
    setup(plugin) {
      plugin.onResolve({ filter: /^\.\.\/provider\.js$/ }, () => ({ path }));
    },
  };
}

/** A running process of the plugin. Its disposal kills it. */
export interface Plugin extends AsyncDisposable {
  process: ChildProcess;
  port: number;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves to the exit code or to the signal that ended the process. */
  ended: Promise<number | string | null>;
}

/** Starts the plugin, and waits until it prints its port. */
export async function startPlugin(
  bundle: Bundle,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Plugin> {
  const child = spawn(process.execPath, [bundle.path, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, "exit").then(
    ([code, signal]: unknown[]) => (code ?? signal) as number | string | null,
  );
  const line = await firstLine(child.stdout);
  return {
    process: child,
    port: Number(line),
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
