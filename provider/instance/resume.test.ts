/** Tests of what a run does with the record of an earlier run that died during a create ("nothing is lost", G1). */
import { expect, test } from "@jest/globals";
import { Secret } from "../propertyValue";
import { answered, fail, failed, post, ready } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { isPending, type LedgerRecord } from "../ledger/record";
import { createInstance } from "./create";
import { readInstance } from "./read";

const urn = urnOf("web");
const generated = (n: number) => `web-aaaaaaa${n + 1}`;
const isGenerated = (name: string) => name.startsWith("web-aaaaaaa");

function create(
  { session }: Scene,
  name: string,
  more: Parameters<typeof inputsOf>[0] = {},
  resourceUrn = urn,
) {
  const inputs = inputsOf({ name, ...(isGenerated(name) && { __generated: name }), ...more });
  const request = { urn: resourceUrn, inputs, timeoutSeconds: 0, preview: false };
  return createInstance(session, request);
}

const posts = ({ service }: Scene) => service.count("create");
const records = ({ session }: Scene) => session.ledger.read().map(({ record }) => record);
const pendingRecords = (world: Scene) => records(world).filter(isPending);

/** A run whose create is under way. Its instance exists, and is not ready yet. */
async function underWay(): Promise<Scene> {
  const world = scene();
  world.service.posts.push(ready);
  const waits = Promise.withResolvers<void>();
  world.session.poller.waitWhileProvisioning = () => {
    waits.resolve();
    return new Promise(() => undefined);
  };
  void create(world, generated(1)).catch(() => undefined);
  await waits.promise;
  return world;
}

/** Writes a record, as a run on this machine that has ended since left it. */
async function leaveRecord(world: Scene, more: Partial<LedgerRecord>): Promise<void> {
  const { ledger } = world.beside().session;
  const key = await ledger.begin({
    ...world.session.connection.place(),
    scope: "another-scope",
    urn,
    name: "web",
    kind: "explicit",
    digest: "d",
    before: [],
    at: "2026-01-01T00:00:00.000Z",
    ...more,
  });
  const { stage = "sending", id } = more;
  ledger.move(key, { stage, ...(id === undefined ? {} : { id }) });
  await ledger.close();
}

/** A run that sent a POST and died. Only its ledger and the created instances remain. */
async function diedAfterPost(name: string, { acts }: { acts: boolean }, world = scene()) {
  const dead = Promise.withResolvers<never>();
  const sent = Promise.withResolvers<void>();
  world.service.posts.push((body, _signals, service) => {
    if (acts) service.accept(body);
    sent.resolve();
    return dead.promise;
  });
  void create(world, name).catch(() => undefined);
  await sent.promise;
  for (const id of world.service.instances.keys()) world.service.set(id, { status: "ACTIVE" });
  return world.nextRun();
}

/** A run that recorded its 202, and died before the engine received the reply. */
async function diedAfterAnswer(
  name: string,
  world = scene(),
  more: Parameters<typeof inputsOf>[0] = {},
) {
  const { id } = world.service.accept({ name, flavor_id: "", image_id: "", vpc_id: "" });
  world.service.instances.delete(id);
  world.service.posts.push(ready);
  const seen = Promise.withResolvers<void>();
  world.session.poller.waitWhileProvisioning = () => {
    seen.resolve();
    return new Promise(() => undefined);
  };
  void create(world, name, more).catch(() => undefined);
  await seen.promise;
  return { world: world.nextRun(), id: records(world)[0]?.id ?? "" };
}

test("the instance of a recorded id is taken over, with a warning and without a POST", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  expect(await create(world, generated(2))).toMatchObject({ id, outputs: { status: "ACTIVE" } });
  expect(posts(world)).toBe(1);
  expect(world.messages.warnings).toEqual([expect.stringContaining(`${id} ("${generated(1)}")`)]);
});

test("outputs that only the 202 showed are kept: networks and createdAt", async () => {
  const { world } = await diedAfterAnswer(generated(1));
  const { outputs } = await create(world, generated(2));
  expect(outputs["networks"]).toEqual([expect.objectContaining({ ipv4: "10.0.0.5" })]);
  expect(outputs).toMatchObject({ privateIpv4: "10.0.0.5", createdAt: expect.any(String) });
});

