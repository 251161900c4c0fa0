/** Tests of what a run does with the record of an earlier run that died during a create (G1). */
import { describe, expect, test } from "@jest/globals";
import { Secret } from "../propertyValue";
import { answered, fail, failed, post, ready } from "../testing/fakeService";
import { errorOf, inputsOf, scene, testToken, urnOf, type Scene, held } from "../testing/scene";
import { isPending } from "../ledger/record";
import type { ReadResponse } from "../requests";
import { createInstance } from "./create";
import { Instance } from "./instance";
import { reportPendingCreates } from "./pendingCreates";
import { readInstance } from "./read";

const urn = urnOf("web");
const generated = (n: number) => `web-aaaaaaa${n + 1}`;
const isGenerated = (name: string) => name.startsWith("web-aaaaaaa");

type Inputs = Parameters<typeof inputsOf>[0];

function create({ session }: Scene, name: string, more: Inputs = {}, resourceUrn = urn) {
  const inputs = inputsOf({ name, ...(isGenerated(name) && { __generated: name }), ...more });
  const request = { urn: resourceUrn, inputs, timeoutSeconds: 0, preview: false };
  return createInstance(session, request);
}

const posts = ({ service }: Scene) => service.count("create");
const records = ({ session }: Scene) => session.ledger.read().map(({ record }) => record);
const pendingRecords = (world: Scene) => records(world).filter(isPending);

/** Checks that a create with the name `generated(2)` sends no POST, and fails with all these words. */
async function expectStopped(world: Scene, words: string[], more: Inputs = {}): Promise<void> {
  const before = posts(world);
  const { message } = await errorOf(create(world, generated(2), more));
  for (const word of words) expect(message).toContain(word);
  expect(posts(world)).toBe(before);
}

