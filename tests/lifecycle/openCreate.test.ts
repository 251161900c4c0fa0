/**
 * G2: what becomes of a POST on a real connection. What a create does with each outcome is shown by
 * provider/instance/create.test.ts and the simulation.
 */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../emulator";
import { impatient } from "./support/plugin";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const generated = { web: inputs() };
const explicit = { web: inputs({ name: "db" }) };

/** The service does what it was asked to, and the provider gets to know only that something is wrong. */
const acting: Record<string, FaultScript> = {
  "a reset": { kind: "reset", acted: true },
  "an orderly end": { kind: "reset", acted: true, orderly: true },
  "a cut body": { kind: "cutBody" },
  "a slow drip": { kind: "slowDrip", millisecondsPerByte: 20 },
  "a huge body": { kind: "hugeBody", bytes: 3_000_000 },
  "a redirect to itself": { kind: "redirect", location: "/v2/instances", acted: true },
};

test.concurrent.each(Object.entries(acting))(
  "%s after the service acted: the instance of a generated name is adopted, and no second POST is sent",
  (_, fault) =>
    withWorld({}, async (world) => {
      world.service.control.fault({ ...fault, method: "POST" });
      // A drip has no end: it is over by the time-out alone.
      const plugin = await world.plugin(fault.kind === "slowDrip" ? impatient : {});
      expect((await world.stack.up(plugin, generated)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.instances).toHaveLength(1);
      expect(world.posts).toBe(1);
    }),
);

const idle: Record<string, FaultScript> = {
  "a reset": { kind: "reset" },
  "an orderly end": { kind: "reset", orderly: true },
};

test.concurrent.each(Object.entries(idle))(
  "%s before the service acted: no second POST; the next run looks first, then makes exactly one",
  (_, fault) =>
    withWorld({}, async (world) => {
      const { control } = world.service;
      control.fault({ ...fault, method: "POST" });
      const settings = { settlingSeconds: 0.1 };
      const { failure } = await world.stack.up(await world.plugin(settings), explicit);
      expect(failure.message).toMatch(/Whether the instance was created is not known/);
      expect(world.posts).toBe(1);

      const before = control.requests().length;
      expect((await world.stack.up(await world.plugin(settings), explicit)).failed).toEqual({});
      const since = control.requests().slice(before);
      const first = (method: string) => since.findIndex((it) => it.method === method);
      expect(first("GET")).toBeLessThan(first("POST"));
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    }),
);