test("if the service lists names in capitals, no second POST is sent (nothing is made twice: G2)", async () => {
  const world = scene();
  world.service.posts.push((_body, _signals, service) => {
    service.has("i-upper", { name: generated(1).toUpperCase() });
    throw answered(502);
  });
  expect((await create(world, generated(1))).id).toBe("i-upper");
  expect(posts(world)).toBe(1);
});

test("if the instance is proven gone, its record is settled, and the create sends a POST", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.service.instances.delete(id);
  world.service.posts.push(ready);
  expect((await create(world, generated(2))).id).not.toBe(id);
  expect(posts(world)).toBe(2);
});

test("if it is not known whether the instance exists, the create stops, and its error names the commands that help", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.service.instances.delete(id);
  world.service.unreadable = 1;
  const error = await errorOf(create(world, generated(2)));
  expect(error.message).toContain(`whether ${id} still exists is not known`);
  expect(error.message).toContain(`pulumi import compute:index:Instance web ${id}`);
  expect(error.message).toContain("discard");
  expect(posts(world)).toBe(1);
});

test("if the program now asks for a different instance, the create fails and says so", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const error = await errorOf(create(world, generated(2), { flavorId: "flavor-2" }));
  expect(error.message).toContain(
    `instance ${id} exists, but the program now asks for a different one`,
  );
  expect(posts(world)).toBe(1);
});

test("a request with the SSH keys in another order counts as the same", async () => {
  const { world, id } = await diedAfterAnswer(generated(1), scene(), { sshKeys: ["a", "b"] });
  expect((await create(world, generated(2), { sshKeys: ["b", "a"] })).id).toBe(id);
});

test("another name that the engine proposed (`pulumi:autonaming`) counts as the same request", async () => {
  const proposed = (name: string) => ({ __proposed: name });
  const { world, id } = await diedAfterAnswer("app-1", scene(), proposed("app-1"));
  expect((await create(world, "app-2", proposed("app-2"))).id).toBe(id);
});

test("after a rename of the stack, the create is resumed. After a rename of the resource, it is reported", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.service.posts.push(ready);
  const renamed = await create(world, "other", {}, urnOf("renamed"));
  expect(renamed.id).not.toBe(id);
  expect(world.messages.warnings[0]).toContain(id);
  expect(world.messages.warnings[0]).toContain("pulumi import compute:index:Instance web");
  const other = urn.replace(":dev:", ":prod:");
  expect((await create(world.nextRun(), generated(2), {}, other)).id).toBe(id);
});

test("a run with another provider resource never resumes the create, but stops and names both commands", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const other = world.nextRun({}, { scope: "upgraded" });
  const { message } = await errorOf(create(other, generated(2)));
  expect(message).toContain("that create had another provider resource");
  expect(message).toContain(`pulumi import compute:index:Instance web ${id}`);
  expect(message).toContain("discard");
  expect(posts(other)).toBe(1);
});

test("creates of `pulumi do --stateless` do not stop each other, although they share a URN", async () => {
  const stateless = { scope: "do-1", stateless: true };
  const first = scene({}, undefined, stateless);
  const { world } = await diedAfterAnswer("one", first);
  const second = world.nextRun({}, { scope: "do-2", stateless: true });
  second.service.posts.push(ready);
  await create(second, "two");
  expect(posts(second)).toBe(2);
});

test("if a run ended abnormally after its reply, the next create stops", async () => {
  const world = scene();
  world.service.posts.push(ready);
  const { id } = await create(world, generated(1));
  const next = world.nextRun();
  const { message } = await errorOf(create(next, generated(2)));
  expect(message).toContain(`the engine received instance ${id}`);
  expect(posts(next)).toBe(1);
});

test("if another run's create is under way, the create waits for it, and then resumes it", async () => {
  const first = await underWay();
  void first.clock.sleep(20_000).then(() => first.session.ledger.close());
  expect((await create(first.beside(), generated(2))).id).toBe("i-1");
  expect(posts(first)).toBe(1);
});

