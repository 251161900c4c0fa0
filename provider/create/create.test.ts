/**
 * Tests of Create with a service whose POSTs are scripted. They check that `create.ts` carries out the protocol, whose
 * decisions the explorer checks.
 */
import { expect, test } from "@jest/globals";
import type { RunKind } from "../engine";
import { RequestError } from "../api/requestError";
import { OperationFailed } from "../errors";
import { isEnded } from "../abort";
import { propertyMap, Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
import { answered, fail, failed, post, type Post } from "../testing/fakeService";
import {
  createOf,
  errorOf,
  held,
  inputsOf,
  postsTo,
  scene,
  urnOf,
  type Scene,
} from "../testing/scene";
import { createInstance } from "../testing/calls";

const urn = urnOf("web");
/** A name that the provider generated, so that only this create can have used it. */
const generatedName = "web-abcdefgh";

function create({ session }: Scene, asked: Parameters<typeof createOf>[0] = {}) {
  return createInstance(session, createOf({ isGenerated: asked.name === generatedName, ...asked }));
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

const records = ({ session }: Scene) => session.ledger.all().map(({ record }) => record);
const recordOf = (world: Scene) => records(world).find((record) => record.urn === urn);

test("a create is one POST between a baseline and the wait, and its record goes when the run ends in order", async () => {
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
  expect(recordOf(world)).toMatchObject({ id, givenBy: world.session.id });
  expect(outputs["__run"]).toBe(world.session.id);
  world.session.ledger.endInOrder();
  expect(records(world)).toEqual([]);
  expect(world.messages.warnings).toEqual([]);
});

test("creates of different names share their baseline, and none waits for another", async () => {
  const world = activating(scene());
  const names = Array.from({ length: 25 }, (_, n) => `web-${n}`);
  await Promise.all(names.map((name) => create(world, { name, resource: name })));
  expect(postsTo(world)).toBe(25);
  expect(world.service.count("list")).toBeLessThan(5);
});

test("a create that follows another one looks less often, since its instance is new, and hardly ready much sooner", async () => {
  const world = scene();
  const ready = { status: "ACTIVE", ipv4_public: "203.0.113.9" };
  let begun = 0;
  world.service.page = () => {
    if (world.clock.now() - begun >= 10_000)
      for (const id of world.service.instances.keys()) world.service.set(id, ready);
    return undefined;
  };
  const listsOf = async (name: string) => {
    begun = world.clock.now();
    const before = world.service.count("list");
    await create(world, { name, resource: name });
    return world.service.count("list") - before;
  };
  const first = await listsOf("web");
  const second = await listsOf("db");
  expect(second).toBeLessThan((first * 2) / 3);
});

test("after a refusal, which makes nothing, the create fails without another listing", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(404)));
  const error = await errorOf(create(world));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain(answered(404).message);
  expect(world.service.calls).toEqual(["account", "list", "create web"]);
  expect(records(world)).toEqual([]);
});

test("without a connection, the POST is tried four times, and no record stays", async () => {
  const world = scene();
  for (let n = 0; n < 4; n++) {
    world.service.posts.push(nothingMade(failed("unreachable")));
  }
  const error = await errorOf(create(world));
  expect(error.message).toContain(failed("unreachable").message);
  expect(postsTo(world)).toBe(4);
  expect(records(world)).toEqual([]);
});

test("a POST that failed before it was sent is not tried again if waiting can't help", async () => {
  const world = scene();
  const failure = { kind: "unreachable", method: "POST", path: "/v2/instances" } as const;
  const error = new RequestError({ ...failure, cause: "a bad certificate", lasting: true });
  world.service.posts.push(nothingMade(error));
  expect((await errorOf(create(world))).message).toContain("a bad certificate");
  expect(postsTo(world)).toBe(1);
  expect(records(world)).toEqual([]);
});

test("if no engine receives the id, the record stays open for the next run (G1)", async () => {
  const world = activating(scene());
  world.session.engine.end("engineGone");
  const { id } = await create(world);
  expect(recordOf(world)).toMatchObject({ id });
  expect(recordOf(world)).not.toHaveProperty("givenBy");
});

test("after a 429, the POST is sent again with the next permit of the rate limit", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(429)));
  await create(world);
  expect(postsTo(world)).toBe(2);
  expect(records(world)).toHaveLength(1);
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
  expect(postsTo(world)).toBe(1);
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(
      `the answer to the create of instance ${id} was lost\\.\nnetworks, privateIpv4 .* stay empty`,
    ),
  ]);
  expect(recordOf(world)?.id).toBe(id);
});

