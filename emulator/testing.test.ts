/** Tests the emulator that tests of Pulumi programs use (testing.ts). */
import { expect, test } from "@jest/globals";
import type { CreateBody } from "../provider/api/contract";
import type { InstanceRecord } from "./index";
import { caller } from "./testClient";
import {
  startEmulator,
  type EmulatedInstance,
  type EmulatorOptions,
  type Misbehavior,
} from "./testing";

async function started(options?: EmulatorOptions) {
  const emulator = await startEmulator(options);
  return { ...emulator, [Symbol.asyncDispose]: () => emulator.close() };
}

/** The fields of an instance that a test may read. */
type Known = Record<Exclude<keyof InstanceRecord, "tenant" | "ready_at">, unknown> & {
  request: Record<keyof CreateBody, unknown>;
};
type Declared = EmulatedInstance & { request: Required<EmulatedInstance["request"]> };

test("an instance is ready at once, and shows what the program asked for", async () => {
  await using emulator = await started();
  await caller(emulator, emulator.token).create("web", { ssh_keys: ["key"] });
  expect(emulator.instances()).toHaveLength(1);
  // The type check refuses this line if the declarations in testing.ts lack a field.
  const instance: Known = emulator.instances()[0] as Declared;
  expect(instance).toMatchObject({
    name: "web",
    status: "ACTIVE",
    tokenKind: "test",
    request: { ssh_keys: ["key"] },
  });
  expect(emulator.requests()).toMatchObject([
    { method: "POST", path: "/v2/instances", name: "web", status: 202, acted: true },
  ]);
  emulator.forgetRequests();
  expect(emulator.requests()).toEqual([]);
});

test("with Infinity, an instance is ready when the test calls finishProvisioning()", async () => {
  await using emulator = await started({ provisioningSeconds: Infinity });
  const { create, statuses } = caller(emulator, emulator.token);
  await create("web");
  expect(await statuses()).toEqual(["PROVISIONING"]);
  emulator.finishProvisioning();
  expect(await statuses()).toEqual(["ACTIVE"]);
});

test("a fault applies to the requests that its conditions name, until it is switched off", async () => {
  await using emulator = await started();
  const { ask, create } = caller(emulator, emulator.token);
  const busy = emulator.fault({
    kind: "status",
    status: 429,
    retryAfter: 2,
    method: "POST",
    name: "web-*",
    after: 1,
    times: Infinity,
  });
  expect((await create("web-1")).status).toBe(202);
  expect((await create("web-2")).status).toBe(429);
  await busy.firstHit;
  expect((await create("db-1")).status).toBe(202);
  expect((await ask("GET", "/account")).status).toBe(200);
  expect(busy.hits).toBe(1);
  busy.remove();
  expect((await create("web-2")).status).toBe(202);

  emulator.fault({ kind: "reset", acted: true, times: Infinity });
  await expect(create("lost")).rejects.toThrow();
  emulator.clearFaults();
  await create("last");
  expect(emulator.instances().map(({ name }) => name)).toEqual([
    ...["web-1", "db-1", "web-2", "lost", "last"],
  ]);
});

test("instances can be added and changed by hand, as somebody could at the service", async () => {
  await using emulator = await started();
  const { id } = emulator.insert({ name: "web" });
  const { id: other } = emulator.insert({ name: "db", status: "OFFLINE" });
  expect(emulator.rename(id, "renamed")).toBe(true);
  expect(emulator.setStatus(other, "ACTIVE")).toBe(true);
  expect(emulator.instances()).toMatchObject([
    { id, name: "renamed", status: "ACTIVE" },
    { id: other, name: "db", status: "ACTIVE" },
  ]);
  expect(emulator.remove(id)).toBe(true);
  expect(emulator.remove(id)).toBe(false);
  expect(emulator.instances()).toHaveLength(1);
});

test("each declared misbehavior exists, and no other", async () => {
  await using emulator = await started();
  const all: { [Kind in Misbehavior["kind"]]: Extract<Misbehavior, { kind: Kind }> } = {
    status: { kind: "status", status: 503, message: "busy", retryAfter: 1, acted: true },
    reset: { kind: "reset", acted: true },
    hang: { kind: "hang", acted: true },
    delay: { kind: "delay", milliseconds: 1, acted: true },
    neverLeavesProvisioning: { kind: "neverLeavesProvisioning" },
    endsAs: { kind: "endsAs", status: "OFFLINE" },
    appearsAfter: { kind: "appearsAfter", seconds: 1 },
    existingId: { kind: "existingId", instance: "web", acted: true },
    omitItem: { kind: "omitItem", instance: "web" },
    omitAddress: { kind: "omitAddress", instance: "web", instead: "0.0.0.0" },
  };
  for (const fault of Object.values(all)) expect(emulator.fault(fault).hits).toBe(0);
  // A test in JavaScript can pass it.
  const unknown: object = { kind: "earthquake" };
  expect(() => emulator.fault(unknown as Misbehavior)).toThrow(/^fault: /);
});
