/** Tests of how the plugin starts and ends, as a process of its own. */
import { constants } from "node:os";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import metadata from "../../metadata.json";
import { endSignals, isCommand, isPiped, isStartedByEngine } from "../process/executable";
import { posixTest } from "../../tools/support/unless";
import { propertyMap } from "../pulumi/propertyValue";
import { connect, type TestClient } from "./testing/client";
import { TestEngine } from "./testing/engine";
import { bundleScripted, startPlugin, type Bundle, type Plugin } from "./testing/plugin";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleScripted("waitingProvider.ts");
});
afterAll(() => bundle.remove());

interface Started {
  plugin: Plugin;
  client: TestClient;
  engine: TestEngine;
}

async function withPlugin(
  body: (started: Started) => Promise<void>,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  using cleanup = new DisposableStack();
  const engine = await TestEngine.start();
  cleanup.defer(() => engine.stop());
  const args = ["--logtostderr", "-v=3", engine.address];
  await using plugin = await startPlugin(bundle, args, { ...process.env, ...env });
  const client = connect(plugin.port);
  cleanup.defer(() => client.close());
  await client.handshake(engine.address);
  await body({ plugin, client, engine });
}

const inputs = propertyMap({ name: "web" });

/** Starts a Create and waits until the provider is waiting. `outcome` is its result or its error. */
async function startCreate({ client, engine }: Started): Promise<{ outcome: Promise<unknown> }> {
  const outcome = client.create({ inputs }).catch((error: unknown) => error);
  while (engine.logged.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { outcome };
}

const unfinished = { code: status.UNKNOWN, unfinished: { id: "i-1", outputs: inputs } };

test.each([
  [[], false],
  [["127.0.0.1:41"], true],
  [["--logtostderr", "-v=9", "--tracing", "http://t:1", "127.0.0.1:41"], true],
  [["--tracing=x", "-v", "9", "127.0.0.1:41"], true],
  [["--logtostderr", "--tracing", "http://t:1"], false],
  [["-v", "9"], false],
])(
  "the arguments %j are no command, and whether the engine started the plugin is %s",
  (argv, byEngine) => {
    expect(isStartedByEngine(argv)).toBe(byEngine);
    expect(isCommand(argv)).toBe(false);
  },
);

test.each([
  ["doctor", "--json"],
  ["discard", "urn:pulumi:d::p::t::web:80"],
  ["-h"],
  ["--version"],
  ["Doctor"],
])("%s is a command that a person typed", (...argv) => {
  expect(isCommand(argv)).toBe(true);
});

test("the plugin prints only its port to stdout, whatever goes wrong later", async () => {
  await withPlugin(async ({ plugin, client, engine }) => {
    expect(await client.version()).toMatch(/^\d+\.\d+\.\d+/);
    await client.read({ id: "i-1" });
    const isSaid = (text: string) => engine.logged.some(({ message }) => message.includes(text));
    while (!isSaid("uncaught") || !isSaid("unhandled")) await client.version();
    expect(engine.logged.every(({ severity }) => severity === "debug")).toBe(true);
    expect(engine.logged.flatMap(({ message }) => message.split("\n")).sort()).toEqual([
      expect.stringContaining("uncaught"),
      expect.stringContaining("unhandled"),
    ]);
    expect(plugin.stdout()).toBe(`${plugin.port}\n`);
  });
});

test("the provider does not see the token of Pulumi Cloud, which the engine passes to every plugin (G8)", async () => {
  const env = { PULUMI_API_URL: "https://api.pulumi.com", PULUMI_ACCESS_TOKEN: "pul-1" };
  await withPlugin(async ({ client }) => {
    const { inputs: seen } = await client.check({ news: inputs });
    expect(seen["PULUMI_API_URL"]).toBe(env.PULUMI_API_URL);
    expect(Object.keys(seen)).not.toContain("PULUMI_ACCESS_TOKEN");
  }, env);
});

/** After the signal of the engine, which waits for the end, the process does not wait for Node's exit. */
const endAfter = (signal: NodeJS.Signals) => (signal === "SIGINT" ? signal : 0);

posixTest.each([
  // Some engines send no Cancel. This is how they end a plugin.
  ["SIGINT", "finished"],
  ["SIGTERM", "interrupted"],
  ["SIGHUP", "interrupted"],
] as const)("%s ends an idle plugin, and tells the provider `%s`", async (signal, reason) => {
  await withPlugin(async ({ plugin, client }) => {
    await client.check({ news: inputs });
    plugin.process.kill(signal);
    expect(await plugin.ended).toBe(endAfter(signal));
    expect(plugin.stderr()).toContain(`cancel: ${reason}\n`);
  });
});

test.each([
  ["a pipe", 0o010666, true],
  ["a socket", 0o140777, true],
  ["a file", 0o100644, false],
  ["a terminal", 0o020620, false],
])("that stdin is %s shows in its mode, on every system", (_, mode, is) => {
  expect(isPiped(mode)).toBe(is);
});

/** Those that this system has. */
const signals = endSignals.filter((signal) => signal in constants.signals);

posixTest.each(signals)("%s that comes with the port ends the plugin in order", async (signal) => {
  await using plugin = await startPlugin(bundle, ["127.0.0.1:1"], process.env);
  plugin.process.kill(signal);
  expect(await plugin.ended).toBe(endAfter(signal));
});

posixTest.each(signals)(
  "%s during a Create cancels it, and its instance still reaches the engine (G1)",
  async (signal) => {
    await withPlugin(async (started) => {
      const { outcome } = await startCreate(started);
      started.plugin.process.kill(signal);
      expect(await outcome).toMatchObject(unfinished);
      expect(await started.plugin.ended).toBe(endAfter(signal));
      expect(started.plugin.stderr()).toContain("cancel: interrupted\n");
    });
  },
);

test("the end of stdin means that the engine is gone, so running calls are cancelled and the plugin exits", async () => {
  await withPlugin(async (started) => {
    const { outcome } = await startCreate(started);
    started.plugin.process.stdin?.end();
    expect(await outcome).toMatchObject(unfinished);
    expect(await started.plugin.ended).toBe(0);
  });
});

posixTest(
  "a signal after the end of stdin does not cut off a call that may still learn an id (G1)",
  async () => {
    await withPlugin(async ({ plugin, client, engine }) => {
      client.update({ id: "i-1", news: inputs }).catch(() => undefined);
      while (engine.logged.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      plugin.process.stdin?.end();
      while (!plugin.stderr().includes("cancel"))
        await new Promise((resolve) => setImmediate(resolve));
      plugin.process.kill("SIGTERM");
      expect(await plugin.ended).toBe(0);
      expect(plugin.stderr()).toContain("the update has ended\n");
    });
  },
);

posixTest(
  "a plugin that a person started keeps running after the end of stdin, so that an engine can attach",
  async () => {
    await using plugin = await startPlugin(bundle, []);
    const client = connect(plugin.port);
    using cleanup = new DisposableStack();
    cleanup.defer(() => client.close());
    plugin.process.stdin?.end();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await client.version()).toBe(metadata.version);
    plugin.process.kill("SIGTERM");
    expect(await plugin.ended).toBe(0);
  },
);