test("an instance whose name the program chose is reported, and never adopted", async () => {
  const world = activating(scene());
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  const error = await errorOf(create(world));
  expect(error.message).toContain("perhaps i-1");
  expect(error.message).toContain("settle`");
  expect(postsTo(world)).toBe(1);
  expect(recordOf(world)).toMatchObject({ at: expect.any(String) });
  expect(recordOf(world)).not.toHaveProperty("id");
});

test("after an answered 500 that made nothing, one more POST is made", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(500)));
  const { outputs } = await create(world);
  expect(outputs["status"]).toBe("ACTIVE");
  expect(postsTo(world)).toBe(2);
  expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
});

test.each<[string, Post[], string]>([
  [
    "no instance turns up",
    [nothingMade(answered(504))],
    "no listing shows its instance, but the service may still make it",
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
    "the search for it ended early (GET /v2/instances",
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
    "It was sent twice. Nothing more was sent.",
  ],
])(
  "after an unclear POST, the error and the record say what is not known: %s",
  async (_, each, words) => {
    const world = scene();
    world.service.has("old", { name: "web.example.com" });
    world.service.posts.push(...each);
    const { message } = await errorOf(create(world));
    expect(message).toContain(words);
    expect(message).toMatch(/Nothing more was sent\.\nTo settle it: `.*settle`$/);
    expect(message.split("\n").length).toBeLessThanOrEqual(6);
    expect(postsTo(world)).toBe(each.length);
    expect(records(world)).toMatchObject([{ before: ["old"] }]);
  },
);

test("if the repeat of a POST is refused, the error says so after the first one's, and no record stays", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(500)), nothingMade(answered(400)));
  const { message } = await errorOf(create(world));
  expect(message).toMatch(
    /^nothing was created: POST .*400.*An earlier try failed \(POST .*500.*created nothing\.$/s,
  );
  expect(postsTo(world)).toBe(2);
  expect(records(world)).toEqual([]);
});

test("a repeat that can't be sent is tried again, like any POST", async () => {
  const world = activating(scene());
  world.service.posts.push(nothingMade(answered(500)), nothingMade(failed("unreachable")));
  await create(world);
  expect(postsTo(world)).toBe(3);
});

test("two resources with the same explicit name get an instance each", async () => {
  const world = activating(scene());
  world.service.posts.push(async (body, _signals, service) => {
    await world.clock.sleep(1000);
    return service.accept(body);
  });
  const both = await Promise.all([create(world), create(world, { resource: "other" })]);
  expect(postsTo(world)).toBe(2);
  expect(new Set(both.map(({ id }) => id)).size).toBe(2);
});

// --- a cancel or the time-out ends the create ---

test("after Ctrl-C before the POST, nothing is sent or recorded", async () => {
  const world = scene();
  world.service.listFaults.push(() => world.cancel());
  expect(isEnded(await errorOf(create(world)))).toBe(true);
  expect(postsTo(world)).toBe(0);
  expect(records(world)).toEqual([]);
});

test("a POST that Ctrl-C stopped before it was sent leaves no record", async () => {
  const world = scene();
  world.service.posts.push((_body, { unsent }) => {
    world.cancel();
    throw unsent.reason;
  });
  expect(isEnded(await errorOf(create(world)))).toBe(true);
  expect(records(world)).toEqual([]);
});

test.each<[RunKind, string]>([
  ["program", "was canceled.\nIt is kept in the state"],
  ["stateless", "`pulumi import compute:index:Instance '<name>' i-1`"],
])(
  "if Ctrl-C comes while the answer is under way, the id in the answer is kept (G1): %s",
  async (kind, words) => {
    const world = scene({}, undefined, { kind });
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
  expect(error.message).toMatch(/^the create of "web" is in doubt: the search for it ended early/);
  expect(recordOf(world)).toBeDefined();
  expect(world.clock.now()).toBe(10_000);
});

test("a time-out during the search says what is not known, and keeps the record", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(failed("unanswered")));
  const error = await errorOf(create(world, { timeoutSeconds: 20 }));
  expect(error.message).toContain(
    "the search for it ended early (timed out after 20 s (customTimeouts.create))",
  );
  expect(recordOf(world)).toBeDefined();
});

