/** What the built plugin loads before its port line, which the engine waits for at every start. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { ensureBuilt } from "../tools/build";
import { firstLine } from "../tools/support/command";
import { root } from "../tools/support/paths";

const bundle = join(root, "bin", "provider.js");

/** Each module of the bundle, with its size there; `lazy` ones run only when they are asked for. */
function modulesOf(source: string): { name: string; bytes: number; lazy: boolean }[] {
  const heads = [...source.matchAll(/^\/\/ ((?:provider|node_modules)\/\S+|metadata\.json)$/gm)];
  return heads.map(({ 1: name = "", index }, n) => {
    const text = source.slice(index, heads[n + 1]?.index);
    return { name, bytes: text.length, lazy: /^var .* = __(esm|commonJS)\(\{$/m.test(text) };
  });
}

/** Names of what has run by the time the port is printed: lazy modules, and Node's own. */
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

test("of the provider, only what speaks to the engine is loaded before the port", () => {
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
    "provider/version.ts",
  ]);
  expect(bytes(ours())).toBeLessThan(64 * 1024);
});

test("of the packages, only gRPC and the protocol's messages are: no zod, no undici", () => {
  const packages = new Map<string, number>();
  for (const { name } of others()) {
    const [, folder = ""] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
    packages.set(folder, (packages.get(folder) ?? 0) + 1);
  }
  // The number of modules of each: another one is a reason to look whether it is needed.
  expect(Object.fromEntries(packages)).toEqual({
    "@grpc/grpc-js": 65,
    "@js-sdsl/ordered-map": 1,
    "@pulumi/pulumi": 5,
    "google-protobuf": 4,
  });
  expect(bytes(others())).toBeLessThan(1150 * 1024);
});

test("of Node, neither its own fetch nor what the emulator needs", () => {
  expect(node).toContain("NativeModule http2");
  expect(node.filter((name) => /undici|sqlite/.test(name))).toEqual([]);
});
