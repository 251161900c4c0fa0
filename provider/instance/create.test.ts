/** Tests of Create with a service whose POSTs are scripted. They check that `create.ts` carries out the protocol. */
import { expect, test } from "@jest/globals";
import type { CreateBody } from "../api/contract";
import { InstanceUnfinished, OperationFailed } from "../errors";
import { isEnded } from "../abort";
import type { PropertyValue } from "../propertyValue";
import { isPending } from "../ledger/record";
import { answered, fail, failed, post, type FakeService } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { createInstance } from "./create";

const urn = urnOf("web");
/** A name that the provider generated, so that only this create can have used it. */
const generatedName = "web-abcdefgh";

/** What a create of these tests asks for, if it differs from the default. */
interface CreateOptions {
  name?: string;
  urn?: string;
  timeoutSeconds?: number;
  inputs?: Record<string, PropertyValue>;
}

function create({ session }: Scene, { name = "web", inputs, ...more }: CreateOptions = {}) {
  const all = inputsOf({ name, ...(name === generatedName && { __generated: name }), ...inputs });
  return createInstance(session, {
    urn,
    inputs: all,
    timeoutSeconds: 0,
    preview: false,
    ...more,
  });
}

/** Makes the service list each PROVISIONING instance as ACTIVE. */
function activating(world: Scene): Scene {
  world.service.page = () => {
    for (const [id, item] of world.service.instances) {
      if (item.status === "PROVISIONING")
        world.service.set(id, { status: "ACTIVE", ipv4_public: "203.0.113.9" });
    }
    return undefined;
  };
  return world;
}

const records = ({ session }: Scene) => session.ledger.read().map(({ record }) => record);
/** The newest record of the resource. */
const newestRecord = (world: Scene) => records(world).findLast((record) => record.urn === urn);
const stages = (world: Scene) => records(world).map(({ stage }) => stage);
const posts = ({ service }: Scene) => service.count("create");
/** The number of instances with this name, which must not exceed one ("nothing is made twice", G2). */
const countNamed = ({ service }: Scene, name: string) =>
  [...service.instances.values()].filter((item) => item.name === name).length;

test('a create is one POST between a baseline and the wait, and its record has the id and the stage "replied"', async () => {
  const world = activating(scene());
  const { id, outputs } = await create(world, { inputs: { sshKeys: ["k"], userData: "hi" } });
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9", privateIpv4: "10.0.0.5" });
  expect(world.service.calls).toEqual(["account", "list", "create web", "list"]);
  expect(world.service.bodies).toEqual([
    {
      name: "web",
      flavor_id: "flavor-1",
      image_id: "image-1",
      vpc_id: "vpc-1",
      ssh_keys: ["k"],
      user_data: "aGk=",
    },
  ]);
  expect(newestRecord(world)).toMatchObject({ id, stage: "replied" });
  expect(outputs["__run"]).toBe(world.session.id);
  world.session.ledger.markDelivered();
  expect(newestRecord(world)).toMatchObject({ id, stage: "delivered" });
  expect(world.messages.warnings).toEqual([]);
});

test("a preview sends nothing (G10)", async () => {
  const world = scene();
  const response = await createInstance(world.session, {
    urn,
    inputs: inputsOf(),
    timeoutSeconds: 0,
    preview: true,
  });
  expect(response.id).toBe("");
  expect(world.service.calls).toEqual([]);
  expect(records(world)).toEqual([]);
});

test("creates of different names share their baseline, and none waits for another", async () => {
  const world = activating(scene());
  const names = Array.from({ length: 25 }, (_, n) => `web-${n}`);
  await Promise.all(names.map((name) => create(world, { name, urn: urnOf(name) })));
  expect(posts(world)).toBe(25);
  expect(world.service.count("list")).toBeLessThan(5);
});

test.each([400, 401, 403, 404, 422])(
  "after a %i with the error envelope, which makes nothing, the create fails without another listing",
  async (status) => {
    const world = scene();
    world.service.posts.push(post(answered(status), { acts: false }));
    const error = await errorOf(create(world));
    expect(error).toBeInstanceOf(OperationFailed);
    expect(error.message).toContain(answered(status).message);
    expect(world.service.calls).toEqual(["account", "list", "create web"]);
    expect(stages(world)).toEqual(["refused"]);
  },
);

test("without a connection, the POST is tried four times, each with its own record, and no record stays pending", async () => {
  const world = scene();
  for (let n = 0; n < 4; n++) {
    world.service.posts.push(post(failed("unreachable"), { acts: false }));
  }
  const error = await errorOf(create(world));
  expect(error.message).toContain(failed("unreachable").message);
  expect(posts(world)).toBe(4);
  expect(records(world).filter(isPending)).toEqual([]);
});

