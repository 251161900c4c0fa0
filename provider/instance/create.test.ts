/**
 * Tests of Create with a service whose POSTs are scripted. They check that `create.ts` carries out the protocol, whose
 * decisions the explorer checks.
 */
import { expect, test } from "@jest/globals";
import { RequestError } from "../api/errors";
import { InstanceUnfinished, OperationFailed } from "../errors";
import { isEnded } from "../abort";
import type { PropertyValue } from "../propertyValue";
import { isPending } from "../ledger/record";
import { answered, fail, failed, post, type Post } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { createInstance } from "./create";

const urn = urnOf("web");
/** A name that the provider generated, so that only this create can have used it. */
const generatedName = "web-abcdefgh";

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

/** A POST that fails with `error`, and makes no instance. */
const nothingMade = (error: RequestError) => post(error, { acts: false });

const records = ({ session }: Scene) => session.ledger.read().map(({ record }) => record);
/** The newest record of the resource. */
const newestRecord = (world: Scene) => records(world).findLast((record) => record.urn === urn);
const posts = ({ service }: Scene) => service.count("create");

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

test("after a refusal, which makes nothing, the create fails without another listing", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(404)));
  const error = await errorOf(create(world));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain(answered(404).message);
  expect(world.service.calls).toEqual(["account", "list", "create web"]);
  expect(newestRecord(world)).toMatchObject({ stage: "refused" });
});

test("without a connection, the POST is tried four times, each with its own record, and no record stays pending", async () => {
  const world = scene();
  for (let n = 0; n < 4; n++) {
    world.service.posts.push(nothingMade(failed("unreachable")));
  }
  const error = await errorOf(create(world));
  expect(error.message).toContain(failed("unreachable").message);
  expect(posts(world)).toBe(4);
  expect(records(world).filter(isPending)).toEqual([]);
});

test("a POST that failed before it was sent is not tried again if waiting can't help", async () => {
  const world = scene();
  const failure = { kind: "unreachable", method: "POST", path: "/v2/instances" } as const;
  const error = new RequestError({ ...failure, cause: "a bad certificate", lasting: true });
  world.service.posts.push(nothingMade(error));
  expect((await errorOf(create(world))).message).toContain("a bad certificate");
  expect(posts(world)).toBe(1);
  expect(records(world).filter(isPending)).toEqual([]);
});

test("if no engine receives the id, the record stays open for the next run (G1)", async () => {
  const world = activating(scene());
  world.session.hasEngine = false;
  const { id } = await create(world);
  expect(newestRecord(world)).toMatchObject({ id, stage: "accepted", ended: true });
});

test("after a 429, the POST is sent again with the next permit of the rate limit", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(429)));
  await create(world);
  expect(posts(world)).toBe(2);
  expect(records(world).filter(isPending)).toHaveLength(1);
});

test("after an unclear POST, its instance is adopted if the name is generated, and the POST is not repeated (G2)", async () => {
  const world = activating(scene());
  world.service.posts.push((body, _signals, service) => {
    service.accept(body);
    service.listFaults.push(fail(answered(503, "GET")), fail(failed("unanswered", "cut", "GET")));
    throw failed("unanswered");
  });
  const { id, outputs } = await create(world, { name: generatedName });
  expect(outputs).toMatchObject({ status: "ACTIVE", name: generatedName, privateIpv4: "" });
  expect(posts(world)).toBe(1);
  expect(world.messages.warnings).toEqual([
    expect.stringContaining(`the answer to the create of instance ${id} was lost`),
  ]);
  expect(newestRecord(world)?.id).toBe(id);
});

test("an instance whose name the program chose is reported, and never adopted", async () => {
  const world = activating(scene());
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  const error = await errorOf(create(world));
  expect(error.message).toContain("i-1. The provider did not generate the name");
  expect(error.message).toContain("pulumi import compute:index:Instance web i-1");
  expect(posts(world)).toBe(1);
  expect(newestRecord(world)).toMatchObject({ stage: "unknown", ended: true });
});

test("after an answered 500 that made nothing, one more POST is made", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(500)));
  const { outputs } = await create(world);
  expect(outputs["status"]).toBe("ACTIVE");
  expect(posts(world)).toBe(2);
  expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
});

test.each<[string, Post[], string]>([
  [
    "no instance turns up",
    [nothingMade(answered(504))],
    `no instance named "web" turned up within 60 s`,
  ],
  [
    "the listings are not complete",
    [
      (_body, _signals, service) => {
        service.unreadable = 1;
        throw answered(500);
      },
    ],
    "the service's listing is not complete: it holds an item that can't be read",
  ],
  [
    "the search fails",
    [
      (_body, _signals, service) => {
        service.listFaults.push(fail(answered(403, "GET")));
        throw answered(500);
      },
    ],
    "the search for it failed (GET /v2/instances",
  ],
  [
    "several instances turn up",
    [
      (body, _signals, service) => {
        service.accept(body);
        service.accept(body);
        throw failed("unanswered");
      },
    ],
    "i-1, i-2",
  ],
  [
    "the repeat is unclear, too",
    [nothingMade(answered(500)), nothingMade(answered(500))],
    "the create was sent twice. The first time, POST /v2/instances: the service said 500 (HTTP 500), and two listings show that nothing was created",
  ],
])(
  "after an unclear POST, the error and the record say what is not known: %s",
  async (_, each, words) => {
    const world = scene();
    world.service.has("old", { name: "web" });
    world.service.posts.push(...each);
    const { message } = await errorOf(create(world));
    expect(message).toContain(words);
    expect(message).toMatch(/the next `pulumi up`|`pulumi import .*discard/s);
    // The create may have been the first step of a replacement.
    expect(message).toMatch(
      /before that import, .*another instance.*`pulumi state delete .*::web /,
    );
    expect(posts(world)).toBe(each.length);
    expect(records(world).filter(isPending)).toMatchObject([{ before: ["old"] }]);
  },
);