/** A run whose create waits for its instance, which exists. */
async function underWay(name = generated(1), world = scene(), more: Inputs = {}): Promise<Scene> {
  world.service.posts.push(ready);
  const waits = Promise.withResolvers<void>();
  world.session.poller.waitWhileProvisioning = () => {
    waits.resolve();
    return new Promise(() => undefined);
  };
  void create(world, name, more).catch(() => undefined);
  await waits.promise;
  return world;
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
async function diedAfterAnswer(name = generated(1), world = scene(), more: Inputs = {}) {
  const dead = await underWay(name, world, more);
  return { world: dead.nextRun(), id: records(dead)[0]?.id ?? "" };
}

test("the instance of a recorded id is taken over, with a warning, without a POST, and with what only the 202 showed", async () => {
  const { world, id } = await diedAfterAnswer();
  const { outputs, ...reply } = await create(world, generated(2));
  expect(reply.id).toBe(id);
  expect(outputs).toMatchObject({
    status: "ACTIVE",
    privateIpv4: "10.0.0.5",
    createdAt: expect.any(String),
  });
  expect(outputs["networks"]).toEqual([expect.objectContaining({ ipv4: "10.0.0.5" })]);
  expect(posts(world)).toBe(1);
  expect(world.messages.warnings).toEqual([expect.stringContaining(`${id} ("${generated(1)}")`)]);
});

test("the preview of a create names the earlier create that the `up` looks for, and sends nothing", async () => {
  const { world, id } = await diedAfterAnswer();
  const preview = (resource: string, run = world) =>
    createInstance(run.session, {
      urn: urnOf(resource),
      inputs: inputsOf({ name: generated(2) }),
      timeoutSeconds: 0,
      preview: true,
    });
  const listings = world.service.count("list");
  await preview("db");
  expect(world.messages.all).toEqual([]);
  await preview("web");
  expect(world.messages.all).toEqual([
    expect.stringContaining(`an earlier create for ${urn} (${id}, `),
  ]);
  expect(world.service.count("list")).toBe(listings);

  const resumed = world.nextRun();
  await create(resumed, generated(2));
  const next = resumed.nextRun();
  await preview("web", next);
  expect(next.messages.all).toEqual([]);
});

test("if the instance is proven gone, its record is settled, and the create sends a POST", async () => {
  const { world, id } = await diedAfterAnswer();
  world.service.instances.delete(id);
  world.service.posts.push(ready);
  expect((await create(world, generated(2))).id).not.toBe(id);
  expect(posts(world)).toBe(2);
});

test("if it is not known whether the instance exists, the create stops, and its error names the commands that help", async () => {
  const { world, id } = await diedAfterAnswer();
  world.service.instances.delete(id);
  world.service.unreadable = 1;
  const importCommand = `pulumi import compute:index:Instance web ${id}`;
  await expectStopped(world, [`Whether ${id} exists is not known`, importCommand, "discard"]);
});

test("if the program now asks for a different instance, the create fails and says so", async () => {
  const { world, id } = await diedAfterAnswer();
  const reason = `Its instance ${id} exists, but the program now asks for a different one`;
  await expectStopped(world, [reason, "undo the change", "discard"], { flavorId: "flavor-2" });
  const { message } = await errorOf(create(world, generated(2), { flavorId: "flavor-2" }));
  // An import would record the new flavor for the old server.
  expect(message).not.toContain("pulumi import");
  const rotated = world.nextRun({ apiToken: new Secret("sk_live_another1") });
  await expectStopped(rotated, ["the token has changed since", "pulumi import"]);
  // With the change undone, and the token that the create had, the instance is taken over.
  expect((await create(rotated.nextRun({}), generated(2))).id).toBe(id);
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

describe("under another name of the stack, but with the same provider resource, as after `stack rename` or `state move`,", () => {
  const prod = urn.replace(":dev:", ":prod:");

  test("a pending create stops the create. After a rename, the printed import takes its instance over", async () => {
    const { world, id } = await diedAfterAnswer();
    const { message } = await errorOf(create(world, generated(2), {}, prod));
    expect(message).toContain("a run of stack dev began to create");
    const command = `pulumi import compute:index:Instance web ${id}`;
    expect(message).toContain(
      `take the instance over with \`${command}\` with stack prod selected`,
    );
    const imported = await importAs(world, id, prod);
    const next = world.nextRun();
    next.session.observe(new Instance({ urn: prod, ...(imported as ReadResponse) }));
    expect(records(next)).toMatchObject([{ stage: "settled", settled: "state", urn: prod }]);
    expect(posts(next)).toBe(1);
  });

  test("a pending create stops the create. If that stack exists, an `up` there goes on, and then this one creates its own instance", async () => {
    const { world, id } = await diedAfterAnswer();
    const { message } = await errorOf(create(world, generated(2), {}, prod));
    expect(message).toContain("`pulumi up` with stack dev of project proj selected");
    const dev = world.nextRun();
    expect((await create(dev, generated(3))).id).toBe(id);
    dev.session.ledger.markDelivered();
    const again = dev.nextRun();
    again.service.posts.push(ready);
    expect((await create(again, generated(4), {}, prod)).id).not.toBe(id);
    // The tag in the name is the same in both stacks.
    expect(again.messages.warnings).toEqual([
      expect.stringMatching(
        new RegExp(
          `${id} .*: .* created it for ${urn}; \`pulumi up\` with stack dev .* If it is not that stack's: \`pulumi import `,
        ),
      ),
    ]);
  });

  test("with leftovers fail, what that stack's run delivered stops the create, and after another `up` there, as printed, it goes on", async () => {
    const strict = scene({ leftovers: "fail" });
    strict.service.posts.push(ready);
    const { id, outputs } = await create(strict, generated(1));
    strict.session.ledger.markDelivered();
    const stopped = strict.nextRun();
    const { message } = await errorOf(create(stopped, generated(2), {}, prod));
    expect(message).toMatch(
      new RegExp(
        `if ${id} is the other stack's: \`pulumi up\` with stack dev .*Then run this again`,
      ),
    );
    const dev = stopped.nextRun();
    dev.session.observe(new Instance({ urn, id, inputs: inputsOf(), outputs }));
    const again = dev.nextRun();
    again.service.posts.push(ready);
    expect((await create(again, generated(3), {}, prod)).id).not.toBe(id);
    expect(posts(again)).toBe(2);
  });

  test("the end of a run names a pending create with both ways, and `fail` does not stop another resource for it", async () => {
    const { world } = await diedAfterAnswer(generated(1), scene({ leftovers: "fail" }));
    world.service.posts.push(ready);
    const db = prod.replace("::web", "::db");
    world.session.state.registered.add(db);
    await create(world, "db", {}, db);
    reportPendingCreates(world.session);
    const [warning = ""] = world.messages.warnings;
    expect(warning).toContain("`pulumi up` with stack dev of project proj selected");
    expect(warning).toMatch(/if that stack was renamed to this one: take it over: .* stack prod/);
  });

  test("neither a create that is under way nor one that has ended at the same time stops the create", async () => {
    const dev = await underWay();
    dev.session.state.registered.add(urn);
    const other = dev.beside();
    other.service.posts.push(ready);
    await createRegistered(other, generated(2), prod);
    expect(posts(other)).toBe(2);
    dev.session.ledger.markDelivered();
    other.session.ledger.markDelivered();
    expect(records(other).filter(({ contested }) => contested)).toEqual([]);
  });
});

/** Registers the resource, as Check does, and creates it. */
function createRegistered(world: Scene, name: string, resourceUrn: string) {
  world.session.state.registered.add(resourceUrn);
  return create(world, name, {}, resourceUrn);
}

/** Imports the instance as this resource, as the engine does. */
async function importAs({ session }: Scene, id: string, resourceUrn: string) {
  const of = { urn: resourceUrn, id, inputs: undefined, outputs: undefined, timeoutSeconds: 0 };
  const imported = await readInstance(session, of);
  session.ledger.markDelivered();
  return imported;
}

test("after a rename of the resource, the pending create is named before the POST, with the import that suits the new name", async () => {
  const { world, id } = await diedAfterAnswer();
  const before = [...world.messages.warnings];
  world.service.posts.push((body, signals, service) => {
    before.push(...world.messages.warnings);
    return ready(body, signals, service);
  });
  await createRegistered(world, generated(2), urnOf("renamed"));
  expect(before).toHaveLength(1);
  expect(before[0]).toContain(`an alias does not carry a pending create over`);
  expect(before[0]).toContain(`pulumi import compute:index:Instance renamed ${id}`);
  world.session.ledger.markDelivered();
  reportPendingCreates(world.session);
  expect(world.messages.warnings).toHaveLength(1);
});

test("with compute:leftovers fail, a pending create that the program does not register stops the create (G2)", async () => {
  const { world, id } = await diedAfterAnswer("web");
  const strict = world.nextRun({ leftovers: "fail" });
  const { message } = await errorOf(createRegistered(strict, "web", urnOf("renamed")));
  expect(message).toContain(`pulumi import compute:index:Instance renamed ${id}`);
  expect(message).toContain("discard");
  expect(posts(strict)).toBe(1);
  // The program has both resources, and resumes the pending create with the other one.
  const both = world.nextRun({ leftovers: "fail" });
  both.session.state.registered.add(urn);
  both.service.posts.push(ready);
  await createRegistered(both, "other", urnOf("second"));
  expect(posts(both)).toBe(2);
});

test("with compute:leftovers fail, a pending create of a resource that depends on this one stops the create, until the printed import and a refresh in the same run", async () => {
  const args = { leftovers: "fail" };
  const { world, id } = await diedAfterAnswer(generated(1), scene(args));
  const { message } = await errorOf(createRegistered(world, "first", urnOf("first")));
  const printed = `\`pulumi import compute:index:Instance web ${id}\` with stack dev selected, then \`pulumi up --refresh\``;
  const [firstWay] = message.split("Ways out:\n  - ").slice(1);
  expect(firstWay).toMatch(/^if the program still has that resource: take its instance over with /);
  expect(firstWay).toContain(printed);
  expect(message).toContain(
    `state delete ${urn} --force\` or \`pulumi state delete ${urnOf("first")}`,
  );

  const importing = world.nextRun();
  const { inputs = inputsOf(), outputs = inputsOf() } = (await importAs(importing, id, urn)) ?? {};
  // Without a refresh, nothing tells the next run what the state holds.
  const plain = importing.nextRun();
  await errorOf(createRegistered(plain, "first", urnOf("first")));
  expect(posts(plain)).toBe(1);
  const up = plain.nextRun();
  up.session.observe(held(outputs, { id, urn }));
  await readInstance(up.session, { urn, id, timeoutSeconds: 0, inputs, outputs });
  up.service.posts.push(ready);
  expect((await createRegistered(up, "first", urnOf("first"))).id).not.toBe(id);
  expect(posts(up)).toBe(2);
});

describe("a pending create of the resource with another token kind", () => {
  const begin = () => diedAfterAnswer(generated(1), scene({ apiToken: new Secret(testToken) }));
  const live = {};
  const its = "the settings of that create (https://api.example.com/v2, a test token)";
  const differs = "with a test token, and this run has a live one";

  test("is named with the way to its instance, which begins with its settings and works", async () => {
    const { world, id } = await begin();
    const other = world.nextRun(live);
    other.service.posts.push(ready);
    await createRegistered(other, generated(2), urn);
    expect(other.messages.warnings).toEqual([expect.stringContaining(differs)]);
    const [warning = ""] = other.messages.warnings;
    expect(warning).toMatch(
      /Ways out:\n {2}- if you want the earlier instance instead: first configure /,
    );
    expect(warning.indexOf(its)).toBeLessThan(warning.indexOf("pulumi state delete"));
    expect(warning).not.toContain("pulumi import");
    other.session.ledger.markDelivered();

    // After `pulumi state delete`, the engine asks for a create.
    const back = other.nextRun({ apiToken: new Secret(testToken) });
    expect((await createRegistered(back, generated(3), urn)).id).toBe(id);
  });

  test("stops the create with compute:leftovers fail, and nothing is to be imported or deleted from the state", async () => {
    const { world, id } = await begin();
    const strict = world.nextRun({ leftovers: "fail" });
    const { message } = await errorOf(createRegistered(strict, generated(2), urn));
    expect(message).toContain(differs);
    expect(message).toContain(`Ways out:\n  - run again with ${its}`);
    expect(message).not.toMatch(/pulumi import|state delete/);
    const back = strict.nextRun({ leftovers: "fail", apiToken: new Secret(testToken) });
    expect((await createRegistered(back, generated(3), urn)).id).toBe(id);
  });

  test("is named at the end of a run with the settings that its resource's next create needs", async () => {
    const { world, id } = await begin();
    const other = world.nextRun(live);
    other.session.state.registered.add(urn);
    other.session.creates.haveBegun = true;
    reportPendingCreates(other.session);
    expect(other.messages.warnings).toEqual([
      expect.stringContaining(`the next create of that resource with ${its} searches for it`),
    ]);
    expect(other.messages.warnings[0]).toContain(
      `take it over, once a \`pulumi up\` has recorded ${its}: `,
    );
    const back = other.nextRun({ apiToken: new Secret(testToken) });
    expect((await createRegistered(back, generated(3), urn)).id).toBe(id);
  });
});

test("with compute:leftovers fail, a pending create at another address names that address, and the import that works if the service has only moved", async () => {
  const { world, id } = await diedAfterAnswer();
  const args = { leftovers: "fail", baseUrl: "https://b.example/v2" };
  const moved = world.nextRun(args);
  const { message } = await errorOf(createRegistered(moved, generated(2), urn));
  expect(message).toContain(
    "at https://api.example.com/v2, and this run uses https://b.example/v2",
  );
  const [settings, importing] = message.split("Ways out:\n").at(-1)?.split("\n") ?? [];
  expect(settings).toMatch(/^ {2}- run again with .*https:\/\/api\.example\.com\/v2, a live token/);
  expect(importing).toMatch(/both addresses are of one service.*discard/);
  expect(importing).toContain(`\`pulumi import compute:index:Instance web ${id}\``);

  const again = moved.nextRun(args);
  await importAs(again, id, urn);
  again.session.ledger.settle(records(again)[0]?.key ?? "", "discarded");
  const next = again.nextRun(args);
  next.service.posts.push(ready);
  await createRegistered(next, "other", urnOf("second"));
  expect(posts(next)).toBe(2);
});

test("after a rename of the resource and a change of the address, the import that is printed works with the settings that are named", async () => {
  const { world, id } = await diedAfterAnswer();
  const moved = world.nextRun({ baseUrl: "https://b.example/v2" });
  moved.service.posts.push(ready);
  await createRegistered(moved, generated(2), urnOf("renamed"));
  const [warning = ""] = moved.messages.warnings;
  expect(warning).toContain(`at https://api.example.com/v2 with a live token for ${urn}`);
  expect(warning).toMatch(
    new RegExp(
      `too: configure the settings of that create \\(https://api.example.com/v2, a live token\\), run \`pulumi up\`, and then \`pulumi import compute:index:Instance '<name>' ${id}\``,
    ),
  );
  const back = moved.nextRun({});
  expect(await importAs(back, id, urnOf("another"))).toMatchObject({ id });
});

test("other pending creates of the project are named once, at the end of the run", async () => {
  const { world, id } = await diedAfterAnswer();
  world.service.posts.push(ready);
  await createRegistered(world, "other", urnOf("second"));
  expect(world.messages.warnings).toEqual([]);
  for (let n = 0; n < 2; n++) reportPendingCreates(world.session);
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(
      new RegExp(
        `not registered that resource.*pulumi import compute:index:Instance web ${id}`,
        "s",
      ),
    ),
  ]);
});

test("a create is not named as pending if the disk was full after its first line, and the state holds its instance", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  const [record] = pendingRecords(world);
  world.service.posts.push(ready);
  await createRegistered(world, "other", urnOf("second"));
  world.session.observe(held(inputsOf({ __run: record?.session ?? "" }), { id: "i-1", urn }));
  reportPendingCreates(world.session);
  expect(world.messages.warnings).toEqual([]);
});

