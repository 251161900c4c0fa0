/** Tests of the gRPC server and its calls, with a scripted provider over a real socket. */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { Struct, Value } from "google-protobuf/google/protobuf/struct_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import type { Messages } from "../context";
import { Secret, Unknown, propertyMap } from "../pulumi/propertyValue";
import { instanceToken, unknownText } from "../pulumi/names";
import { instanceUrn } from "./testing/client";
import { withServer } from "./testing/harness";
import type { RecordedCall } from "./testing/scriptedProvider";

const inputs = propertyMap({ name: "web", userData: new Secret("#!/bin/sh") });
const outputs = propertyMap({ name: "web", status: "ACTIVE", userData: new Secret("#!/bin/sh") });
const target = { urn: instanceUrn };
const created = { id: "i-1", outputs, refreshBeforeUpdate: false };

test("Handshake and Configure report the same capabilities to the engine", async () => {
  await withServer({}, async ({ client }) => {
    expect((await client.handshake()).toObject()).toMatchObject({
      acceptSecrets: true,
      acceptResources: true,
      acceptOutputs: true,
      supportsAutonamingConfiguration: true,
      acceptsByteString: false,
    });
    expect((await client.configure(propertyMap({}))).toObject()).toEqual({
      acceptsecrets: true,
      acceptresources: true,
      acceptoutputs: true,
      supportspreview: true,
      supportsAutonamingConfiguration: true,
    });
  });
});

test("the first call that needs the provider loads it, once, and other calls don't", async () => {
  await withServer({}, async ({ client, calls, loads }) => {
    await client.handshake();
    expect(await client.version()).toBe("1.2.3");
    expect(await client.schema()).toBe('{"name":"compute"}');
    await client.cancel();
    expect(loads).toEqual([]);
    await Promise.all([client.check({ news: inputs }), client.check({ news: inputs })]);
    expect(loads).toHaveLength(1);
    expect(calls.map(([name]) => name)).toEqual(["check", "check"]);
  });
});

test("the entries that the engine adds to the settings never reach the provider, and are returned unchanged", async () => {
  const news = propertyMap({
    version: "1.2.3",
    pluginDownloadURL: "https://x",
    __internal: propertyMap({}),
    apiToken: "t",
  });
  const checkConfig = async () => ({
    inputs: propertyMap({ apiToken: new Secret("t") }),
    failures: ["no"],
  });
  await withServer({ checkConfig }, async ({ client, calls }) => {
    const answer = await client.checkConfig({ olds: news, news });
    expect(answer.inputs).toEqual({ ...news, apiToken: new Secret("t") });
    expect(answer.failures).toEqual(["no"]);
    await client.configure(news);
    const settings = propertyMap({ apiToken: "t" });
    const urn = "urn:pulumi:dev::project::pulumi:providers:compute::default";
    expect(calls).toEqual([
      ["checkConfig", { urn, news: settings }],
      ["configure", { scope: "provider-id", args: settings }],
    ]);
  });
});

test("the id of the provider resource is unknown in the first preview of a stack, but never missing", async () => {
  await withServer({}, async ({ client, calls }) => {
    await client.configure(propertyMap({}), unknownText);
    expect(calls).toEqual([["configure", { scope: undefined, args: {}, urn: undefined }]]);
    await expect(client.configure(propertyMap({}), "")).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      message: "the Configure request has no id of the provider resource",
    });
    expect(calls).toHaveLength(1);
  });
});

test("DiffConfig shows changed settings, and no change replaces the provider resource", async () => {
  await withServer({}, async ({ client }) => {
    const olds = propertyMap({ version: "1", a: 1, gone: "x", same: new Secret("s"), later: 1 });
    const news = propertyMap({ version: "2", a: 2, added: "x", same: "s", later: Unknown.value });
    const diff = (await client.diffConfig({ olds, news })).toObject();
    expect(diff.changes).toBe(pb.DiffResponse.DiffChanges.DIFF_SOME);
    expect([...diff.diffsList].sort()).toEqual(["a", "added", "gone", "later"]);
    expect(diff).toMatchObject({ replacesList: [], deletebeforereplace: false });
    const none = (await client.diffConfig({ olds, news: { ...olds, version: "2" } })).toObject();
    expect(none.changes).toBe(pb.DiffResponse.DiffChanges.DIFF_NONE);
  });
});