test("after a 429, the POST is sent again with the next permit of the rate limit", async () => {
  const world = activating(scene());
  world.service.posts.push(post(answered(429), { acts: false }));
  await create(world);
  expect(posts(world)).toBe(2);
  expect(records(world).filter(isPending)).toHaveLength(1);
});

const unclearErrors = [
  answered(404, "POST", false),
  answered(409),
  answered(500),
  answered(502),
  answered(503),
  answered(504),
  answered(408),
  failed("unanswered"),
  failed("unreadable"),
];

test.each(unclearErrors)(
  "after an unclear POST, its instance is adopted if the name is generated, and the POST is not repeated: %s",
  async (error) => {
    const world = activating(scene());
    world.service.posts.push(post(error, { acts: true }));
    const { id, outputs } = await create(world, { name: generatedName });
    expect(outputs).toMatchObject({ status: "ACTIVE", name: generatedName });
    expect(posts(world)).toBe(1);
    expect(world.messages.warnings).toEqual([]);
    expect(newestRecord(world)?.id).toBe(id);
  },
);

test("an instance whose name the program chose is reported, and never adopted", async () => {
  const world = activating(scene());
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  const error = await errorOf(create(world));
  expect(error.message).toContain("i-1. The provider did not generate the name");
  expect(error.message).toContain("pulumi import compute:index:Instance web i-1");
  expect(posts(world)).toBe(1);
  expect(newestRecord(world)).toMatchObject({ stage: "unknown", ended: true });
});

test("a name that only looks generated counts as chosen by the program", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  const error = await errorOf(
    create(world, { inputs: { name: generatedName, __generated: "other" } }),
  );
  expect(error.message).toContain("The provider did not generate the name");
});

test("an instance with the generated name is adopted even if the baseline was not complete", async () => {
  const world = activating(scene());
  world.service.unreadable = 1;
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  await create(world, { name: generatedName });
  expect(posts(world)).toBe(1);
  expect(world.messages.warnings).toEqual([]);
});

test("an instance that turns up late in the settling time is adopted", async () => {
  const world = activating(scene());
  world.service.posts.push((body, _, service) => {
    const born = service.accept(body);
    const item = service.instances.get(born.id);
    service.instances.delete(born.id);
    void world.clock.sleep(50_000).then(() => item && service.has(item.id, item));
    throw answered(503);
  });
  await create(world, { name: generatedName });
  expect(posts(world)).toBe(1);
  expect(countNamed(world, generatedName)).toBe(1);
});

test.each([500, 502, 503])(
  "after an answered %i that made nothing, one more POST is made",
  async (status) => {
    const world = activating(scene());
    world.service.posts.push(post(answered(status), { acts: false }));
    const { outputs } = await create(world);
    expect(outputs["status"]).toBe("ACTIVE");
    expect(posts(world)).toBe(2);
    expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
  },
);

test("there is no third POST", async () => {
  const world = scene();
  world.service.posts.push(
    post(answered(500), { acts: false }),
    post(answered(500), { acts: false }),
  );
  const error = await errorOf(create(world));
  expect(error.message).toContain("The create was sent 2 times");
  expect(posts(world)).toBe(2);
  expect(newestRecord(world)).toMatchObject({ stage: "unknown" });
});

test.each([
  failed("unanswered"),
  failed("unreadable"),
  answered(504),
  answered(408),
  answered(302),
])("after a POST with an unclear answer, this run sends no other POST: %s", async (failure) => {
  const world = scene();
  world.service.posts.push(post(failure, { acts: false }));
  const error = await errorOf(create(world));
  expect(posts(world)).toBe(1);
  expect(error.message).toContain(`no instance named "web" turned up within 60 s`);
  expect(error.message).toContain("The next `pulumi up` on this machine searches for it");
  expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
});

test("an incomplete listing without the instance proves nothing, so there is no second POST", async () => {
  const world = scene();
  world.service.unreadable = 1;
  world.service.posts.push(post(answered(500), { acts: false }));
  const error = await errorOf(create(world));
  expect(posts(world)).toBe(1);
  expect(error.message).toContain("the listings were not complete");
});

test("if the search itself fails, the error says so, and no second POST is sent", async () => {
  const world = scene();
  world.service.posts.push((_body, _signals, service) => {
    service.listFaults.push(fail(answered(403, "GET")));
    throw answered(500);
  });
  const error = await errorOf(create(world));
  expect(posts(world)).toBe(1);
  expect(error.message).toContain("the search for it failed (GET /v2/instances");
  expect(newestRecord(world)).toBeDefined();
});

test("a listing that fails for a while is repeated", async () => {
  const world = activating(scene());
  world.service.posts.push((body, _signals, service) => {
    service.accept(body);
    service.listFaults.push(fail(answered(503, "GET")), fail(failed("unanswered", "cut", "GET")));
    throw failed("unanswered");
  });
  await create(world, { name: generatedName });
  expect(posts(world)).toBe(1);
});