test("a pending create whose instance this run sees in the state is not named", async () => {
  const { world, id } = await diedAfterAnswer();
  world.service.posts.push(ready);
  await createRegistered(world, "other", urnOf("second"));
  world.session.observe(held(inputsOf({ __run: "an-earlier-one" }), { id }));
  reportPendingCreates(world.session);
  expect(world.messages.warnings).toEqual([]);
});

test("a run with another provider resource never resumes the create, but stops and names both commands", async () => {
  const { world, id } = await diedAfterAnswer();
  const other = world.nextRun({}, { scope: "upgraded" });
  const importCommand = `pulumi import compute:index:Instance web ${id}`;
  await expectStopped(other, [
    "That create had another provider resource",
    importCommand,
    "discard",
  ]);
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
  await expectStopped(world.nextRun(), [
    `Pulumi was told that its instance is ${id}`,
    "pulumi stack --show-ids",
    "discard",
    `before that import, if the state has another instance for the same resource: \`pulumi state delete ${urn} --force\``,
    "to keep that other instance",
  ]);
});

test("if another run of the stack was under way, the error names the import, and what comes before it if the state has another instance", async () => {
  const world = scene();
  world.service.posts.push(ready);
  const { id } = await create(world, generated(1));
  const [{ key = "" } = {}] = records(world);
  world.session.ledger.move(key, { stage: "delivered", contested: true });
  await expectStopped(world.nextRun(), [
    `if it does not show ${id}: take the instance over`,
    `before that import, if the state has another instance for the same resource: \`pulumi state delete ${urn} --force\``,
    `if you do not want ${id}`,
  ]);
});