test("after a defect in the client, the record stays, because the POST may have been sent", async () => {
  const world = scene();
  world.service.createInstance = () => Promise.reject(new TypeError("defect"));
  expect(await errorOf(create(world))).toBeInstanceOf(TypeError);
  expect(recordOf(world)).toMatchObject({ at: expect.any(String) });
});

test("after a defect that follows the 202, the error has the id (no created instance is lost: G1)", async () => {
  const world = scene();
  world.session.engine.ours.add = () => {
    throw new TypeError("defect");
  };
  expect(await errorOf(create(world))).toMatchObject({ name: "InstanceUnfinished", id: "i-1" });
});

test("the preview of a step that is skipped takes inputs that no Check has seen, and leaves the name open", async () => {
  const world = scene();
  const { urn } = createOf();
  world.service.has("i-7", { name: undefined });
  world.service.has("i-8", { name: "" });
  for (const inputs of [{}, { flavorId: 3, name: "web" }, { flavorId: "a", imageId: "b" }]) {
    const request = { urn, inputs: propertyMap(inputs), timeoutSeconds: 0, preview: true };
    const { outputs } = await createInstance(world.session, request);
    expect(outputs["name"]).toBe("name" in inputs ? "web" : Unknown.value);
  }
  expect(world.messages.all).toEqual([]);
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
  expect(postsTo(world)).toBe(1);
});

test("the second call creates a new instance if the first was proven gone during the wait", async () => {
  const world = scene();
  const first = errorOf(create(world));
  void world.clock.sleep(90_000).then(() => world.service.instances.delete("i-1"));
  expect((await first).message).toContain("now missing from two complete listings");
  expect(records(world)).toEqual([]);

  const second = create(world);
  void world.clock.sleep(90_000).then(() => world.service.set("i-2", { status: "ACTIVE" }));
  expect(await second).toMatchObject({ id: "i-2", outputs: { status: "ACTIVE" } });
  expect(postsTo(world)).toBe(2);
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
  expect(postsTo(world)).toBe(3);
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
  expect(postsTo(world)).toBe(2);
});

test("after a POST without an answer, the second call searches before it sends anything", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(failed("unanswered")));
  await errorOf(create(world, { timeoutSeconds: 5 }));
  world.service.has("i-9", { name: "web" });
  expect((await errorOf(create(world))).message).toContain("perhaps i-9");
  expect(postsTo(world)).toBe(1);
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

// ── fallbackFlavorIds ────────────────────────────────────────────────────────────────────────────

const soldOut = () => nothingMade(answered(422));
const withFallbacks = { inputs: { flavorId: "a", fallbackFlavorIds: ["b", "c"] } };
const flavorsAsked = ({ service }: Scene) => service.bodies.map((body) => body.flavor_id);

test("a flavor that the service refuses gives way to the next one, and the outputs and the record say which it was", async () => {
  const world = activating(scene());
  world.service.posts.push(soldOut());
  const { outputs } = await create(world, withFallbacks);
  expect(flavorsAsked(world)).toEqual(["a", "b"]);
  expect(outputs).toMatchObject({ flavorId: "a", flavorIdUsed: "b" });
  expect(recordOf(world)?.flavor).toBe("b");
  expect(world.messages.all.filter((text) => text.startsWith("info"))).toEqual([
    expect.stringMatching(
      /^info the instance has the flavor b, because a was refused \(POST .*422\)\)$/,
    ),
  ]);
});

test("if each flavor is refused otherwise, the one error has each answer, and no record stays", async () => {
  const world = scene();
  world.service.posts.push(soldOut(), nothingMade(answered(402)), soldOut());
  const { message } = await errorOf(create(world, withFallbacks));
  expect(message.split("\n")).toEqual([
    "no flavor was accepted, and nothing was created:",
    expect.stringMatching("^  - a: POST .*HTTP 422"),
    expect.stringMatching("^  - b: POST .*HTTP 402"),
    expect.stringMatching("^  - c: POST .*HTTP 422"),
    expect.stringContaining("run again"),
  ]);
  expect(records(world)).toEqual([]);
});

test("if each flavor is refused in the same way, the answer is said once", async () => {
  const world = scene();
  for (let flavor = 0; flavor < 3; flavor++) world.service.posts.push(soldOut());
  const { message } = await errorOf(create(world, withFallbacks));
  expect(message.split("\n")).toEqual([
    expect.stringMatching("^refused with each flavor, and nothing was created: POST .*HTTP 422"),
    expect.stringContaining("run again"),
  ]);
});

