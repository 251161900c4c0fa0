/** What a run that died left behind, and what the next one makes of it (G1). */
import { expect, test } from "@jest/globals";
import { Secret } from "../../property/value";
import { answered, fail, failed, post, ready } from "../../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../../testing/scene";
import { createInstance } from "./create";

const urn = urnOf("web");
const generated = (n: number) => `web-000000${n}`;

function create({ session }: Scene, name: string, more: Parameters<typeof inputsOf>[0] = {}) {
  const inputs = inputsOf({ name, ...more });
  return createInstance(session, {
    urn,
    inputs,
    timeoutSeconds: 0,
    preview: false,
  });
}

const posts = ({ service }: Scene) => service.count("create");
const open = ({ session }: Scene) => session.journal.entries();

/** A run that sent a POST and died: its journal and what it made are all that is left. */
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

/** A run that had its 202 noted, and died before the engine had it. */
async function diedAfterAnswer(name: string, world = scene()) {
  const { id } = world.service.accept({ name, flavor_id: "", image_id: "", vpc_id: "" });
  world.service.instances.delete(id);
  world.service.posts.push(ready);
  const created = await create(world, name);
  return { world: world.nextRun(), id: created.id };
}

test("the instance of a noted id is taken over, with a warning and without a POST", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  expect(await create(world, generated(2))).toMatchObject({ id, outputs: { status: "ACTIVE" } });
  expect(posts(world)).toBe(1);
  expect(world.messages.warnings).toEqual([expect.stringContaining(`${id} ("${generated(1)}")`)]);
});

test("what only the 202 showed of it is kept: networks and createdAt", async () => {
  const { world } = await diedAfterAnswer(generated(1));
  const { outputs } = await create(world, generated(2));
  expect(outputs["networks"]).toEqual([expect.objectContaining({ ipv4: "10.0.0.5" })]);
  expect(outputs).toMatchObject({ privateIpv4: "10.0.0.5", createdAt: expect.any(String) });
});

test("a service that writes names in lower case is not asked twice (G2)", async () => {
  const world = scene();
  world.service.posts.push((_body, _signals, service) => {
    service.has("i-lower", { name: "web01" });
    throw answered(502);
  });
  expect((await create(world, "Web01")).id).toBe("i-lower");
  expect(posts(world)).toBe(1);
});

test("one that is proven gone is forgotten, and made anew", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.service.instances.delete(id);
  world.service.posts.push(ready);
  expect((await create(world, generated(2))).id).not.toBe(id);
  expect(posts(world)).toBe(2);
});

test("one of which that can't be told stops the create, with the commands that help", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.service.instances.delete(id);
  world.service.unreadable = 1;
  const error = await errorOf(create(world, generated(2)));
  expect(error.message).toContain(`whether ${id} still exists can't be told`);
  expect(error.message).toContain(`pulumi import compute:index:Instance web ${id}`);
  expect(error.message).toContain("discard");
  expect(posts(world)).toBe(1);
});

test("a program that asks for another by now is told, and nothing is made", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const error = await errorOf(create(world, generated(2), { flavorId: "flavor-2" }));
  expect(error.message).toContain(`instance ${id} is there, but the program now asks for another`);
  expect(posts(world)).toBe(1);
});

test("keys in another order are the same order", async () => {
  const world = scene();
  world.service.posts.push(ready);
  const { id } = await create(world, generated(1), { sshKeys: ["a", "b"] });
  expect((await create(world.nextRun(), generated(2), { sshKeys: ["b", "a"] })).id).toBe(id);
});

test("after a rotated token nothing untrue is said of the program", async () => {
  const { world } = await diedAfterAnswer(generated(1));
  const rotated = world.nextRun({ apiToken: new Secret("sk_live_another1") });
  const error = await errorOf(create(rotated, generated(2)));
  expect(error.message).toContain("the token has changed since");
});

test("another tenant's listing never proves that an open create is gone (G3)", async () => {
  for (const begin of [
    () => diedAfterAnswer(generated(1)),
    async () => ({ world: await diedAfterPost(generated(1), { acts: true }) }),
  ]) {
    const { world } = await begin();
    world.service.instances.clear();
    const other = world.nextRun({ apiToken: new Secret("sk_live_another1") });
    const error = await errorOf(create(other, generated(2)));
    expect(error.message).toContain("another tenant's");
    expect(open(other)).toHaveLength(1);
    expect(posts(other)).toBe(1);
  }
});

