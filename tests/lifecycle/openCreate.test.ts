/**
 * Tests faults of a POST on a real connection, after which no instance is created twice (G2).
 * provider/instance/create.test.ts and the simulation show what a create does with each outcome.
 */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../emulator";
import { impatient } from "./support/plugin";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const generated = { web: inputs() };
const explicit = { web: inputs({ name: "db" }) };

/** The service creates the instance, but the provider gets no valid response. */
const afterCreate: Record<string, FaultScript> = {
  "a reset": { kind: "reset", acted: true },
  "a slow drip": { kind: "slowDrip", millisecondsPerByte: 20 },
  "a huge body": { kind: "hugeBody", bytes: 9_000_000 },
};

test.concurrent.each(Object.entries(afterCreate))(
  "if %s hides the answer to a POST that created the instance, the create adopts it by its generated name, without a second POST",
  (_, fault) =>
    withWorld({}, async (world) => {
      world.service.control.fault({ ...fault, method: "POST" });
      // A slow drip ends only with the time-out.
      const plugin = await world.plugin(fault.kind === "slowDrip" ? impatient : {});
      expect((await world.stack.up(plugin, generated)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.instances).toHaveLength(1);
      expect(world.posts).toBe(1);
    }),
);

test.concurrent(
  "if a reset hides that the service created nothing, that run sends no second POST, and the next run lists the instances before its own",
  () =>
    withWorld({}, async (world) => {
      const { control } = world.service;
      control.fault({ kind: "reset", method: "POST" });
      const settings = { settlingSeconds: 0.1 };
      const { failure } = await world.stack.up(await world.plugin(settings), explicit);
      expect(failure.message).toMatch(/Whether the instance was created is not known/);
      expect(world.posts).toBe(1);

      const before = control.requests().length;
      expect((await world.stack.up(await world.plugin(settings), explicit)).failed).toEqual({});
      const since = control.requests().slice(before);
      const first = (method: string) =>
        since.findIndex((it) => it.method === method && it.path === "/v2/instances");
      expect(first("GET")).toBeGreaterThanOrEqual(0);
      expect(first("GET")).toBeLessThan(first("POST"));
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    }),
);
