/** Tests of the wait for an accepted instance. Whatever happens, its id and state are kept (G1). */
import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../errors";
import { answered, fail } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { Instance } from "./instance";
import { waitUntilReady } from "./ready";

function wait(world: Scene, seconds = 900) {
  const { session, service } = world;
  const accepted = service.accept({ name: "web", flavor_id: "", image_id: "", vpc_id: "" });
  const inputs = inputsOf();
  const origin = session.connection.origin();
  const urn = urnOf("web");
  const acceptedAt = session.ctx.clock.date().toISOString();
  const instance = Instance.accepted({ urn, inputs }, accepted, origin, acceptedAt);
  return waitFor(world, instance, seconds);
}

/** Waits for an instance, perhaps again, as in a call that an error hook repeats. */
async function waitFor({ session }: Scene, instance: Instance, seconds = 900) {
  const origin = session.connection.origin();
  const operation = session.operations.of({ urn: instance.urn, timeoutSeconds: seconds }, "create");
  const { outputs } = await waitUntilReady(session, { instance, origin, after: 0 }, operation);
  return outputs;
}

/** Returns the error of an unfinished instance, and checks that it has the id and the whole state. */
async function unfinishedOf(waiting: Promise<unknown>): Promise<InstanceUnfinished> {
  const error = await errorOf(waiting);
  if (!(error instanceof InstanceUnfinished)) throw error;
  expect(error.id).toBe("i-1");
  expect(error.state.outputs).toMatchObject({
    __unfinished: true,
    networks: [{ ipv4: "10.0.0.5" }],
  });
  expect(error.state.inputs).toEqual(inputsOf());
  return error;
}

/** From this clock time on, the service lists the instance with this status and an address. */
const becomes = ({ service, clock }: Scene, status: string, ms = 0) => {
  // Called before each page; undefined keeps the page.
  service.page = () => {
    if (clock.now() >= ms && service.instances.has("i-1"))
      service.set("i-1", { status, ipv4_public: "203.0.113.9" });
    return undefined;
  };
};

test("an ACTIVE instance is ready, with the address that the list shows", async () => {
  const world = scene();
  becomes(world, "ACTIVE");
  expect(await wait(world)).toMatchObject({
    status: "ACTIVE",
    ipv4: "203.0.113.9",
    createdAt: "2026-01-01T00:00:00Z",
  });
  expect(world.messages.warnings).toEqual([]);
});

test("an instance that is OFFLINE for the settling time is ready, with a warning", async () => {
  const world = scene();
  becomes(world, "OFFLINE");
  expect(await wait(world)).toMatchObject({ status: "OFFLINE" });
  expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
  expect(world.messages.warnings).toEqual([expect.stringContaining("is OFFLINE")]);
});

test.each(["OFFLINE", "BOOTING"])(
  "an instance that is %s on its way is awaited",
  async (status) => {
    const world = scene();
    becomes(world, status);
    const ended = wait(world);
    await world.clock.sleep(40_000);
    becomes(world, "ACTIVE");
    expect(await ended).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9" });
    expect(world.clock.now()).toBeLessThan(51_000);
    expect(world.messages.warnings).toEqual([]);
  },
);

test("statuses that take turns count for nothing", async () => {
  const world = scene();
  world.service.page = () => {
    const isEven = Math.floor(world.clock.now() / 20_000) % 2 === 0;
    world.service.set("i-1", { status: isEven ? "OFFLINE" : "PROVISIONING" });
    return undefined;
  };
  expect((await unfinishedOf(wait(world, 310))).message).toContain("was still PROVISIONING when");
});

test("an instance that keeps an undocumented status is unfinished, and the status is named", async () => {
  const world = scene();
  becomes(world, "REBOOTING");
  const error = await unfinishedOf(wait(world));
  expect(world.clock.now()).toBeLessThan(75_000);
  expect(error.message).toContain('has the status "REBOOTING"');
  expect(error.state.outputs["status"]).toBe("REBOOTING");
});

test("a call that an error hook repeats does not wait again for a status that has counted", async () => {
  const world = scene();
  becomes(world, "ERROR");
  const { id, state } = await unfinishedOf(wait(world));
  const endedAt = world.clock.now();
  const again = new Instance({ urn: urnOf("web"), id, ...state });
  for (let n = 0; n < 5; n++) await unfinishedOf(waitFor(world, again));
  expect(world.clock.now() - endedAt).toBeLessThan(5000);
});

test.each([
  ["OFFLINE", "is OFFLINE"],
  ["ACTIVE", "lists no public address"],
])("at the end of the operation's time, %s counts", async (status, says) => {
  const world = scene();
  const ended = wait(world, 20);
  world.service.set("i-1", { status, ipv4_public: undefined });
  expect(await ended).toMatchObject({ status, ipv4: "" });
  expect(world.clock.now()).toBeLessThan(21_000);
  expect(world.messages.warnings).toEqual([expect.stringContaining(says)]);
});

test("a pause that is longer than the operation's time is no end of it: nothing that one listing has shown counts", async () => {
  const world = scene();
  becomes(world, "OFFLINE");
  const { operations } = world.session;
  world.service.listFaults.push(undefined, () => {
    const error = answered(429, "GET");
    const call = { method: "GET", path: "/v2/instances" } as const;
    operations.retrying({ ...call, error, inMs: 3_600_000, isAsked: true });
    return new Promise(() => undefined);
  });
  const { message, state } = await unfinishedOf(wait(world));
  expect(message).toContain("HTTP 429");
  expect(state.outputs).toMatchObject({ status: "OFFLINE" });
  expect(world.clock.now()).toBeLessThan(60_000);
});

