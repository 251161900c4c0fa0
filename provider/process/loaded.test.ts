/**
 * Tests what the built plugin loads before it prints its port, and before it answers, because the engine waits for both at
 * every start.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect } from "@jest/globals";
import { ensureBuilt } from "../../tools/build";
import { bundlePlugin, type Module } from "../../tools/support/bundle";
import { root } from "../../tools/support/paths";
import { posixTest as test } from "../../tools/support/unless";
import { connect } from "../rpc/testing/client";

/** What has run: parts of the bundle, those of their modules that run only when others ask for them, and Node's own. */
interface Ran {
  parts: string[];
  modules: string[];
  node: string[];
}

/** Returns what has run when the plugin prints its port, and when it has answered its first call. */
async function recordLoads(): Promise<{ atPort: Ran; atAnswer: Ran }> {
  const hook = join(root, "provider", "testing", "recordLoads.cjs");
  const child = spawn(process.execPath, ["--require", hook, join(root, "bin", "start.js")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  using cleanup = new DisposableStack();
  cleanup.defer(() => child.kill("SIGKILL"));
  const reports = createInterface(child.stderr);
  const nextReport = async () => {
    const [line] = (await once(reports, "line")) as [string];
    return JSON.parse(line) as Ran;
  };
  const port = once(createInterface(child.stdout), "line");
  const atPort = await nextReport();
  const client = connect(Number((await port)[0]));
  cleanup.defer(() => client.close());
  await client.version();
  const next = nextReport();
  child.kill("SIGUSR2");
  return { atPort, atAnswer: await next };
}

type Loaded = readonly Module[];

let loaded: { atPort: Loaded; atAnswer: Loaded };
let node: Ran["node"];
beforeAll(async () => {
  await ensureBuilt();
  const { atPort, atAnswer } = await recordLoads();
  const { code, modules } = await bundlePlugin();
  const isLazy = ({ name }: Module) => code.includes(`"${name}"(`);
  const loadedIn = (ran: Ran) =>
    modules.filter((module) =>
      isLazy(module) ? ran.modules.includes(module.name) : ran.parts.includes(module.part),
    );
  loaded = { atPort: loadedIn(atPort), atAnswer: loadedIn(atAnswer) };
  ({ node } = atAnswer);
});

const isPackage = ({ name }: { name: string }) => name.startsWith("node_modules/");
const namesOf = (modules: Loaded) => [...new Set(modules.map(({ name }) => name))].sort();
const bytes = (modules: Loaded) => modules.reduce((sum, module) => sum + module.bytes, 0);

test("before the port is printed, nothing is loaded but what opens it", () => {
  expect(namesOf(loaded.atPort)).toEqual([
    "metadata.json",
    "provider/process/executable.ts",
    "provider/process/main.ts",
    "provider/process/pluginPort.ts",
  ]);
});

test("of the provider's modules, only those that speak to the engine are loaded before the first answer", () => {
  const ours = loaded.atAnswer.filter((module) => !isPackage(module));
  const elsewhere = namesOf(ours).filter((name) => !name.startsWith("provider/rpc/"));
  expect(elsewhere).toEqual([
    "metadata.json",
    "provider/clock.ts",
    "provider/errors.ts",
    "provider/process/executable.ts",
    "provider/process/main.ts",
    "provider/process/pluginPort.ts",
    "provider/process/serve.ts",
    "provider/process/starter.ts",
    "provider/pulumi/names.ts",
    "provider/pulumi/propertyValue.ts",
    "provider/redaction.ts",
  ]);
  expect(bytes(ours)).toBeLessThan(64 * 1024);
});

test("of the packages, only gRPC and the engine's messages are loaded before the first answer, but neither zod nor undici", () => {
  const packages = new Map<string, number>();
  const others = loaded.atAnswer.filter(isPackage);
  for (const { name } of others) {
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
  expect(bytes(others)).toBeLessThan(1150 * 1024);
});

test("of Node's modules, neither undici (for `fetch`) nor sqlite is loaded", () => {
  expect(node).toContain("NativeModule http2");
  expect(node.filter((name) => /undici|sqlite/.test(name))).toEqual([]);
});
