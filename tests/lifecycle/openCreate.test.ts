/** G2: a POST that went wrong. Nothing is made twice, and nothing that was made is left unnamed. */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../emulator";
import { impatient } from "./support/plugin";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const generated = { web: inputs() };
const explicit = { web: inputs({ name: "db" }) };

/** The service does what it was asked to, and the provider gets to know only that something is wrong. */
const acting: Record<string, FaultScript> = {
  "500": { kind: "status", status: 500, acted: true },
  "502": { kind: "status", status: 502, acted: true },
  "503": { kind: "status", status: 503, acted: true },
  "504": { kind: "status", status: 504, acted: true },
  "408": { kind: "status", status: 408, acted: true },
  "520": { kind: "status", status: 520, acted: true },
  "a reset": { kind: "reset", acted: true },
  "an orderly end": { kind: "reset", acted: true, orderly: true },
  "a cut body": { kind: "cutBody" },
  "an empty body": { kind: "emptyBody" },
  "a page": { kind: "html", acted: true },
  "a page with 502": { kind: "html", status: 502, acted: true },
  "wrong types": { kind: "wrongTypes" },
  "a body without an id": { kind: "body", text: '{"name":"db","status":"PROVISIONING"}' },
  "no answer in time": { kind: "hang", acted: true },
  "a slow drip": { kind: "slowDrip", millisecondsPerByte: 50 },
  "a huge body": { kind: "hugeBody", bytes: 3_000_000 },
  "a redirect to itself": { kind: "redirect", location: "/v2/instances", acted: true },
};

/** What has no end is over by the time-out alone. */
const settingsFor = (fault: FaultScript | undefined) =>
  fault?.kind === "hang" || fault?.kind === "slowDrip" ? impatient : {};