test("Check passes on inputs, seed and autonaming, and returns inputs and failures", async () => {
  const check = async () => ({
    inputs: propertyMap({ name: Unknown.value, userData: new Secret("x") }),
    failures: ["userData: too long"],
  });
  const { ENFORCE, DISABLE, PROPOSE } = pb.CheckRequest.AutonamingOptions.Mode;
  await withServer({ check }, async ({ client, calls }) => {
    const randomSeed = Uint8Array.from({ length: 32 }, (_, index) => index);
    const answer = await client.check({ olds: outputs, news: inputs, randomSeed });
    expect(answer).toEqual(await check());
    for (const mode of [PROPOSE, ENFORCE, DISABLE]) {
      await client.check({ news: inputs, autonaming: { proposedName: "web-1", mode } });
    }
    const rest = { ...target, olds: propertyMap({}), news: inputs, randomSeed: new Uint8Array(32) };
    expect(calls).toEqual([
      ["check", { ...target, olds: outputs, news: inputs, randomSeed, autonaming: undefined }],
      ["check", { ...rest, autonaming: { proposedName: "web-1", mode: "propose" } }],
      ["check", { ...rest, autonaming: { proposedName: "web-1", mode: "enforce" } }],
      ["check", { ...rest, autonaming: { proposedName: "web-1", mode: "disable" } }],
    ]);
  });
});

test("Diff says which inputs change, which of them replace, and in which order", async () => {
  const diff = async () => ({
    detailed: { name: "update", flavorId: "update-replace", sshKeys: "add-replace" } as const,
    drift: ["status"],
    deleteBeforeReplace: true,
  });
  const request = { id: "i-1", oldInputs: inputs, oldOutputs: outputs, news: inputs };
  await withServer({ diff }, async ({ client, calls }) => {
    const answer = await client.diff(request);
    expect(answer).toMatchObject({
      changes: pb.DiffResponse.DiffChanges.DIFF_SOME,
      diffsList: ["name", "flavorId", "sshKeys", "status"],
      replacesList: ["flavorId", "sshKeys"],
      deletebeforereplace: true,
      hasdetaileddiff: true,
    });
    expect(Object.fromEntries(answer.detaileddiffMap)).toEqual({
      name: { kind: pb.PropertyDiff.Kind.UPDATE, inputdiff: true },
      flavorId: { kind: pb.PropertyDiff.Kind.UPDATE_REPLACE, inputdiff: true },
      sshKeys: { kind: pb.PropertyDiff.Kind.ADD_REPLACE, inputdiff: true },
      status: { kind: pb.PropertyDiff.Kind.UPDATE, inputdiff: false },
    });
    expect(calls).toEqual([["diff", { ...target, ...request }]]);
  });
});

test("the reply to a Diff without changes is DIFF_NONE, not DIFF_UNKNOWN", async () => {
  await withServer({}, async ({ client }) => {
    const answer = await client.diff({ id: "i-1", news: inputs });
    expect(answer).toMatchObject({ changes: pb.DiffResponse.DiffChanges.DIFF_NONE, diffsList: [] });
  });
});

test("Create passes on time-out and preview, and returns the id and the outputs, which may be unknown in a preview", async () => {
  const previewed = propertyMap({ ipv4: Unknown.value, name: "web" });
  const create = async ({ preview }: { preview: boolean }) =>
    preview ? { ...created, id: "", outputs: previewed } : created;
  await withServer({ create }, async ({ client, calls }) => {
    const shown = await client.create({ inputs, preview: true });
    expect(shown).toMatchObject({ id: "", outputs: previewed });
    expect(await client.create({ inputs, timeoutSeconds: 90.5 })).toEqual(created);
    expect(calls).toEqual([
      ["create", { ...target, inputs, timeoutSeconds: 0, preview: true }],
      ["create", { ...target, inputs, timeoutSeconds: 90.5, preview: false }],
    ]);
  });
});