test("if the repeat of a POST is refused, the error says so after the first one's, and no create is pending", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(500)), nothingMade(answered(400)));
  const { message } = await errorOf(create(world));
  expect(message).toMatch(
    /^the create was sent twice\. The first time, POST .*500.*The second time, POST .*400/,
  );
  expect(posts(world)).toBe(2);
  expect(records(world).filter(isPending)).toEqual([]);
});

test("a repeat that can't be sent is tried again, like any POST", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(500)), nothingMade(failed("unreachable")));
  await create(world);
  expect(posts(world)).toBe(3);
});

test.each<[string, CreateOptions, (world: Scene) => void]>([
  ["is ready", {}, activating],
  [
    "has timed out",
    { timeoutSeconds: 90 },
    ({ service, clock }) => {
      // Only the last listing shows the instance.
      service.page = () => {
        if (clock.now() < 90_000) service.instances.delete("late");
        else service.has("late", { name: "web" });
        return undefined;
      };
    },
  ],
  // Then the newest listing of the wait is used.
  ["is canceled", {}, ({ service, cancel }) => service.listFaults.push(undefined, cancel)],
])(
  "an instance that may be the first POST's is reported after the wait for the second POST's %s",
  async (_, options, end) => {
    const world = scene();
    world.service.posts.push(nothingMade(answered(500)), (body, _signals, service) => {
      const accepted = service.accept(body);
      service.has("late", { name: body.name });
      end(world);
      return accepted;
    });
    await create(world, options).catch((error: Error) =>
      expect(error).toBeInstanceOf(InstanceUnfinished),
    );
    expect(world.messages.warnings).toEqual([expect.stringContaining("late")]);
  },
);

test("two resources with the same explicit name get an instance each", async () => {
  const world = activating(scene());
  world.service.posts.push(async (body, _signals, service) => {
    await world.clock.sleep(1000);
    return service.accept(body);
  });
  const both = await Promise.all([create(world), create(world, { urn: urnOf("other") })]);
  expect(posts(world)).toBe(2);
  expect(new Set(both.map(({ id }) => id)).size).toBe(2);
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

test.each([
  [{}, "was canceled; i-1 is kept in the state"],
  [{ stateless: true }, "`pulumi import compute:index:Instance '<name>' i-1`"],
])(
  "if Ctrl-C comes while the answer is under way, the id in the answer is kept (G1): %j",
  async (run, words) => {
    const world = scene({}, undefined, run);
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
    expect(error.message).toContain(words);
  },
);

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
  world.service.posts.push(nothingMade(failed("unanswered")));
  const error = await errorOf(create(world, { timeoutSeconds: 20 }));
  expect(error.message).toContain("ended early (timed out after 20 s)");
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
  world.session.creates.instances.set = () => {
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

test("the second call creates a new instance if the first was proven gone during the wait", async () => {
  const world = scene();
  const first = errorOf(create(world));
  void world.clock.sleep(90_000).then(() => world.service.instances.delete("i-1"));
  expect((await first).message).toContain("now missing from two complete listings");
  expect(world.session.ledger.read().map(({ record }) => record.settled)).toEqual(["gone"]);

  const second = create(world);
  void world.clock.sleep(90_000).then(() => world.service.set("i-2", { status: "ACTIVE" }));
  expect(await second).toMatchObject({ id: "i-2", outputs: { status: "ACTIVE" } });
  expect(posts(world)).toBe(2);
});

test("the engine forgets the id after 100 failures, so the last call but one succeeds with what is not ready (G1)", async () => {
  const world = scene();
  const refuse = nothingMade(answered(422));
  world.service.posts.push(refuse, refuse);
  await errorOf(create(world));
  await errorOf(create(world));
  for (let call = 3; call < 99; call++) {
    const error = await errorOf(create(world, { timeoutSeconds: 5 }));
    expect(error).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
  }
  expect(world.messages.warnings).toEqual([]);
  for (const _call of [99, 100]) {
    const { id, outputs } = await create(world, { timeoutSeconds: 5 });
    expect({ id, outputs }).toMatchObject({ id: "i-1", outputs: { __unfinished: true, ipv4: "" } });
  }
  expect(world.messages.warnings[0]).toContain("the next `pulumi up` goes on waiting for it");
  expect(posts(world)).toBe(3);
});

test("after Ctrl-C, the first answer says that the instance is not ready, and a further one that it was created", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(422)), (body, _signals, service) => {
    world.cancel();
    return service.accept(body);
  });
  await errorOf(create(world));
  expect(await errorOf(create(world))).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
  expect(await create(world)).toMatchObject({ id: "i-1", outputs: { __unfinished: true } });
  expect(posts(world)).toBe(2);
});

test("after a POST without an answer, the second call searches before it sends anything", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(failed("unanswered")));
  await errorOf(create(world, { timeoutSeconds: 5 }));
  world.service.has("i-9", { name: "web" });
  expect((await errorOf(create(world))).message).toContain("Instance i-9 of that name exists");
  expect(posts(world)).toBe(1);
});

test("no timer is left, however the create ends", async () => {
  const ends = [undefined, nothingMade(answered(400)), post(failed("unanswered"), { acts: true })];
  for (const end of ends) {
    const world = activating(scene());
    if (end) world.service.posts.push(end);
    await create(world).catch(() => undefined);
    await new Promise(setImmediate);
    expect(world.clock.sleeping).toBe(0);
  }
});