test("at the end of the operation's time, a status that the document does not have leaves the instance unfinished, and is named", async () => {
  const world = scene();
  becomes(world, "BOOTING");
  expect((await unfinishedOf(wait(world, 20))).message).toContain('has the status "BOOTING"');
});

test("an instance that is listed no more, with all others of the run, is gone only after the settling time, so that a hook makes no second one", async () => {
  const world = scene();
  const ended = wait(world);
  await world.clock.sleep(100_000);
  world.service.instances.delete("i-1");
  world.service.has("i-foreign");
  await world.clock.sleep(50_000);
  world.service.has("i-1");
  expect(await ended).toMatchObject({ status: "ACTIVE" });
});

test("a time-out keeps the instance, and says after how long it was still PROVISIONING", async () => {
  const world = scene();
  const error = await unfinishedOf(wait(world, 20));
  expect(error.message).toContain(
    "i-1 was still PROVISIONING when the operation's 20 s (customTimeouts.create) were over",
  );
  expect(error.lines).toHaveLength(2);
  expect(error.message).toContain("the next `pulumi up` goes on waiting for it");
});

test("a time-out before any listing has shown the instance says so", async () => {
  const world = scene();
  const pending = wait(world, 20);
  world.service.instances.clear();
  const { message } = await unfinishedOf(pending);
  expect(message).toContain(
    "no listing had shown instance i-1 yet when the operation's 20 s (customTimeouts.create) were over",
  );
});

test("a time-out while the listings fail says so", async () => {
  const world = scene();
  world.service.listFaults.push(...Array.from({ length: 100 }, () => fail(answered(503, "GET"))));
  expect((await unfinishedOf(wait(world, 20))).message).toContain(
    "the last look failed: GET /v2/instances",
  );
});

test("Ctrl-C ends the wait at once, and the instance is kept", async () => {
  const world = scene();
  const ended = wait(world);
  world.cancel();
  expect((await unfinishedOf(ended)).message).toContain("was canceled");
  expect(world.service.calls).toEqual([]);
});

test.each([
  [403, "lacks the scope"],
  [401, "set a valid one"],
])(
  "a listing that is refused with %d ends the wait, and the error names the next step",
  async (status, step) => {
    const world = scene();
    world.service.listFaults.push(fail(answered(status, "GET")));
    expect((await unfinishedOf(wait(world))).message).toContain(step);
  },
);

test("after a defect in the wait, the instance is kept too", async () => {
  const world = scene();
  world.service.listFaults.push(fail(new TypeError("defect")));
  expect((await unfinishedOf(wait(world))).message).toContain(
    "defect in the provider: TypeError: defect",
  );
});

test("an instance that disappears is unfinished, so that the next `pulumi up` searches for it first", async () => {
  const world = scene();
  // The first listing has no fault.
  world.service.listFaults.push(undefined, () => world.service.instances.clear());
  expect((await unfinishedOf(wait(world))).message).toContain("missing from two complete listings");
});

test("an instance beyond the pages that the service shows is unfinished as soon as that is plain, and the ways are named", async () => {
  const world = scene();
  const ended = unfinishedOf(wait(world));
  for (let n = 0; n < 300; n++)
    world.service.has(`x-${n}`, { status: n < 150 ? "ACTIVE" : "OFFLINE" });
  world.service.instances.delete("i-1");
  const { message } = await ended;
  expect(message).toContain("are cut off before they show it.");
  expect(message).toContain("`pulumi up -c compute:cursorParameter=none`");
  expect(world.clock.now()).toBeLessThan(80_000);
});

test("if the service has no cursor, an instance beyond its pages counts as ready, with a warning and without an address", async () => {
  const world = scene({ cursorParameter: "none" });
  const ended = wait(world);
  for (let n = 0; n < 300; n++)
    world.service.has(`x-${n}`, { status: n < 150 ? "ACTIVE" : "OFFLINE" });
  // Stands for an instance that the cut-off lists do not show.
  world.service.instances.delete("i-1");
  const outputs = await ended;
  expect(outputs["ipv4"]).toBe("");
  expect("__unfinished" in outputs).toBe(false);
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("are cut off before they show it"),
  ]);
});

test("an instance that was listed before it became unlisted keeps what the list showed", async () => {
  const world = scene({ cursorParameter: "none" });
  // The first listing has no fault.
  world.service.listFaults.push(undefined, () => {
    for (let n = 0; n < 300; n++) {
      world.service.has(`x-${n}`, { status: n < 150 ? "ACTIVE" : "OFFLINE" });
    }
    world.service.instances.delete("i-1");
  });
  const ended = wait(world);
  world.service.set("i-1", { ipv4_public: "203.0.113.9" });
  expect(await ended).toMatchObject({ status: "PROVISIONING", ipv4: "203.0.113.9" });
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("its status and its address are not known"),
  ]);
});

test("the Info column shows the status, or why there is no listing, with the time and the time-out", async () => {
  const world = scene();
  becomes(world, "ACTIVE", 25_000);
  world.service.listFaults.push(...[1, 2, 3].map(() => fail(answered(503, "GET"))));
  await wait(world);
  const shown = world.messages.all.filter((line) => line.startsWith("status"));
  expect(shown).toEqual([
    "status 503, 1 s of 15 min, i-1",
    expect.stringMatching(/^status PROVISIONING, \d s of 15 min, i-1$/),
  ]);
});