test("if another run's create does not end in time, the create stops", async () => {
  const first = await underWay();
  const { message } = await errorOf(create(first.beside(), generated(2)));
  expect(message).toMatch(/^another run is still creating .*Run again once that run has ended$/);
  expect(posts(first)).toBe(1);
});

test("after a token rotation, the error does not claim that the program changed", async () => {
  const { world } = await diedAfterAnswer(generated(1));
  const rotated = world.nextRun({ apiToken: new Secret("sk_live_another1") });
  const error = await errorOf(create(rotated, generated(2)));
  expect(error.message).toContain("the token has changed since");
});

test("another tenant's listing never proves that the instance of a pending create is gone (G3)", async () => {
  for (const begin of [
    () => diedAfterAnswer(generated(1)),
    async () => ({ world: await diedAfterPost(generated(1), { acts: true }) }),
  ]) {
    const { world } = await begin();
    world.service.instances.clear();
    const other = world.nextRun({ apiToken: new Secret("sk_live_another1") });
    const error = await errorOf(create(other, generated(2)));
    expect(error.message).toContain("another tenant's");
    expect(pendingRecords(other)).toHaveLength(1);
    expect(posts(other)).toBe(1);
  }
});

test("if the name was generated, the next run resumes the only instance that an unanswered POST made", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  expect((await create(world, generated(2))).id).toBe("i-1");
  expect(posts(world)).toBe(1);
});

test("an instance whose name the program chose is reported, and not taken over", async () => {
  const world = await diedAfterPost("web", { acts: true });
  const { message } = await errorOf(create(world, "web"));
  expect(message).toContain("i-1 of that name exists, but the provider did not generate the name");
  expect(posts(world)).toBe(1);
});

test("if two complete listings after the settling time lack the instance, the create sends a POST", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.service.posts.push(ready);
  const began = world.clock.now();
  await create(world, "web");
  expect(posts(world)).toBe(2);
  expect(world.clock.now() - began).toBeGreaterThanOrEqual(59_000);
});

test("the settling time of an ended POST counts from its end (G2)", async () => {
  const world = scene({ settlingSeconds: 2 });
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  await errorOf(create(world, "web"));
  const next = world.nextRun();
  next.service.posts.push(ready);
  expect((await create(next, "web", {}, urn)).id).toBe("i-1");
  expect(next.clock.now()).toBeLessThan(10_000);
});

test("a much later run does not wait for the settling time", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.clock.setWallClock(new Date("2027-01-01T00:00:00Z"));
  world.service.posts.push(post(answered(400), { acts: false }));
  const began = world.clock.now();
  await errorOf(create(world, "web"));
  expect(world.clock.now() - began).toBeLessThan(10_000);
});

test("a wall clock that was set back does not make the search longer than the settling time", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.clock.setWallClock(new Date("2020-01-01T00:00:00Z"));
  world.service.posts.push(post(answered(400), { acts: false }));
  const began = world.clock.now();
  await errorOf(create(world, "web"));
  expect(world.clock.now() - began).toBeLessThan(100_000);
});

test("several possible instances stop the create", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  world.service.has("i-9", { name: generated(1) });
  const error = await errorOf(create(world, generated(2)));
  expect(error.message).toContain("several instances could be the one it created: i-1, i-9");
  expect(posts(world)).toBe(1);
});

test("a refused create leaves no pending record", async () => {
  const world = scene();
  world.service.posts.push(post(answered(404), { acts: false }));
  await errorOf(create(world, "web"));
  const next = world.nextRun();
  next.service.posts.push(ready);
  expect((await create(next, "web")).id).toBe("i-1");
  expect(posts(next)).toBe(2);
});

test("a listing that is not complete, or that fails, does not prove that there is no instance", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.service.unreadable = 1;
  expect((await errorOf(create(world, "web"))).message).toContain("listing is not complete");
  world.service.unreadable = 0;
  world.service.listFaults.push(fail(answered(403, "GET")));
  expect((await errorOf(create(world.nextRun(), "web"))).message).toContain("403");
  expect(pendingRecords(world)).toHaveLength(1);
  expect(posts(world)).toBe(1);
});