test("a request that nobody could read has created nothing, whatever its answer says", async () => {
  const world = scene();
  world.service.posts.push(nothingMade(answered(413, "POST", false)));
  const { message } = await errorOf(create(world));
  expect(message).toMatch(/^nothing was created: .*HTTP 413.*\n.*gzip/);
  expect(world.service.count("list")).toBe(1);
  expect(records(world)).toEqual([]);
});

test.each([401, 403, 404, 405])(
  "no other flavor is tried after a %d, which does not say that no flavor was accepted",
  async (status) => {
    const world = scene();
    world.service.posts.push(soldOut(), nothingMade(answered(status)));
    const { message } = await errorOf(create(world, withFallbacks));
    expect(flavorsAsked(world)).toEqual(["a", "b"]);
    expect(message).toMatch(new RegExp(`^nothing was created: POST .*HTTP ${status}`));
    expect(message).not.toContain("422");
  },
);

test("the answer that is lost is that of the second flavor, and the instance is taken over with it", async () => {
  const world = activating(scene());
  world.service.posts.push(soldOut(), post(failed("unanswered"), { acts: true }));
  const { outputs } = await create(world, { ...withFallbacks, name: generatedName });
  expect(flavorsAsked(world)).toEqual(["a", "b"]);
  expect(outputs).toMatchObject({ flavorIdUsed: "b" });
});

test("no other flavor is tried after an answer that leaves open what was made, and the record has the flavor (G2)", async () => {
  const world = scene();
  world.service.posts.push(soldOut(), nothingMade(answered(409)));
  await errorOf(create(world, withFallbacks));
  expect(flavorsAsked(world)).toEqual(["a", "b"]);
  expect(recordOf(world)?.flavor).toBe("b");
});

test("a create whose first flavor is accepted says so", async () => {
  const { outputs } = await create(activating(scene()), withFallbacks);
  expect(outputs).toMatchObject({ flavorIdUsed: "a" });
});

test("a secret flavor is a secret among the outputs, and is not in the ledger (G8)", async () => {
  const world = activating(scene());
  world.service.posts.push(soldOut());
  const inputs = { flavorId: "a", fallbackFlavorIds: ["a", new Secret("b")] };
  const { outputs } = await create(world, { inputs });
  expect(flavorsAsked(world)).toEqual(["a", "b"]);
  expect(outputs["flavorIdUsed"]).toEqual(new Secret("b"));
  expect(recordOf(world)).not.toHaveProperty("flavor", "b");
});

// ── A name that another instance has ─────────────────────────────────────────────────────────────

const taken = (status: number) => nothingMade(answered(status));
/** A scene in which the checked Diff of this run was about "i-1", which has the name of the new one. */
function replacing(args: Record<string, PropertyValue>): Scene {
  const world = scene(args);
  world.service.has("i-1", { name: "web" });
  const { urn } = createOf();
  const outputs = propertyMap({ name: "web", status: "ACTIVE" });
  world.session.engine.check({ urn, olds: inputsOf() });
  world.session.engine.diff({ urn, news: inputsOf() }, held(outputs));
  world.session.state.noteShown({ id: "i-1", origin: undefined });
  return world;
}
const destroying = { destroyPath: "/v2/instances/{id}" };
const retaining = { deletePolicy: "retain" };

test.each([
  [400, destroying, true],
  [409, destroying, true],
  [422, destroying, true],
  [422, retaining, true],
  [401, destroying, false],
  [500, destroying, false],
])(
  "if a create of a name that the replaced instance has is answered with %d, %j, the error says so, where that may be why",
  async (status, args, isNamed) => {
    const world = replacing(args);
    world.service.posts.push(taken(status), taken(status));
    const { message } = await errorOf(create(world));
    expect(message.includes("instance i-1 has this name already")).toBe(isNamed);
  },
);

test("if another listed instance has the name, the refusal names it", async () => {
  const world = scene(destroying);
  world.service.has("i-7", { name: "web" });
  world.service.posts.push(taken(422));
  const { message } = await errorOf(create(world));
  expect(message).toContain("instance i-7 has this name already");
  // Without one, the name is not why.
  const alone = scene();
  alone.service.posts.push(taken(422));
  expect((await errorOf(create(alone))).message).not.toContain("has this name");
});