test.each([true, false])(
  "the replies of Create, Update and Read say whether the engine reads the instance before the next update (%s)",
  async (refreshBeforeUpdate) => {
    const kept = { ...created, inputs, refreshBeforeUpdate };
    const script = { create: async () => kept, update: async () => kept, read: async () => kept };
    await withServer(script, async ({ client }) => {
      const target = { id: "i-1" };
      for (const reply of [
        await client.create({ inputs }),
        await client.update({ ...target, news: inputs }),
        await client.read({ ...target, inputs, outputs }),
      ])
        expect(reply).toMatchObject({ refreshBeforeUpdate });
    });
  },
);

test("Update and Delete pass on everything that the engine knows of the resource", async () => {
  const known = { id: "i-1", oldInputs: inputs, oldOutputs: outputs, timeoutSeconds: 5 };
  const updated = { outputs, refreshBeforeUpdate: false };
  await withServer({ update: async () => updated }, async ({ client, calls }) => {
    expect(await client.update({ ...known, news: inputs, preview: true })).toEqual(updated);
    await client.delete(known);
    expect(calls).toEqual([
      ["update", { ...target, ...known, news: inputs, preview: true }],
      ["delete", { ...target, ...known }],
    ]);
  });
});

test("Read takes absent and empty for one thing, and its reply is empty if the instance is gone", async () => {
  const found = { id: "i-1", inputs, outputs, refreshBeforeUpdate: false };
  await withServer(
    { read: async ({ id }) => (id === "gone" ? undefined : found) },
    async ({ client, calls }) => {
      expect(await client.read({ id: "i-1" })).toEqual(found);
      const empty = propertyMap({});
      expect(await client.read({ id: "i-1", inputs: empty, outputs: empty })).toEqual(found);
      expect(await client.read({ id: "gone", inputs, outputs, timeoutSeconds: 7 })).toBeUndefined();
      expect(calls).toEqual([
        ["read", { ...target, id: "i-1", inputs: empty, outputs: empty, timeoutSeconds: 0 }],
        ["read", { ...target, id: "i-1", inputs: empty, outputs: empty, timeoutSeconds: 0 }],
        ["read", { ...target, id: "gone", inputs, outputs, timeoutSeconds: 7 }],
      ]);
    },
  );
});

test("Invoke returns outputs, including secrets", async () => {
  const answer = { outputs };
  await withServer({ invoke: async () => answer }, async ({ client, calls }) => {
    expect(await client.invoke("compute:index:getInstance", inputs)).toEqual(answer);
    expect(calls).toEqual([["invoke", { token: "compute:index:getInstance", args: inputs }]]);
  });
});

test("List streams one result for each instance, whatever the page size", async () => {
  const instances = Array.from({ length: 300 }, (_, index) => ({
    id: `i-${index}`,
    name: `web-${index}`,
  }));
  const query = propertyMap({ status: "ACTIVE" });
  await withServer({ list: async () => instances }, async ({ client, calls }) => {
    expect(await client.list(instanceToken, query, { limit: 900, pageSize: 2 })).toEqual(instances);
    expect(calls).toEqual([["list", { query, limit: 900 }]]);
  });
});

test("List passes on that a part of the query is not known yet, and answers that the list is computed", async () => {
  const query = propertyMap({ namePattern: Unknown.value });
  await withServer({ list: async () => Unknown.value }, async ({ client, calls }) => {
    expect(await client.list(instanceToken, query)).toBe(Unknown.value);
    expect(calls).toEqual([["list", { query, limit: 0 }]]);
  });
});

test("an unknown resource or function is refused with the names of the known ones", async () => {
  await withServer({}, async ({ client, calls }) => {
    const refusal = {
      code: status.INVALID_ARGUMENT,
      message: `this provider has no resource "compute:index:Bucket"; it has ${instanceToken}`,
    };
    const type = "compute:index:Bucket";
    await expect(client.check({ type, news: inputs })).rejects.toMatchObject(refusal);
    await expect(client.create({ type, inputs })).rejects.toMatchObject(refusal);
    await expect(client.list(type)).rejects.toMatchObject(refusal);
    await expect(client.invoke("compute:index:getX", inputs)).rejects.toMatchObject({
      message: expect.stringMatching(/no function "compute:index:getX"; it has .*getInstance,/),
    });
    expect(calls).toEqual([]);
  });
});

