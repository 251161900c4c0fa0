/** G1, G8, G10 against a hostile engine: any properties, URNs, ids and time-outs, in every call. */
import { expect, jest, test } from "@jest/globals";
import { CreateResponse } from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import { propertyMap, Secret } from "../../provider/property/value";
import {
  ask,
  bytesField,
  callNames,
  canary,
  completeBag,
  deepBag,
  edgeNumbers,
  message,
  numberField,
  preview,
  secret,
  struct,
  text,
  type Answer,
  type CallName,
} from "./fixtures/hostileWire";
import type { Plugin, Settings } from "./support/plugin";
import { inputs, Stack } from "./support/stack";
import { withWorld, type World } from "./support/world";

jest.setTimeout(60_000);

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 150);
const atOnce = 8;
const quick: Settings = { pollIntervalSeconds: 0.01, requestsPerMinute: 1_000_000 };
const service = { requestsPerMinute: 1_000_000 };
const instanceUrn = "urn:pulumi:dev::project::compute:index:Instance::web";

/** After all that, the same process makes one instance, and makes it right. */
async function expectSound(world: World, plugin: Plugin): Promise<void> {
  await plugin.client.handshake(plugin.engine.address);
  await plugin.configure({
    baseUrl: world.service.url,
    apiToken: "sk_test_CanaryTokenZ7Q9vB",
    pollIntervalSeconds: 0.05,
  });
  const posts = world.posts;
  const stack = new Stack();
  const run = await stack.up(plugin, { after: inputs({ name: "after" }) });
  expect(run.failed).toEqual({});
  expect(run.did).toEqual(["create after"]);
  expect(world.posts).toBe(posts + 1);
  expect(world.service.control.instance(stack.held("after").id)).toMatchObject({
    name: "after",
    request: { flavor_id: "kvm-1", image_id: "debian-13", vpc_id: "vpc-1" },
  });
  expect(stack.held("after").outputs).toMatchObject({ name: "after", status: "ACTIVE" });
}

/** What a person would read of it; a secret, a control character or a runaway text in it is a defect. */
function expectFit(name: CallName, { error }: Answer): void {
  const said = [error?.message ?? "", ...(error?.unfinished?.reasons ?? [])].join("\n");
  expect({ name, said }).toMatchObject({ said: expect.not.stringContaining(canary) });
  expect({ name, said }).toMatchObject({
    said: expect.not.stringMatching(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u),
  });
}

const writing: CallName[] = ["Create", "Configure"];

test("any message of any call is answered, and none but Create makes a POST", async () => {
  await withWorld(service, async (world) => {
    world.service.control.insert({ name: "x", id: "i-1" });
    const plugin = await world.plugin(quick);
    const readOnly = callNames.filter((name) => !writing.includes(name));
    const one = fc.oneof(
      ...readOnly.map((name) => message(name).map((bytes) => ({ name, bytes }))),
      ...(["Create", "Update"] as const).map((name) =>
        message(name).map((bytes) => ({ name, bytes: Buffer.concat([bytes, preview[name]]) })),
      ),
    );
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
        const answers = await Promise.all(
          batch.map(({ name, bytes }) => ask(plugin.client, name, bytes)),
        );
        for (const [index, answer] of answers.entries()) {
          expectFit(batch[index]?.name ?? "Check", answer);
        }
        calls += batch.length;
        expect(world.posts).toBe(0);
      }),
      { numRuns: runs },
    );
    expect(calls).toBeGreaterThanOrEqual(runs * atOnce);
    expect(Object.keys(world.service.counts()).sort()).not.toContain("POST /v2/instances");
    await expectSound(world, plugin);
  });
});

test("settings of any kind are taken or refused, and the plugin can be configured again", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    await fc.assert(
      fc.asyncProperty(message("Configure"), async (bytes) => {
        expectFit("Configure", await ask(plugin.client, "Configure", bytes));
      }),
      { numRuns: runs },
    );
    expect(world.service.control.requests()).toEqual([]);
    await expectSound(world, plugin);
  });
});

