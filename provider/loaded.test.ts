/**
 * Tests what the built plugin loads before it prints its port, because the engine waits for the port at every start.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { ensureBuilt } from "../tools/build";
import { firstLine } from "../tools/support/command";
import { root } from "../tools/support/paths";

const bundle = join(root, "bin", "provider.js");

/** Returns each module of the bundle with its size. A `lazy` module runs only when other code asks for it. */
function modulesOf(source: string): { name: string; bytes: number; lazy: boolean }[] {
  const headers = [
    ...source.matchAll(/^\/\/ ((?:provider|cli|node_modules)\/\S+|metadata\.json)$/gm),
  ];
  return headers.map(({ 1: name = "", index }, n) => {
    const text = source.slice(index, headers[n + 1]?.index);
    return { name, bytes: text.length, lazy: /^var .* = __(esm|commonJS)\(\{$/m.test(text) };
  });
}

/** Returns the names of the lazy modules, and of Node's own modules, that have run when the port is printed. */
async function loadedAtPort(): Promise<{ ran: string[]; node: string[] }> {
  const hook = join(root, "provider", "testing", "recordLoads.cjs");
  const child = spawn(process.execPath, ["--require", hook, bundle], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    return JSON.parse(await firstLine(child.stderr)) as { ran: string[]; node: string[] };
  } finally {
    child.kill("SIGKILL");
  }
}

let loaded: { name: string; bytes: number }[];
let node: string[];
beforeAll(async () => {
  await ensureBuilt();
  const atPort = await loadedAtPort();
  node = atPort.node;
  const ran = new Set(atPort.ran);
  loaded = modulesOf(readFileSync(bundle, "utf8")).filter(
    ({ name, lazy }) => !lazy || ran.has(name),
  );
});

const ours = () => loaded.filter(({ name }) => !name.startsWith("node_modules/"));
const others = () => loaded.filter(({ name }) => name.startsWith("node_modules/"));
const bytes = (modules: readonly { bytes: number }[]) =>
  modules.reduce((sum, module) => sum + module.bytes, 0);

test("of the provider's modules, only those that speak to the engine are loaded before the port is printed", () => {
  const names = new Set(ours().map(({ name }) => name));
  const elsewhere = [...names].filter((name) => !name.startsWith("provider/rpc/")).sort();
  expect(elsewhere).toEqual([
    "metadata.json",
    "provider/clock.ts",
    "provider/errors.ts",
    "provider/executable.ts",
    "provider/main.ts",
    "provider/propertyValue.ts",
    "provider/pulumiNames.ts",
    "provider/redaction.ts",
    "provider/starter.ts",
    "provider/version.ts",
  ]);
  expect(bytes(ours())).toBeLessThan(64 * 1024);
});

test("of the packages, only gRPC and the engine's messages are loaded, but neither zod nor undici", () => {
  const packages = new Map<string, number>();
  for (const { name } of others()) {
    const [, folder = ""] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
    packages.set(folder, (packages.get(folder) ?? 0) + 1);
  }
  // The number of modules of each package. If a number grows, find out whether the new modules are needed.
  expect(Object.fromEntries(packages)).toEqual({
    "@grpc/grpc-js": 65,
    "@js-sdsl/ordered-map": 1,
    "@pulumi/pulumi": 5,
    "google-protobuf": 4,
  });
  expect(bytes(others())).toBeLessThan(1150 * 1024);
});

test("of Node's modules, neither undici (for `fetch`) nor sqlite is loaded", () => {
  expect(node).toContain("NativeModule http2");
  expect(node.filter((name) => /undici|sqlite/.test(name))).toEqual([]);
});
