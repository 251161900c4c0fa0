/** G1, G8, G10 against a hostile engine: any properties, URNs, ids and time-outs, in every call. */
import { expect, test } from "@jest/globals";
import { CreateResponse } from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import { propertyMap } from "../../provider/property/value";
import { expectFit, expectSound, newEngine, quick, service } from "./fixtures/hostilePlugin";
import {
  ask,
  bytesField,
  callNames,
  canary,
  completeBag,
  edgeNumbers,
  message,
  numberField,
  preview,
  secret,
  struct,
  text,
  type CallName,
} from "./fixtures/hostileWire";
import { urnOf } from "./support/stack";
import { withWorld } from "./support/world";

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 150);
const atOnce = 8;
const instanceUrn = urnOf("web");

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
        await newEngine(plugin);
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