test.concurrent.each(Object.keys(acting))(
  "%s after the service acted: the instance of a generated name is adopted, and no second POST is sent",
  async (what) => {
    const fault = acting[what];
    await withWorld({}, async (world) => {
      if (fault) world.service.control.fault({ ...fault, method: "POST" });
      const plugin = await world.plugin(settingsFor(fault));
      expect((await world.stack.up(plugin, generated)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.instances).toHaveLength(1);
      expect(world.posts).toBe(1);
      expect(world.stack.held().outputs).toMatchObject({ status: "ACTIVE" });
      expect(await plugin.allWarnings()).toEqual([]);
      expect((await world.stack.up(await world.plugin(), generated)).did).toEqual(["same web"]);
    });
  },
);

test.concurrent.each(Object.keys(acting))(
  "%s after the service acted: one of a name that the program chose is named, and never adopted",
  async (what) => {
    const fault = acting[what];
    await withWorld({}, async (world) => {
      if (fault) world.service.control.fault({ ...fault, method: "POST" });
      for (let run = 0; run < 2; run++) {
        const { failure } = await world.stack.up(await world.plugin(settingsFor(fault)), explicit);
        const [id] = world.ids;
        expect(failure.unfinished).toBeUndefined();
        expect(failure.message).toContain(`\`pulumi import compute:index:Instance web ${id}\``);
        expect(failure.message).toContain(`discard ${world.pending[0]?.key}`);
      }
      expect(world.posts).toBe(1);
      await world.stack.import(await world.plugin(), "web", world.ids[0] ?? "");
      expect((await world.stack.up(await world.plugin(), explicit)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(1);
    });
  },
);

test.concurrent.each([500, 502, 503])(
  "an answered %i before the service acted: one more POST, and exactly one instance",
  async (code) => {
    for (const program of [generated, explicit]) {
      await withWorld({}, async (world) => {
        world.service.control.fault({ kind: "status", status: code, method: "POST" });
        expect((await world.stack.up(await world.plugin(), program)).failed).toEqual({});
        world.expectAllHeld();
        expect(world.instances).toHaveLength(1);
        expect(world.posts).toBe(2);
      });
    }
  },
);

test.concurrent.each([500, 502, 503])("a second answered %i: no third POST", async (code) => {
  await withWorld({}, async (world) => {
    const fault = { kind: "status", status: code, method: "POST", times: "always" } as const;
    world.service.control.fault(fault);
    const { failure } = await world.stack.up(await world.plugin(), generated);
    expect(failure.message).toMatch(/scripted_fault.*request_id req_.*not known/);
    expect(world.posts).toBe(2);
    world.service.control.clearFaults();
    expect((await world.stack.up(await world.plugin(), generated)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(3);
  });
});

/** The service does not act, but the provider can't know. */
const idle: Record<string, FaultScript> = {
  "504": { kind: "status", status: 504 },
  "a reset": { kind: "reset" },
  "an orderly end": { kind: "reset", orderly: true },
  "a page": { kind: "html" },
  "no answer in time": { kind: "hang" },
};

test.concurrent.each(Object.keys(idle))(
  "%s before the service acted: no second POST; the next run looks first, then makes exactly one",
  async (what) => {
    const fault = idle[what];
    await withWorld({}, async (world) => {
      const { control } = world.service;
      if (fault) control.fault({ ...fault, method: "POST" });
      const plugin = await world.plugin(settingsFor(fault));
      const { failure } = await world.stack.up(plugin, explicit);
      expect(failure.message).toMatch(/Whether it was created is not known/);
      expect(failure.message).toContain('"db"');
      expect(world.posts).toBe(1);
      expect(world.instances).toEqual([]);

      const before = control.requests().length;
      expect((await world.stack.up(await world.plugin(), explicit)).failed).toEqual({});
      const since = control.requests().slice(before);
      const listedFirst = since.findIndex(
        ({ method, path }) => method + path === "GET/v2/instances",
      );
      expect(listedFirst).toBeLessThan(since.findIndex(({ method }) => method === "POST"));
      world.expectAllHeld();
      expect(world.instances).toHaveLength(1);
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent.each([400, 401, 403, 404, 422])(
  "a %i with the document's envelope: one POST, no look, an error, and the next run creates",
  async (code) => {
    await withWorld({}, async (world) => {
      world.service.control.fault({ kind: "status", status: code, method: "POST" });
      const { failure } = await world.stack.up(await world.plugin(), explicit);
      expect(failure.unfinished).toBeUndefined();
      expect(failure.message).not.toMatch(/not known/);
      expect(world.posts).toBe(1);
      expect(world.listings).toBe(1);
      const next = await world.plugin();
      expect((await world.stack.up(next, explicit)).failed).toEqual({});
      expect(await next.allWarnings()).toEqual([]);
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    });
  },
);

test.concurrent.each([408, 409, 425, 499])(
  "a %i says nothing of what was made: the create looks, and sends no second POST",
  async (code) => {
    await withWorld({}, async (world) => {
      world.service.control.fault({ kind: "status", status: code, method: "POST" });
      const { failure } = await world.stack.up(await world.plugin(), explicit);
      expect(failure.message).toMatch(/Whether it was created is not known/);
      expect(world.posts).toBe(1);
      expect((await world.stack.up(await world.plugin(), explicit)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.posts).toBe(2);
    });
  },
);

test("a 404 that is a page, for what was made and is listed late: the next run finds it, and makes no other", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.fault({ kind: "html", status: 404, method: "POST", acted: true });
    // Left out while the create looks; the baseline before it lists nothing anyhow.
    control.fault({ kind: "omitItem", method: "GET", times: "always" });
    const { failure } = await world.stack.up(await world.plugin(), generated);
    expect(failure.message).toMatch(/404/);
    control.clearFaults();
    const next = await world.plugin();
    expect((await world.stack.up(next, generated)).failed).toEqual({});
    expect(await next.warning(/an earlier run created/)).toContain(world.ids[0]);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});

test.concurrent.each([0, 1, "none", "soon"])(
  "a 429 (Retry-After: %s) is repeated, and exactly one instance is made",
  async (retryAfter) => {
    await withWorld({}, async (world) => {
      const fault = { kind: "status", status: 429, method: "POST", times: 2 } as const;
      world.service.control.fault(retryAfter === "none" ? fault : { ...fault, retryAfter });
      expect((await world.stack.up(await world.plugin(), explicit)).failed).toEqual({});
      world.expectAllHeld();
      expect(world.instances).toHaveLength(1);
      expect(world.posts).toBe(3);
    });
  },
);
