import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { propertyMap } from "../property/value";
import { engineAddress, isByHand } from "./arguments";
import { connect, type TestClient } from "./testing/client";
import { TestEngine } from "./testing/engine";
import { bundlePlugin, startPlugin, type Bundle, type Plugin } from "./testing/plugin";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundlePlugin("waitingProvider.ts");
});
afterAll(() => bundle.remove());

interface Started {
  plugin: Plugin;
  client: TestClient;
  engine: TestEngine;
}

async function withPlugin(
  flags: string[],
  body: (started: Started) => Promise<void>,
): Promise<void> {
  const engine = await TestEngine.start();
  const plugin = await startPlugin(bundle, [...flags, engine.address]);
  const client = connect(plugin.port);
  try {
    await body({ plugin, client, engine });
  } finally {
    client.close();
    plugin.process.kill("SIGKILL");
    await plugin.ended;
    engine.stop();
  }
}

const inputs = propertyMap({ name: "web" });

/** Starts a Create and waits until it waits; `outcome` is how it ends. */
async function startCreate({ client, engine }: Started): Promise<{ outcome: Promise<unknown> }> {
  const outcome = client.create({ inputs }).catch((error: unknown) => error);
  while (engine.logged.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { outcome };
}

const unfinished = { code: status.UNKNOWN, unfinished: { id: "i-1", outputs: inputs } };

test.each([
  [[], undefined],
  [["127.0.0.1:41"], "127.0.0.1:41"],
  [["--logtostderr", "-v=9", "--tracing", "http://t:1", "127.0.0.1:41"], "127.0.0.1:41"],
  [["--tracing=x", "-v", "9", "127.0.0.1:41"], "127.0.0.1:41"],
  [["--logtostderr", "--tracing", "http://t:1"], undefined],
])("the engine's address in %j is %s, and no command", (argv, address) => {
  expect(engineAddress(argv)).toBe(address);
  expect(isByHand(argv)).toBe(false);
});

test.each([
  ["doctor", "--json"],
  ["discard", "urn:pulumi:d::p::t::web:80"],
  ["-h"],
  ["--version"],
  ["Doctor"],
])("%s is typed by a person", (...argv) => {
  expect(isByHand(argv)).toBe(true);
});

test("the port is the first and only thing on stdout, whatever goes wrong later", async () => {
  await withPlugin(["--logtostderr", "-v=3"], async ({ plugin, client, engine }) => {
    expect(await client.version()).toMatch(/^\d+\.\d+\.\d+/);
    await client.read({ id: "i-1" });
    while (engine.logged.length < 2) await client.version();
    expect(engine.logged.every(({ severity }) => severity === "debug")).toBe(true);
    expect(engine.logged.map(({ message }) => message).sort()).toEqual([
      expect.stringContaining("uncaught"),
      expect.stringContaining("unhandled"),
    ]);
    expect(plugin.stdout()).toBe(`${plugin.port}\n`);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends an idle plugin", async (signal) => {
  await withPlugin([], async ({ plugin, client }) => {
    await client.version();
    plugin.process.kill(signal);
    expect(await plugin.ended).toBe(0);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s during a Create cancels it, and its instance still reaches the engine (G1)",
  async (signal) => {
    await withPlugin([], async (started) => {
      const { outcome } = await startCreate(started);
      started.plugin.process.kill(signal);
      expect(await outcome).toMatchObject(unfinished);
      expect(await started.plugin.ended).toBe(0);
    });
  },
);

test("Cancel during a Create does the same, and the plugin goes on", async () => {
  await withPlugin([], async (started) => {
    const { outcome } = await startCreate(started);
    await started.client.cancel();
    expect(await outcome).toMatchObject(unfinished);
    expect(await started.client.version()).toBeDefined();
  });
});

test("the end of stdin is the end of the engine: what runs is cancelled, then the plugin exits", async () => {
  await withPlugin([], async (started) => {
    const { outcome } = await startCreate(started);
    started.plugin.process.stdin?.end();
    expect(await outcome).toMatchObject(unfinished);
    expect(await started.plugin.ended).toBe(0);
  });
});

test("started by hand, to attach to, the plugin does not mind the end of stdin", async () => {
  const plugin = await startPlugin(bundle, []);
  const client = connect(plugin.port);
  plugin.process.stdin?.end();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await client.version()).toBeDefined();
  client.close();
  plugin.process.kill("SIGTERM");
  expect(await plugin.ended).toBe(0);
});
