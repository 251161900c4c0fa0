/**
 * `npm run build`: bundles the plugin in bin/, with the executable that the engine looks for, and compiles the
 * Node.js SDK. Does nothing if nothing has changed.
 */
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import metadata from "../metadata.json";
import { executable } from "../provider/process/executable";
import { posixQuote } from "../provider/shellQuote";
import { writeBundle, writePlugin } from "./support/bundle";
import { writeWhole } from "./support/files";
import { batchText, shellLauncher, windowsLauncher } from "./support/launchers";
import { ensureProduct } from "./support/products";
import { runTool, say, ToolError } from "./support/main";
import { captured } from "./support/command";
import { root } from "./support/paths";

const launcher = `bin/${executable}`;
const emulatorFile = "bin/emulator.js";
const sdk = "sdk/nodejs";
const testing = `${sdk}/bin/testing`;

/** The oldest Node that the plugin and the emulator of the npm package run on. */
export const pluginTarget = `node${metadata.sdk.nodejs.pluginNodes[0]}`;
/** The oldest Node on which the entry points run, if only to say that the Node is too old. */
export const entryTarget = "node18";

/** The products are made again if these change. */
const toolSources = ["tools/build.ts", "tools/support/bundle.ts", "tools/support/launchers.ts"];

/** Builds the plugin unless it is up to date. Returns the path of its launcher. */
export async function ensureBuilt(): Promise<string> {
  await ensureProduct({
    name: "the provider",
    outputs: [launcher, "bin/start.js", "bin/provider.js", emulatorFile],
    stamp: ".tools/stamps/provider",
    make: buildProvider,
  });
  return join(root, launcher);
}

/** Compiles the Node.js SDK unless it is up to date. Returns its folder. */
export async function ensureSdkBuilt(): Promise<string> {
  await ensureProduct({
    name: "the Node.js SDK",
    outputs: [`${sdk}/bin/index.js`, `${sdk}/bin/package.json`, `${testing}/index.js`],
    stamp: ".tools/stamps/sdk-nodejs",
    make: buildSdk,
  });
  return join(root, sdk);
}

async function buildProvider(): Promise<readonly string[]> {
  const inputs = [
    ...(await writePlugin("bin")),
    ...(await writeBundle("emulator/bundled.ts", emulatorFile)),
  ];
  const bin = join(root, "bin");
  // The code cache that V8 has written for the previous bundle.
  rmSync(join(bin, ".cache"), { recursive: true, force: true });
  const schema = join(root, "schema.json");
  if (existsSync(schema)) writeWhole(join(bin, "schema.json"), readFileSync(schema));
  writeWhole(join(root, launcher), shellLauncher(process.execPath), 0o755);
  writeWhole(join(root, `${launcher}.cmd`), windowsLauncher(process.execPath));
  return [...toolSources, ...inputs, "schema.json", "tsconfig.json"];
}

async function buildSdk(): Promise<readonly string[]> {
  const project = join(root, sdk);
  const sources = sdkSources();
  if (sources.length === 0) {
    throw new ToolError(`${sdk} is empty. Run \`npm run generate\`, which writes it.`);
  }
  const bin = join(project, "bin");
  rmSync(bin, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await captured(process.execPath, [tsc, "-p", project], { cwd: project });
  // The compiled code reads its version from this file.
  writeWhole(join(bin, "package.json"), readFileSync(join(project, "package.json")));
  return [...toolSources, ...sources, ...(await buildTesting())];
}

/** Writes `pulumi-compute-instances/testing`. Returns the files it was made from. */
async function buildTesting(): Promise<readonly string[]> {
  const entry = { target: entryTarget };
  const plugin = { target: pluginTarget };
  const inputs = [
    ...(await writeBundle("provider/process/testing.ts", `${testing}/index.js`, entry)),
    ...(await writeBundle("emulator/bundled.ts", `${testing}/emulator.js`, plugin)),
  ];
  const { default: ts } = await import("typescript");
  const types = "emulator/testing.ts";
  const source = readFileSync(join(root, types), "utf8");
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    fileName: types,
    reportDiagnostics: true,
  });
  const [first] = diagnostics;
  if (first !== undefined)
    throw new ToolError(`${types}: ${ts.flattenDiagnosticMessageText(first.messageText, "\n")}`);
  writeWhole(join(root, testing, "index.d.ts"), outputText);
  return inputs;
}

function sdkSources(): string[] {
  const files = globSync(["**/*.ts", "package.json", "tsconfig.json"], {
    cwd: join(root, sdk),
    exclude: ["bin/**", "node_modules/**"],
  });
  return files.map((file) => `${sdk}/${file}`);
}

/** Puts the built plugin where `pulumi plugin install` would put it, in this Pulumi home. */
export function installPlugin(home: string): void {
  const plugin = join(root, launcher);
  const installed = join(
    home,
    "plugins",
    `resource-${metadata.name}-v${metadata.version}`,
    executable,
  );
  writeWhole(installed, `#!/bin/sh\nexec ${posixQuote(plugin)} "$@"\n`, 0o755);
  writeWhole(`${installed}.cmd`, `@"${batchText(plugin)}.cmd" %*\r\n`);
}

async function main(): Promise<void> {
  const path = await ensureBuilt();
  say(`The plugin: ${relative(process.cwd(), path)}`);
  await ensureSdkBuilt();
  say(`The Node.js SDK: ${sdk}/bin`);
}

if (require.main === module) runTool({}, main);
