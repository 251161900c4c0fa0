/** Bytes in the place of messages: an answer or a gRPC error, and the plugin lives on (G1). */
import { expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { ask, callNames, message, type CallName } from "./fixtures/hostileWire";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

jest.setTimeout(60_000);

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 150);
const atOnce = 8;

/** A message with some of its bytes lost, changed, doubled or swapped. */
const mangled = (of: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(of, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.nat(), fc.boolean())
    .map(([bytes, changes, cut, doubled]) => {
      const result = Buffer.from(bytes.subarray(0, bytes.length - (cut % 4)));
      for (const [at, byte] of changes) if (result.length > 0) result[at % result.length] = byte;
      return doubled ? Buffer.concat([result, result]) : result;
    });

// A mangled Create may still be a good one, whose POST would be right.
const names = callNames.filter((name) => name !== "Create" && name !== "Configure");
const any = fc.oneof(
  ...names.map((name) => mangled(message(name)).map((bytes) => ({ name, bytes }))),
  fc
    .tuple(fc.constantFrom<CallName>(...callNames), fc.uint8Array({ maxLength: 200 }))
    .map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes) })),
);

test("bytes that are no message, or a mangled one, never end the plugin", async () => {
  await withWorld({ requestsPerMinute: 1_000_000 }, async (world) => {
    const plugin = await world.plugin({ pollIntervalSeconds: 0.01, requestsPerMinute: 1_000_000 });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
        const answers = await Promise.all(
          batch.map(({ name, bytes }) => ask(plugin.client, name, bytes)),
        );
        refused += answers.filter(({ error }) => error).length;
        expect(world.posts).toBe(0);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs);
    await plugin.client.handshake(plugin.engine.address);
    const run = await world.stack.up(plugin, { web: inputs() });
    expect([run.did, run.failed]).toEqual([["create web"], {}]);
    expect(world.posts).toBe(1);
    world.expectAllHeld();
  });
});

test("a call without a message, or a message without a field, is answered", async () => {
  await withWorld({}, async (world) => {
    const plugin = await world.plugin();
    for (const name of callNames) {
      const { replies, error } = await ask(plugin.client, name, Buffer.alloc(0));
      expect({ name, ended: replies.length > 0 || error !== undefined }).toEqual({
        name,
        ended: true,
      });
    }
    expect(world.service.control.requests()).toEqual([]);
  });
});