test("if several instances may be the one of the POST, the create fails and names them", async () => {
  const world = scene();
  world.service.posts.push((body, _signals, service) => {
    service.accept(body);
    service.accept(body);
    throw failed("unanswered");
  });
  const error = await errorOf(create(world));
  expect(error.message).toContain("i-1, i-2");
  expect(error.message).toContain("pulumi import compute:index:Instance web");
  expect(error.message).toContain(`discard`);
  expect(posts(world)).toBe(1);
});

test("an instance that existed before the POST is never adopted", async () => {
  const world = scene();
  world.service.has("old", { name: "web" });
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  expect((await errorOf(create(world))).message).toContain("no instance named");
  expect(newestRecord(world)?.before).toEqual(["old"]);
});

test("if an unexplained new instance is listed, an answered 500 is not repeated", async () => {
  const world = scene();
  world.service.posts.push((_body, _signals, service) => {
    service.has("i-strange", { name: "another" });
    throw answered(500);
  });
  await errorOf(create(world));
  expect(posts(world)).toBe(1);
});

test("after a refused second POST, the outcome of the first one is still unknown", async () => {
  for (const refusal of [answered(400), failed("unreachable")]) {
    const world = scene();
    world.service.posts.push(post(answered(500), { acts: false }), post(refusal, { acts: false }));
    const error = await errorOf(create(world));
    expect(error.message).toContain("Whether the first try created an instance is not known");
    expect(newestRecord(world)).toBeDefined();
  }
});

test("an instance of the first POST that turns up after the second POST is reported from the last listing", async () => {
  const world = activating(scene());
  world.service.posts.push(post(answered(500), { acts: false }), (body, _signals, service) => {
    const accepted = service.accept(body);
    service.has("late", { name: body.name });
    return accepted;
  });
  const { id } = await create(world);
  expect(id).toBe("i-1");
  expect(world.messages.warnings).toEqual([expect.stringContaining("late")]);
});

test("the last listing is fetched even if the wait timed out", async () => {
  const world = scene();
  world.service.posts.push(post(answered(500), { acts: false }), (body, _signals, service) => {
    service.has("late", { name: body.name });
    return service.accept(body);
  });
  const error = await errorOf(create(world, { timeoutSeconds: 90 }));
  expect(error).toBeInstanceOf(InstanceUnfinished);
  expect(world.messages.warnings).toEqual([expect.stringContaining("late")]);
});

test("after Ctrl-C, the newest listing of the wait is used as the last listing", async () => {
  const world = scene();
  world.service.posts.push(post(answered(500), { acts: false }), (body, _signals, service) => {
    const accepted = service.accept(body);
    service.has("late", { name: body.name });
    service.listFaults.push(undefined, () => world.cancel());
    return accepted;
  });
  expect(await errorOf(create(world))).toBeInstanceOf(InstanceUnfinished);
  expect(world.messages.warnings).toEqual([expect.stringContaining("late")]);
});

test("two resources with the same explicit name send one POST at a time, and get two instances", async () => {
  const world = activating(scene());
  let underWay = 0;
  let maxUnderWay = 0;
  const slow = async (body: CreateBody, _: unknown, service: FakeService) => {
    maxUnderWay = Math.max(maxUnderWay, ++underWay);
    await world.clock.sleep(1000);
    underWay--;
    return service.accept(body);
  };
  world.service.posts.push(slow, slow);
  const both = await Promise.all([create(world), create(world, { urn: urnOf("other") })]);
  expect(maxUnderWay).toBe(1);
  expect(new Set(both.map(({ id }) => id)).size).toBe(2);
});

test("the baseline of a POST begins after the previous POST of the same name has ended", async () => {
  const world = activating(scene());
  world.service.posts.push(post(answered(400), { acts: false }));
  await Promise.allSettled([create(world), create(world, { urn: urnOf("other") })]);
  expect(world.service.calls.slice(1, 5)).toEqual(["list", "create web", "list", "create web"]);
});

test("after a POST without an answer, an instance of another resource of this run is never taken", async () => {
  const world = scene();
  world.service.posts.push(
    (body, _signals, service) => service.accept(body),
    post(failed("unanswered"), { acts: false }),
  );
  activating(world);
  const [first, second] = await Promise.allSettled([
    create(world),
    create(world, { urn: urnOf("other") }),
  ]);
  expect(first.status).toBe("fulfilled");
  expect(second).toMatchObject({
    status: "rejected",
    reason: { message: expect.stringContaining("no instance named") },
  });
});

// --- a cancel or the time-out ends the create ---