test("each instance that a Create of any inputs makes is answered with its id", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    const known: string[] = [];
    const one = fc.tuple(
      fc.oneof(
        completeBag.map((it) => bytesField(2, it)),
        message("Create"),
      ),
      fc.oneof(fc.constant(0), fc.constantFrom(...edgeNumbers)),
      fc.nat(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 4, maxLength: 4 }), async (batch) => {
        const answers = await Promise.all(
          batch.map(([bytes, seconds, n]) => {
            const more = [bytesField(1, `${instanceUrn}-${n}`), numberField(3, seconds)];
            return ask(plugin.client, "Create", Buffer.concat([bytes, ...more]));
          }),
        );
        for (const { replies, error } of answers) {
          for (const reply of replies) known.push(CreateResponse.deserializeBinary(reply).getId());
          if (error?.unfinished) known.push(error.unfinished.id);
        }
        for (const answer of answers) expectFit("Create", answer);
        expect([...world.ids].sort()).toEqual([...known].sort());
      }),
      { numRuns: Math.ceil(runs / 3) },
    );
    expect(known.length).toBeGreaterThan(runs / 10);
    await expectSound(world, plugin);
  });
});

test.each(["struct", "list", "secret"] as const)(
  "properties nested up to 5,000 levels deep by %s are refused, in every call that takes any",
  async (via) => {
    await withWorld(service, async (world) => {
      const plugin = await world.plugin(quick);
      for (const levels of [190, 1000, 5000]) {
        const deep = deepBag(levels, via);
        for (const name of ["Check", "CheckConfig", "Diff", "Invoke", "Read"] as const) {
          const fields = [2, 3, 4].map((at) => bytesField(at, deep));
          const answer = await ask(plugin.client, name, Buffer.concat(fields));
          expectFit(name, answer);
        }
        const create = Buffer.concat([bytesField(1, instanceUrn), bytesField(2, deep)]);
        expect((await ask(plugin.client, "Create", create)).error).toBeDefined();
      }
      expect(world.posts).toBe(0);
      await expectSound(world, plugin);
    });
  },
);

test.each([["x"], ["é"], ["😀"], ["\0"], ["a long enough line\n"]])(
  "1 MB user data of %j goes to the service as it is, and comes back",
  async (unit) => {
    await withWorld(service, async (world) => {
      const plugin = await world.plugin({ ...quick, requestTimeoutSeconds: 5 });
      const userData = unit.repeat(Math.floor(2 ** 20 / Buffer.byteLength(unit)));
      const program = { web: inputs({ userData: new Secret(userData) }) };
      expect((await world.stack.up(plugin, program)).failed).toEqual({});
      const { user_data = "" } = world.instances[0]?.request ?? {};
      expect(Buffer.from(user_data, "base64").equals(Buffer.from(userData))).toBe(true);
      expect(world.stack.held().outputs["userData"]).toEqual(new Secret(userData));
      expect((await world.stack.up(plugin, program)).did).toEqual(["same web"]);
      await expectSound(world, plugin);
    });
  },
);

test("1 MB user data and a name of 10,000 characters do not cost an unfinished instance its id", async () => {
  await withWorld({ ...service, provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin({ ...quick, requestTimeoutSeconds: 5 });
    const program = {
      web: inputs({
        name: "漢".repeat(10_000),
        userData: new Secret("CanaryUserData ".repeat(70_000)),
      }),
    };
    const { failure } = await world.stack.up(plugin, program, { timeoutSeconds: 1 });
    expect(failure.unfinished?.id).toBe(world.ids[0]);
    world.expectAllHeld();
  });
});

test("a status of 10,000 characters is told in a message that fits, and the id is kept", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    world.service.control.fault({
      ...{ kind: "showStatus", status: "漢\x1b[2J".repeat(2500), times: "always" },
    });
    const { failure } = await world.stack.up(plugin, { web: inputs() }, { timeoutSeconds: 2 });
    expect(failure.unfinished?.id).toBe(world.ids[0]);
    expectFit("Create", { replies: [], error: failure });
    world.expectAllHeld();
  });
});

test("a secret under any key is never said, neither as a failure's property nor in its reason", async () => {
  await withWorld(service, async (world) => {
    const { client } = await world.plugin(quick);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 12 }), async (key) => {
        const hidden = struct([[key, secret(text(canary))]]);
        const bytes = Buffer.concat([bytesField(1, instanceUrn), bytesField(3, hidden)]);
        for (const name of ["Check", "CheckConfig"] as const) {
          const { replies } = await ask(client, name, bytes);
          const failures = Buffer.concat(replies).toString("latin1").split(key).join("");
          // The inputs hold it, sealed; once.
          expect(failures.split(canary).length).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 60 },
    );
    await client.check({ news: propertyMap({}) });
  });
});