test("after the clock was set back, a run that is over seems to have been under way, and the ways out hold", async () => {
  const first = scene();
  first.service.posts.push(ready, ready);
  const { id } = await create(first, generated(1));
  first.session.ledger.markDelivered();
  first.clock.setWallClock(new Date(first.clock.date().getTime() - 60 * 60 * 1000));
  const next = first.nextRun();
  await expectStopped(next, ["under way together with another run", `if it does not show ${id}`]);
  const [{ key = "" } = {}] = records(next);
  next.session.ledger.settle(key, "discarded");
  expect((await create(next.nextRun(), generated(2))).id).toBe("i-2");
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
  expect(message).toMatch(
    /^another run, which is still under way, creates .*Run again once that run has ended$/,
  );
  expect(posts(first)).toBe(1);
});

test("another tenant's listing never proves that the instance of a pending create is gone (G3)", async () => {
  for (const begin of [
    diedAfterAnswer,
    async () => ({ world: await diedAfterPost(generated(1), { acts: true }) }),
  ]) {
    const { world } = await begin();
    world.service.instances.clear();
    const other = world.nextRun({ apiToken: new Secret("sk_live_another1") });
    await expectStopped(other, ["another tenant's"]);
    expect(pendingRecords(other)).toHaveLength(1);
  }
});