test("the one instance that an unanswered POST made is taken over by the next run", async () => {
  for (const name of [generated(1), "explicit"]) {
    const world = await diedAfterPost(name, { acts: true });
    const { id } = await create(world, name === "explicit" ? name : generated(2));
    expect(id).toBe("i-1");
    expect(posts(world)).toBe(1);
  }
});

test("none in a complete listing, once the settling time is over: made anew", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.service.posts.push(ready);
  const began = world.clock.now();
  await create(world, "web");
  expect(posts(world)).toBe(2);
  expect(world.clock.now() - began).toBeGreaterThanOrEqual(59_000);
});

test("a run much later looks just once", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.clock.setWallClock(new Date("2027-01-01T00:00:00Z"));
  world.service.posts.push(post(answered(400), { acts: false }));
  const began = world.clock.now();
  await errorOf(create(world, "web"));
  expect(world.clock.now() - began).toBeLessThan(10_000);
});

test("a wall clock that went back makes the look no longer than the settling time", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.clock.setWallClock(new Date("2020-01-01T00:00:00Z"));
  world.service.posts.push(post(answered(400), { acts: false }));
  const began = world.clock.now();
  await errorOf(create(world, "web"));
  expect(world.clock.now() - began).toBeLessThan(70_000);
});

test("several that could be it stop the create", async () => {
  const world = await diedAfterPost("web", { acts: true });
  world.service.has("i-9", { name: "web" });
  const error = await errorOf(create(world, "web"));
  expect(error.message).toContain("several instances could be it: i-1, i-9");
  expect(posts(world)).toBe(1);
});

test("one that may be older than the POST stops the create", async () => {
  const before = scene();
  before.service.unreadable = 1;
  const world = await diedAfterPost("web", { acts: true }, before);
  const error = await errorOf(create(world, "web"));
  expect(error.message).toContain(
    "i-1 is there, but the listing before the create was not complete",
  );
});

test.each([
  ["web", 0],
  [generated(1), 1],
])("%s, for which another resource has an open create too: %i taken over", async (name, taken) => {
  const world = await diedAfterPost(name, { acts: true });
  const [own] = open(world);
  if (!own) throw new Error("no entry");
  world.session.journal.write({ ...own, urn: urnOf("rival") });
  if (taken) expect((await create(world, name)).id).toBe("i-1");
  else {
    const { message } = await errorOf(create(world, name));
    expect(message).toContain(`i-1 is there, but a create of the same name for ${urnOf("rival")}`);
  }
  expect(posts(world)).toBe(1);
});

test("a refused create that no listing shows is looked for once more, and then made anew (G2)", async () => {
  const world = scene();
  world.service.posts.push(post(answered(404), { acts: false }));
  await errorOf(create(world, "web"));
  const next = world.nextRun();
  next.service.unreadable = 1;
  next.service.posts.push(ready);
  const before = next.clock.now();
  expect((await create(next, "web")).id).toBe("i-1");
  expect(next.clock.now() - before).toBeLessThan(10_000);
  expect(posts(next)).toBe(2);
});

test("a listing that is not whole, or fails, is no proof", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.service.unreadable = 1;
  expect((await errorOf(create(world, "web"))).message).toContain("listing is not complete");
  world.service.unreadable = 0;
  world.service.listFaults.push(fail(answered(403, "GET")));
  expect((await errorOf(create(world.nextRun(), "web"))).message).toContain("403");
  expect(open(world)).toHaveLength(1);
  expect(posts(world)).toBe(1);
});

test("an extra instance of a create taken over is named by the last look (G2)", async () => {
  const world = await diedAfterPost("web", { acts: true });
  world.service.set("i-1", { status: "PROVISIONING" });
  world.service.listFaults.push(undefined, () => {
    world.service.set("i-1", { status: "ACTIVE" });
    world.service.has("late", { name: "web" });
  });
  await create(world, "web");
  expect(world.messages.warnings.at(-1)).toContain("late");
});

// --- what the state holds already ---

test("the next run that carries the id clears the note, under whatever URN (aliases)", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  world.session.state.carried(urnOf("renamed"), id, inputsOf());
  expect(open(world)).toEqual([]);
});

test("an import of the same resource does not clear it before the state holds it", async () => {
  const { world } = await diedAfterAnswer(generated(1));
  world.session.state.carried(urn, "another", inputsOf({ name: "another" }));
  expect(open(world)).toHaveLength(1);
});