// A time-out that is not a positive number counts as no time-out, which is 0.
test.each([
  [NaN, 0],
  [-1, 0],
  [-Infinity, 0],
  [1e300, 1e300],
  [Infinity, Infinity],
])("a time-out of %d s reaches the provider as %d", async (sent, received) => {
  await withServer({}, async ({ client, calls }) => {
    await client.create({ inputs, timeoutSeconds: sent });
    expect(calls).toMatchObject([["create", { timeoutSeconds: received }]]);
  });
});

test("no message can crash or hang the server", async () => {
  await withServer({}, async ({ client }) => {
    const struct = new Struct();
    struct.getFieldsMap().set("a", new Value());
    const request = new pb.CreateRequest().setUrn(instanceUrn).setType(instanceToken);
    const code = await new Promise((resolve) =>
      client.raw.create(request.setProperties(struct), (error) => resolve(error?.code)),
    );
    expect(code).toBe(status.INTERNAL);
    const answer = (message: Buffer) =>
      new Promise((resolve) =>
        client.raw.makeUnaryRequest(
          "/pulumirpc.ResourceProvider/Create",
          () => message,
          () => undefined,
          {},
          (error) => resolve(error?.code),
        ),
      );
    expect(await answer(Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff]))).toBe(status.INTERNAL);
    // google-protobuf recurses, and overflows its stack.
    expect(await answer(nested(100_000))).toBe(status.INTERNAL);
    expect(await client.version()).toBe("1.2.3");
  });
});

/** Returns the bytes of a CreateRequest whose only property is a list in a list and so on, this many levels deep. */
function nested(levels: number): Buffer {
  // The numbers of the fields CreateRequest.properties, Struct.fields and the entry's value. Then, for each level, those of
  // Value.list_value and ListValue.values.
  const fields = [2, 1, 2, ...Array.from({ length: levels }, () => [6, 1]).flat()];
  const heads = fields.map((field, index) => {
    // Each field begins with five bytes: the tag, and a length of four bytes.
    const length = 5 * (fields.length - index - 1);
    const [low, middle, high] = [0, 7, 14].map((shift) => ((length >> shift) & 127) | 128);
    return [field * 8 + 2, low ?? 0, middle ?? 0, high ?? 0, length >> 21];
  });
  return Buffer.from(heads.flat());
}

test("inputs of several MB and unknown inputs reach the provider", async () => {
  await withServer({}, async ({ client }) => {
    const large = propertyMap({ userData: "x".repeat(6 << 20), later: Unknown.value });
    const answer = await client.create({ inputs: large, preview: true });
    expect(answer.outputs).toEqual(large);
  });
});

test("Cancel is answered at once while a Create runs, and the Create ends by itself", async () => {
  const { promise: canceled, resolve } = Promise.withResolvers<void>();
  const create = async () => {
    await canceled;
    return created;
  };
  await withServer({ create, cancel: () => resolve() }, async ({ client, server }) => {
    const creating = client.create({ inputs });
    await client.version();
    expect(server.runningCalls).toBe(1);
    await client.cancel();
    await client.cancel();
    expect(await creating).toEqual(created);
    expect(await client.version()).toBe("1.2.3");
    expect(server.runningCalls).toBe(0);
  });
});