test("if the name was generated, the next run resumes the only instance that an unanswered POST made", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  expect((await create(world, generated(2))).id).toBe("i-1");
  expect(posts(world)).toBe(1);
  expect(pendingRecords(world)).toMatchObject([{ id: "i-1", stage: "replied" }]);
});

test("an instance whose name the program chose is reported, and not taken over", async () => {
  const world = await diedAfterPost("web", { acts: true });
  const { message } = await errorOf(create(world, "web"));
  expect(message).toContain("i-1 of that name exists, but the provider did not generate the name");
  expect(posts(world)).toBe(1);
});

/** From now on, notes the clock time of each listing. */
function listingTimes({ service, clock }: Scene): number[] {
  const times: number[] = [];
  service.page = () => void times.push(clock.now());
  return times;
}

/** The clock time from which on a listing proves something, if the POST was sent at 0 and nobody knows when it ended. */
function endOfSettling({ session: { settings } }: Scene): number {
  return settings.settlingMs + settings.requestTimeoutMs;
}

test("if two complete listings after the settling time lack the instance, the create sends a POST", async () => {
  const world = await diedAfterPost("web", { acts: false });
  const times = listingTimes(world);
  let timesAtPost: number[] = [];
  world.service.posts.push((...request) => {
    timesAtPost = [...times];
    return ready(...request);
  });
  await create(world, "web");
  expect(posts(world)).toBe(2);
  // The wall clock went on by a millisecond between the runs.
  const end = endOfSettling(world) - 1;
  const { pollIntervalMs } = world.session.settings;
  expect(timesAtPost.filter((time) => time >= end)).toEqual([end, end + pollIntervalMs]);
});