test("a create without an answer is cleared by an id of its name, not by the instance it was to replace", async () => {
  const world = await diedAfterPost(generated(2), { acts: true });
  world.session.state.carried(urn, "old", inputsOf({ name: generated(1) }));
  expect(open(world)).toHaveLength(1);
  world.session.state.carried(urn, "i-1", inputsOf({ name: generated(2) }));
  expect(open(world)).toEqual([]);
});

test("an explicit name is no proof: the instance that had it before clears nothing", async () => {
  const before = scene();
  before.service.has("old", { name: "web" });
  const there = await diedAfterPost("web", { acts: true }, before);
  there.session.state.carried(urn, "old", inputsOf({ name: "web" }));
  expect(open(there)).toHaveLength(1);
});

test("after an orderly end a second create makes a second one, and names the first", async () => {
  // `--replace`, `state taint`, `state delete` and `retainOnDelete` carry no id of it.
  for (const [first, second] of [
    [generated(1), generated(2)],
    ["web", "web"],
  ] as const) {
    const before = scene();
    const { id } = await diedAfterAnswer(first, before);
    before.session.creates.noteAnswered();
    const world = before.nextRun();
    world.service.posts.push(ready);
    expect((await create(world, second)).id).not.toBe(id);
    expect(world.messages.warnings).toEqual([expect.stringContaining(`instance ${id}, which`)]);
    expect(world.messages.warnings[0]).toContain(
      `pulumi import compute:index:Instance '<name>' ${id}`,
    );
  }
});

test("an instance taken over has its id noted from then on", async () => {
  const world = await diedAfterPost("web", { acts: true });
  const { id } = await create(world, "web");
  expect(open(world)).toEqual([expect.objectContaining({ id })]);
});

test("an instance noted for another resource is never adopted", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  await errorOf(create(world, "web"));
  const other = { id: "i-other", urn: urnOf("other") };
  world.service.has(other.id, { name: "web" });
  const [entry] = open(world);
  if (!entry) throw new Error("nothing is open");
  world.session.journal.write({ ...entry, ...other });
  const next = world.nextRun();
  next.service.posts.push(ready);
  expect((await create(next, "web")).id).not.toBe(other.id);
});

test("a create begun with another account is not settled here, and both commands are named", async () => {
  const before = scene();
  await diedAfterAnswer(generated(1), before);
  const [entry] = open(before);
  if (!entry) throw new Error("nothing is open");
  before.session.journal.write({ ...entry, account: "acct_other" });
  const world = before.nextRun();
  world.service.accountAnswer = async () => ({ id: "acct_mine" });
  const error = await errorOf(create(world, generated(2)));
  expect(error.message).toContain("acct_other");
  expect(error.message).toContain("pulumi import");
  expect(error.message).toContain("discard");
  expect(posts(world)).toBe(1);
});

test("an instance that the state holds is never adopted for another resource", async () => {
  const world = scene();
  world.session.state.carried(urnOf("other"), "i-7", inputsOf());
  world.service.posts.push((_body, _signals, service) => {
    service.has("i-7", { name: "web" });
    throw failed("unanswered");
  });
  expect((await errorOf(create(world, "web"))).message).toContain("no instance named");
});

// --- names and listings that make it harder ---

test("a secret name is not noted in clear, and its instance is taken over all the same (G8)", async () => {
  const world = scene();
  const secret = { name: new Secret("canary-name") };
  world.service.posts.push((body, _signals, service) => {
    service.accept(body);
    service.listFaults.push(...Array.from({ length: 50 }, () => fail(answered(503, "GET"))));
    throw failed("unanswered");
  });
  await errorOf(create(world, "", secret));
  expect(JSON.stringify(open(world))).not.toContain("canary");
  world.service.listFaults.splice(0);
  world.service.set("i-1", { status: "ACTIVE" });

  const other = world.nextRun();
  const error = await errorOf(create(other, "", { name: new Secret("another") }));
  expect(error.message).toContain('began to create "[secret]"');
  expect(error.message).toContain("its name was secret");
  expect((await create(world.nextRun(), "", secret)).id).toBe("i-1");
  expect(posts(world)).toBe(1);
});

test("an instance accepted just now is not gone because no listing shows it yet (G3)", async () => {
  const { world, id } = await diedAfterAnswer(generated(1));
  const item = world.service.instances.get(id);
  world.service.instances.delete(id);
  void world.clock.sleep(40_000).then(() => item && world.service.has(id, item));
  expect((await create(world, generated(2))).id).toBe(id);
  expect(posts(world)).toBe(1);
});