test("drain waits for a call whose engine is gone, because it may still record an instance (G1)", async () => {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const create = async () => {
    await answered;
    return created;
  };
  await withServer({ create }, async ({ client, server }) => {
    const request = new pb.CreateRequest().setUrn(target.urn).setType(instanceToken);
    await new Promise<void>((resolve) => {
      const lost = client.raw.create(request, () => resolve());
      void client.version().then(() => lost.cancel());
    });
    client.close();
    let drained = false;
    const draining = server.drain().then(() => (drained = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(drained).toBe(false);
    resolve();
    expect(await draining).toBe(true);
    expect(server.runningCalls).toBe(0);
  });
});

test("a Create whose caller goes away before the reply says that the engine is gone, and one with a reply does not", async () => {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const create = async ({ preview }: { preview: boolean }) => {
    if (!preview) await answered;
    return created;
  };
  await withServer({ create }, async ({ client, server, calls }) => {
    await client.create({ inputs, preview: true });
    const request = new pb.CreateRequest().setUrn(target.urn).setType(instanceToken);
    // As when an engine ends after a second Ctrl-C: its connection closes before the SIGINT arrives.
    const code = await new Promise((resolve) => {
      const lost = client.raw.create(request, (error) => resolve(error?.code));
      void client.version().then(() => lost.cancel());
    });
    expect(code).toBe(status.CANCELLED);
    // Calls of one connection arrive in their order.
    await client.version();
    expect(calls.slice(2)).toEqual([["cancel", "engineGone"]]);
    resolve();
    await server.drain();
    expect(calls).toHaveLength(3);
  });
});

test("drain waits until the engine has the messages of the end of a run", async () => {
  const script = (messages: Messages) => ({ cancel: () => messages.info("1 server is left") });
  await withServer(script, async ({ client, server, engine }) => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHeldUp, resolve: holdUp } = Promise.withResolvers<void>();
    engine.beforeLog = async () => {
      holdUp();
      await isReleased;
    };
    await client.check({ news: inputs });
    await client.cancel();
    client.close();
    let drained = false;
    const draining = server.drain().then(() => (drained = true));
    await isHeldUp;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(drained).toBe(false);
    release();
    await draining;
    expect(engine.logged).toMatchObject([{ severity: "info", message: "1 server is left" }]);
  });
});

test("a Cancel is answered even if the provider throws", async () => {
  const cancel = () => {
    throw new Error("no");
  };
  await withServer({ cancel }, async ({ client, server, engine }) => {
    await client.check({ news: inputs });
    await client.cancel();
    client.close();
    await server.drain();
    expect(engine.logged).toMatchObject([
      { severity: "debug", message: expect.stringContaining("Error: no") },
    ]);
  });
});

// --- attach mode (PULUMI_DEBUG_PROVIDERS): one process serves several engines, one after the other (G2) ---

const settings = propertyMap({});
const namesOf = (calls: readonly RecordedCall[]) => calls.map(([name]) => name);

test.each(["with", "without"])(
  "the next engine begins a run of its own, after one %s a Cancel",
  async (cancel) => {
    await withServer({}, async ({ connect, calls }) => {
      const first = await connect("127.0.0.1:1001");
      await first.configure(settings);
      await first.create({ inputs });
      if (cancel === "with") await first.cancel();
      const next = await connect("127.0.0.1:1002");
      await next.checkConfig({ news: settings });
      await next.configure(settings);
      const canceled = cancel === "with" ? ["cancel"] : [];
      expect(namesOf(calls)).toEqual(
        ["configure", "create", canceled, "renew", "checkConfig", "configure"].flat(),
      );
    });
  },
);

test("after a Cancel, an engine begins another run once it has attached again, and not before", async () => {
  await withServer({}, async ({ connect, calls }) => {
    const address = "127.0.0.1:1001";
    const first = await connect(address);
    await first.configure(settings);
    // Another provider resource of the program.
    const second = await connect(address);
    await second.configure(settings);
    await first.cancel();
    await second.cancel();
    await second.configure(settings);
    const again = await connect(address);
    await again.configure(settings);
    const canceled = ["configure", "configure", "cancel", "cancel", "configure"];
    expect(namesOf(calls)).toEqual([...canceled, "renew", "configure"]);
  });
});

test("a host that only reads the schema, at an address of its own, changes nothing for the run under way", async () => {
  const tellsOfCreate = (messages: { info(text: string): void }) => ({
    create: async () => {
      messages.info("created");
      return created;
    },
  });
  await withServer(tellsOfCreate, async ({ connect, calls, engine }) => {
    // `up --refresh` first configures the recorded provider, and then reads the schema for the program.
    const first = await connect(engine.address);
    await first.configure(settings);
    const host = await connect("127.0.0.1:1002");
    await host.schema();
    await host.cancel();
    const second = await connect(engine.address);
    await second.checkConfig({ news: settings });
    await first.create({ inputs });
    await first.cancel();
    expect(namesOf(calls)).toEqual(["configure", "checkConfig", "create", "cancel"]);
    expect(engine.logged.map(({ message }) => message)).toEqual(["created"]);
  });
});
