/**
 * Bytes that are no message, in every call, to a plugin that is a process of its own: each is answered,
 * the process goes on serving, and has nothing to say on stderr.
 */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { CreateResponse } from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import metadata from "../../metadata.json";
import { propertyMap, Secret } from "../../provider/property/value";
import { connect, type TestClient } from "../../provider/rpc/testing/client";
import { TestEngine } from "../../provider/rpc/testing/engine";
import { bundlePlugin, startPlugin, type Bundle } from "../../provider/rpc/testing/plugin";
import { expectFit, service } from "./fixtures/hostilePlugin";
import { ask, bytesField, callNames, edgeNumbers, type CallName } from "./fixtures/hostileWire";
import { badProperties, broken, neverMessages } from "./fixtures/mutations";
import { inputs, urnOf } from "./support/stack";
import { testToken, withWorld, type World } from "./support/world";

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 60);
const atOnce = 8;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundlePlugin();
});
afterAll(() => bundle.remove());

interface Running {
  world: World;
  client: TestClient;
  configure: () => Promise<void>;
  /** Does what a good call asks for. */
  expectServing: () => Promise<void>;
}

async function withPlugin(body: (running: Running) => Promise<void>): Promise<void> {
  await withWorld(service, async (world) => {
    world.service.control.insert({ name: "x", id: "i-1" });
    const engine = await TestEngine.start();
    const env = { ...process.env, PULUMI_HOME: world.home };
    const plugin = await startPlugin(bundle, [engine.address], env);
    const client = connect(plugin.port);
    const configure = async () => {
      await client.handshake(engine.address);
      await client.configure(
        propertyMap({
          baseUrl: world.service.url,
          apiToken: new Secret(testToken),
          pollIntervalSeconds: 0.01,
          requestsPerMinute: 1_000_000,
        }),
      );
    };
    const expectServing = async () => {
      expect(await client.version()).toBe(metadata.version);
      const { failures, inputs: checked } = await client.check({ news: inputs({ name: "good" }) });
      expect(failures).toEqual([]);
      expect(checked).toMatchObject({ name: "good", flavorId: "kvm-1" });
    };
    try {
      await configure();
      await body({ world, client, configure, expectServing });
      await configure();
      await expectServing();
      const posts = world.posts;
      await client.create({ urn: urnOf("after"), inputs: inputs({ name: "after" }) });
      expect(world.posts).toBe(posts + 1);
      expect(plugin.stderr()).toBe("");
      expect(plugin.process.exitCode).toBeNull();
    } finally {
      client.close();
      plugin.process.kill("SIGKILL");
      await plugin.ended;
      engine.stop();
    }
  });
}

/** They change what all other calls do, and are broken by themselves. */
const settling: CallName[] = ["Configure", "Handshake", "Attach"];

test("what is no message is refused by every call, and bad properties by each that takes some", async () => {
  await withPlugin(async ({ world, client, configure, expectServing }) => {
    const refusing = new Set<CallName>();
    for (const name of callNames) {
      for (const bytes of neverMessages) {
        const answer = await ask(client, name, bytes);
        expectFit(name, answer);
        expect([status.INVALID_ARGUMENT, status.UNIMPLEMENTED]).toContain(answer.error?.code);
      }
      for (const bytes of badProperties) {
        const { error } = await ask(client, name, bytes);
        if (/not there|levels deep|without an end/.test(error?.message ?? "")) refusing.add(name);
      }
      await configure();
      await expectServing();
    }
    expect([...refusing].sort()).toEqual([
      ...["Check", "CheckConfig", "Configure", "Create", "Delete", "Diff", "DiffConfig", "Invoke"],
      ...["List", "Read", "Update"],
    ]);
    expect(world.posts).toBe(0);
  });
});

test("broken messages of every call are answered, and none but Create makes a POST", async () => {
  const names = callNames.filter((name) => ![...settling, "Create"].includes(name));
  const one = fc.oneof(...names.map((name) => broken(name).map((bytes) => ({ name, bytes }))));
  await withPlugin(async ({ world, client, expectServing }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
        const answers = await Promise.all(batch.map(({ name, bytes }) => ask(client, name, bytes)));
        for (const [index, answer] of answers.entries()) {
          expectFit(batch[index]?.name ?? "Check", answer);
        }
        await expectServing();
        expect(world.posts).toBe(0);
      }),
      { numRuns: runs },
    );
  });
});

test("broken settings and greetings are answered, and a good Configure puts all right", async () => {
  const one = fc.oneof(...settling.map((name) => broken(name).map((bytes) => ({ name, bytes }))));
  await withPlugin(async ({ world, client, configure, expectServing }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 4, maxLength: 4 }), async (batch) => {
        for (const { name, bytes } of batch) expectFit(name, await ask(client, name, bytes));
        await configure();
        await expectServing();
      }),
      { numRuns: runs },
    );
    expect(world.service.counts()).toEqual({});
  });
});

test("each instance that a broken Create makes all the same is answered with its id", async () => {
  await withPlugin(async ({ world, client, expectServing }) => {
    const known = ["i-1"];
    const one = fc.tuple(broken("Create"), fc.nat());
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 4, maxLength: 4 }), async (batch) => {
        const answers = await Promise.all(
          batch.map(([bytes, n]) =>
            ask(client, "Create", Buffer.concat([bytes, bytesField(1, urnOf(`web-${n}`))])),
          ),
        );
        for (const answer of answers) {
          expectFit("Create", answer);
          for (const reply of answer.replies) {
            const id = CreateResponse.deserializeBinary(reply).getId();
            if (id !== "") known.push(id);
          }
          if (answer.error?.unfinished) known.push(answer.error.unfinished.id);
        }
        await expectServing();
        expect([...world.ids].sort()).toEqual([...known].sort());
      }),
      { numRuns: runs },
    );
  });
});

test("a time-out that is no span of time is none given, and one without end is waited for", async () => {
  await withPlugin(async ({ client, world }) => {
    const odd = edgeNumbers.filter((seconds) => !(seconds > 0 && seconds < 1));
    for (const [n, timeoutSeconds] of odd.entries()) {
      const urn = urnOf(`web-${n}`);
      const { id, outputs } = await client.create({
        urn,
        inputs: inputs({ name: `web-${n}` }),
        timeoutSeconds,
      });
      const read = await client.read({ urn, id, inputs: inputs(), outputs, timeoutSeconds });
      expect(read?.id).toBe(id);
      await client.delete({ urn, id, oldOutputs: outputs, timeoutSeconds });
    }
    expect(world.posts).toBe(odd.length);
  });
});