test("the settling time of an ended POST counts from its end (G2)", async () => {
  const world = scene({ settlingSeconds: 2 });
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  await errorOf(create(world, "web"));
  const next = world.nextRun();
  next.service.posts.push(ready);
  const { calls } = next.service;
  const callsBefore = calls.length;
  expect((await create(next, "web", {}, urn)).id).toBe("i-1");
  // Two listings are enough, because the first run took longer than the settling time.
  expect(calls.slice(callsBefore)).toEqual(["account", "list", "list", "create web", "list"]);
});

test.each<[string, string, (world: Scene) => number]>([
  ["a much later run does not wait for the settling time", "2027-01-01T00:00:00Z", () => 0],
  [
    "a wall clock that was set back makes the wait no longer than the settling time",
    "2020-01-01T00:00:00Z",
    endOfSettling,
  ],
])("%s", async (_, date, endOf) => {
  const world = await diedAfterPost("web", { acts: false });
  world.clock.setWallClock(new Date(date));
  world.service.posts.push(post(answered(400), { acts: false }));
  const times = listingTimes(world);
  await errorOf(create(world, "web"));
  expect(posts(world)).toBe(2);
  const end = endOf(world);
  const { pollIntervalMs } = world.session.settings;
  expect(times.filter((time) => time >= end)).toEqual([end, end + pollIntervalMs]);
});