test("a second instance of a resumed create is reported from the last listing (G2)", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  world.service.set("i-1", { status: "PROVISIONING" });
  world.service.listFaults.push(undefined, () => {
    world.service.set("i-1", { status: "ACTIVE" });
    world.service.has("late", { name: generated(1) });
  });
  await create(world, generated(1));
  expect(world.messages.warnings.at(-1)).toContain("late");
});

// --- instances that a state already holds ---

test("outputs with the stamp (`__run`) of another session settle the record of the instance, under whatever URN", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.session.state.observe(id, inputsOf({ __run: "an-earlier-one" }));
  expect(pendingRecords(world)).toEqual([]);
});

test.each([
  ["no stamp (`.get()`, an import previewed)", {}],
  ["the stamp of this session (an import under way)", { __run: "own" }],
])("a call with %s proves nothing", async (_, outputs) => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const stamp = "__run" in outputs ? { __run: world.session.id } : {};
  world.session.state.observe(id, inputsOf(stamp));
  expect(pendingRecords(world)).toHaveLength(1);
});

test("after an import of its instance, real or previewed, a create is not resumed, and the next create stops", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const read = { urn, id, inputs: undefined, outputs: undefined, timeoutSeconds: 0 };
  await readInstance(world.session, read);
  world.session.ledger.markDelivered();
  const next = world.nextRun();
  const { message } = await errorOf(create(next, generated(2)));
  expect(message).toContain(`the engine received instance ${id}`);
  expect(posts(next)).toBe(1);
});

test("the record of a create that was resumed has the id of the instance", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  const { id } = await create(world, generated(2));
  expect(pendingRecords(world)).toEqual([expect.objectContaining({ id, stage: "replied" })]);
});

test("an instance in the record of another resource is never adopted", async () => {
  const world = await diedAfterPost(generated(1), { acts: false });
  world.service.has("i-other", { name: generated(1) });
  await leaveRecord(world, {
    stage: "accepted",
    id: "i-other",
    urn: urnOf("other"),
    kind: "generated",
  });
  world.service.posts.push(ready);
  expect((await create(world, generated(2))).id).not.toBe("i-other");
});

test("the record of a create with another account is not settled, and the error names both commands", async () => {
  const world = scene();
  world.service.accountAnswer = async () => ({ id: "acct_other" });
  const { world: next } = await diedAfterAnswer(generated(1), world);
  next.service.accountAnswer = async () => ({ id: "acct_mine" });
  const error = await errorOf(create(next, generated(2)));
  expect(error.message).toContain("acct_other");
  expect(error.message).toContain("pulumi import");
  expect(error.message).toContain("discard");
  expect(posts(next)).toBe(1);
});

test("an instance that the engine has named for another resource is never adopted", async () => {
  const world = scene();
  world.session.state.observe("i-7", inputsOf());
  world.service.posts.push((_body, _signals, service) => {
    service.has("i-7", { name: generated(1) });
    throw failed("unanswered");
  });
  expect((await errorOf(create(world, generated(1)))).message).toContain("no instance named");
});

// --- secret names, and listings that lag ---

test("a secret name is recorded as a hash, by which a later run recognizes the name (G8)", async () => {
  const world = scene();
  const secret = { name: new Secret("canary-name") };
  world.service.posts.push(post(failed("unanswered"), { acts: true }));
  await errorOf(create(world, "", secret));
  expect(JSON.stringify(pendingRecords(world))).not.toContain("canary");

  const error = await errorOf(create(world.nextRun(), "", { name: new Secret("another") }));
  expect(error.message).toContain('began to create "[secret]"');
  expect(error.message).toContain("its name was secret");
  expect((await errorOf(create(world.nextRun(), "", secret))).message).toContain(
    "instance i-1 of that name exists",
  );
  expect(posts(world)).toBe(1);
});

test("an instance that was accepted just now does not count as gone if no listing shows it yet (G3)", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const item = world.service.instances.get(id);
  world.service.instances.delete(id);
  void world.clock.sleep(40_000).then(() => item && world.service.has(id, item));
  expect((await create(world, generated(2))).id).toBe(id);
  expect(posts(world)).toBe(1);
});