test("after Ctrl-C before the POST, nothing is sent or recorded", async () => {
  const world = scene();
  world.service.listFaults.push(() => world.cancel());
  expect(isEnded(await errorOf(create(world)))).toBe(true);
  expect(posts(world)).toBe(0);
  expect(records(world)).toEqual([]);
});

test("a POST that Ctrl-C stopped before it was sent leaves no pending record", async () => {
  const world = scene();
  world.service.posts.push((_body, { unsent }) => {
    world.cancel();
    throw unsent.reason;
  });
  expect(isEnded(await errorOf(create(world)))).toBe(true);
  expect(records(world).filter(isPending)).toEqual([]);
});

test("if Ctrl-C comes while the answer is under way, the id in the answer is kept (G1)", async () => {
  const world = scene();
  world.service.posts.push(async (body, { grace }, service) => {
    world.cancel();
    await world.clock.sleep(9000, grace);
    return service.accept(body);
  });
  const error = await errorOf(create(world));
  expect(error).toMatchObject({
    id: "i-1",
    state: { outputs: { __unfinished: true, networks: [{ type: "private" }] } },
  });
  expect(error.message).toContain("was canceled; i-1 is kept in the state");
});

test("a wait that ends without a stack names the import, since no state keeps the instance", async () => {
  const world = scene({}, undefined, { stateless: true });
  world.service.posts.push(async (body, { grace }, service) => {
    world.cancel();
    await world.clock.sleep(9000, grace);
    return service.accept(body);
  });
  const { message } = await errorOf(create(world));
  expect(message).toContain("`pulumi import compute:index:Instance '<name>' i-1`");
  expect(message).not.toContain("pulumi up");
});

test("a POST without an answer in the grace period is given up, and the error says what is not known", async () => {
  const world = scene();
  world.service.posts.push((_body, { grace }) => {
    world.cancel();
    const given = Promise.withResolvers<never>();
    grace.addEventListener("abort", () => given.reject(failed("unanswered")));
    return given.promise;
  });
  const error = await errorOf(create(world));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain(
    'Whether "web" was created is not known, and the search for it ended early (canceled)',
  );
  expect(newestRecord(world)).toBeDefined();
  expect(world.clock.now()).toBe(10_000);
});

test("a time-out during the search says what is not known, and keeps the record", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  const error = await errorOf(create(world, { timeoutSeconds: 20 }));
  expect(error.message).toContain("ended early (timed out after 20 s)");
  expect(newestRecord(world)).toBeDefined();
});

test("a cancel before the second POST does not make the error say that nothing was sent", async () => {
  const world = scene();
  world.service.posts.push(post(answered(500), { acts: false }), (_body, { unsent }) => {
    world.cancel();
    throw unsent.reason;
  });
  expect((await errorOf(create(world))).message).toContain(
    'Whether "web" was created is not known',
  );
  expect(newestRecord(world)).toBeDefined();
});

test("after a defect in the client, the record stays pending, because the POST may have been sent", async () => {
  const world = scene();
  world.service.createInstance = () => Promise.reject(new TypeError("defect"));
  expect(await errorOf(create(world))).toBeInstanceOf(TypeError);
  expect(newestRecord(world)).toMatchObject({ stage: "sending", ended: true });
});

test("after a defect that follows the 202, the error has the id (no created instance is lost: G1)", async () => {
  const world = scene();
  world.session.creates.noteMade = () => {
    throw new TypeError("defect");
  };
  expect(await errorOf(create(world))).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
});

// --- an error hook makes the engine repeat the Create call ---

test("the second call goes on waiting for the known id, even if a listing fails", async () => {
  const world = scene();
  const first = await errorOf(create(world, { timeoutSeconds: 5 }));
  expect(first).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
  world.service.listFaults.push(fail(answered(401, "GET")));
  expect(await errorOf(create(world))).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
  world.service.set("i-1", { status: "ACTIVE" });
  expect(await create(world)).toMatchObject({ id: "i-1", outputs: { status: "ACTIVE" } });
  expect(posts(world)).toBe(1);
});

test("after a POST without an answer, the second call searches before it sends anything", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  await errorOf(create(world, { timeoutSeconds: 5 }));
  world.service.has("i-9", { name: "web" });
  expect((await errorOf(create(world))).message).toContain("instance i-9 of that name exists");
  expect(posts(world)).toBe(1);
});

test("no timer is left, however the create ends", async () => {
  const ends = [
    undefined,
    post(answered(400), { acts: false }),
    post(failed("unanswered"), { acts: true }),
  ];
  for (const end of ends) {
    const world = activating(scene());
    if (end) world.service.posts.push(end);
    await create(world).catch(() => undefined);
    await new Promise(setImmediate);
    expect(world.clock.sleeping).toBe(0);
  }
});