test("several possible instances stop the create", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  world.service.has("i-9", { name: generated(1) });
  await expectStopped(world, ["Several instances could be the one it created: i-1, i-9"]);
});

test("a listing that is not complete, or that fails, does not prove that there is no instance", async () => {
  const world = await diedAfterPost("web", { acts: false });
  world.service.unreadable = 1;
  await expectStopped(world, ["listing is not complete"]);
  world.service.unreadable = 0;
  world.service.listFaults.push(fail(answered(403, "GET")));
  await expectStopped(world.nextRun(), ["403"]);
  expect(pendingRecords(world)).toHaveLength(1);
});

test("a second instance of a resumed create is reported from the last listing (G2)", async () => {
  const world = await diedAfterPost(generated(1), { acts: true });
  world.service.set("i-1", { status: "PROVISIONING" });
  world.service.listFaults.push(undefined, () => {
    world.service.set("i-1", { status: "ACTIVE" });
    world.service.has("late", { name: generated(1) });
  });
  await create(world, generated(2));
  expect(world.messages.warnings.at(-1)).toContain("late");
});

// --- instances that a state already holds ---

test("after an import of its instance, real or previewed, a create is not resumed, and the next create stops", async () => {
  const { world, id } = await diedAfterAnswer();
  const read = { urn, id, inputs: undefined, outputs: undefined, timeoutSeconds: 0 };
  await readInstance(world.session, read);
  world.session.ledger.markDelivered();
  await expectStopped(world.nextRun(), [
    `Pulumi was told that its instance is ${id}`,
    "pulumi stack --show-ids",
    "discard",
  ]);
});

test("the record of a create with another account is not settled, and the error names that account for both ways to the instance", async () => {
  const world = scene();
  world.service.accountAnswer = async () => ({ id: "acct_other" });
  const { world: next, id } = await diedAfterAnswer(generated(1), world);
  next.service.accountAnswer = async () => ({ id: "acct_mine" });
  const its =
    "the settings of that create (https://api.example.com/v2, a live token of account acct_other)";
  await expectStopped(next, [
    `run again with ${its}`,
    "take the instance over, with these settings: `pulumi import",
    "discard",
  ]);
  next.service.accountAnswer = async () => ({ id: "acct_other" });
  expect((await create(next.nextRun(), generated(3))).id).toBe(id);
});

test("an instance that the engine has named for another resource is never adopted", async () => {
  const world = scene();
  world.session.observe(held(inputsOf(), { id: "i-7" }));
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
    "Instance i-1 of that name exists",
  );
  expect(posts(world)).toBe(1);
});

test("an instance that was accepted just now does not count as gone if no listing shows it yet (G3)", async () => {
  const { world, id } = await diedAfterAnswer();
  const item = world.service.instances.get(id);
  world.service.instances.delete(id);
  void world.clock.sleep(40_000).then(() => item && world.service.has(id, item));
  expect((await create(world, generated(2))).id).toBe(id);
  expect(posts(world)).toBe(1);
});
