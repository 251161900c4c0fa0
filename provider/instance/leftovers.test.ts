/** Tests of leftovers: instances that earlier creates may have left. They are named before a POST, and never adopted. */
import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { ledgerFolder } from "../ledger/folder";
import { maxMessageLength } from "../rpc/engineLog";
import { ready } from "../testing/fakeService";
import {
  errorOf,
  inputsOf,
  scene,
  scopeId,
  testToken,
  urnOf,
  type Scene,
  held,
  stamped,
} from "../testing/scene";
import { temporaryFolder } from "../testing/temporaryFolder";
import { createInstance } from "./create";
import { diffInstance } from "./diff";
import { heldBy, Instance } from "./instance";
import { generatedName, tagOf } from "./naming";
import { readInstance } from "./read";

const urn = urnOf("web");
const tag = tagOf(urn, scopeId);
const generated = () => generatedName(urn, scopeId, new Uint8Array());

function create({ session, service }: Scene, name = generated(), resourceUrn = urn) {
  service.posts.push(ready);
  const inputs = inputsOf({ name, ...(name.includes(tag) && { __generated: name }) });
  const request = { urn: resourceUrn, inputs, timeoutSeconds: 0, preview: false };
  return createInstance(session, request);
}

const posts = ({ service }: Scene) => service.count("create");

test("without the ledger of the first run, an instance with the resource's tag is named, with its import command", async () => {
  const world = scene();
  world.service.has("i-lost", { name: generated() });
  const { id } = await create(world);
  expect(id).not.toBe("i-lost");
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("`pulumi import compute:index:Instance '<name>' i-lost`"),
  ]);
});

test("an instance with the same explicit name is named, but not one with another name or another resource's tag", async () => {
  const world = scene();
  world.service.has("i-same", { name: "WEB" });
  world.service.has("i-other", { name: "web-2" });
  world.service.has("i-tag", { name: generatedName(urnOf("db"), scopeId, new Uint8Array()) });
  await create(world, "web");
  expect(world.messages.warnings).toEqual([expect.stringContaining("i-same")]);
  expect(world.messages.warnings[0]).not.toMatch(/i-other|i-tag/);
});

test("an error about many leftovers names the first ones, and keeps its ways out", async () => {
  const world = scene({ leftovers: "fail" });
  for (let n = 0; n < 60; n++) world.service.has(`i-${n}`, { name: "web" });
  const { message: shown } = await errorOf(create(world, "web"));
  expect(shown.length).toBeLessThan(maxMessageLength);
  expect(shown).toContain("  - i-4: it has the same name\n  - and 55 more\n");
  expect(shown).toContain("take it over with `pulumi import compute:index:Instance web '<id>'`");
  expect(shown).toContain(
    "to create a new instance anyway: `pulumi config set compute:leftovers warn`",
  );
});

test.each([
  ["delivered", { leftovers: "warn" }, "a run on this machine created it for"],
  ["delivered", { leftovers: "fail" }, "a run on this machine created it for"],
  ["pending", { leftovers: "warn" }, "a pending create of"],
  ["pending", { leftovers: "fail" }, "a pending create of"],
] as const)(
  "if a create of another stack is %s and has the same name, a create with %j names that stack, and an import only if it is not sure",
  async (stage, args, words) => {
    const first = scene(args);
    const prod = urn.replace(":dev:", ":prod:");
    await create(first, "web", prod);
    const [record] = first.session.ledger.read().map((entry) => entry.record);
    if (stage === "delivered") first.session.ledger.markDelivered();
    else first.session.ledger.move(record?.key ?? "", { stage: "sending", id: undefined });
    const world = first.nextRun(args, { scope: "another-scope" });
    const created = create(world, "web");

    const told =
      args.leftovers === "fail"
        ? (await errorOf(created)).message
        : (await created, world.messages.warnings.join("\n"));

    expect(told).toContain(`it has the same name, and ${words} ${prod}`);
    expect(told).toContain("`pulumi up` with stack prod of project proj selected");
    expect(told.includes("pulumi import")).toBe(stage === "pending");
  },
);

test("resources whose creates share a listing share one warning, and no leftover is named twice", async () => {
  const world = scene();
  for (const name of ["a", "b"]) world.service.has(`i-${name}`, { name });
  await Promise.all(["a", "b"].map((name) => create(world, name, urnOf(name))));
  expect(world.messages.warnings).toEqual([expect.stringMatching(/i-a.*i-b/s)]);
  world.service.instances.delete("i-1");
  world.service.instances.delete("i-2");
  await create(world, "a", urnOf("c"));
  expect(world.messages.warnings).toHaveLength(1);
});

test("with a test token, leftovers cause an info message instead of a warning", async () => {
  const world = scene({ apiToken: testToken });
  world.service.has("i-lost", { name: "web" });
  await create(world, "web");
  expect(world.messages.warnings).toEqual([]);
  expect(world.messages.all).toContainEqual(expect.stringMatching(/^info .*i-lost/s));
});

test("an instance is no leftover if a state holds it, this run created it, or another resource's record has it", async () => {
  const world = scene();
  for (const [id, outputs] of [
    ["i-held", { __run: "an-earlier-one" }],
    ["i-get", {}],
  ] as const) {
    world.service.has(id, { name: "web" });
    world.session.observe(held(inputsOf(outputs), { id }));
  }
  await create(world, "web");
  await create(world, "web", urnOf("second"));
  // Without a stamp (`__run`), a call does not prove that a state holds the instance.
  expect(world.messages.warnings).toEqual([expect.stringContaining("i-get")]);
  expect(world.messages.warnings[0]).not.toContain("i-held");
});

test("with compute:leftovers fail, no POST is sent, and the message says which actions need `warn`", async () => {
  const world = scene({ leftovers: "fail" });
  world.service.has("i-lost", { name: generated() });
  const { message } = await errorOf(create(world));
  expect(posts(world)).toBe(0);
  expect(message).toContain("pulumi import compute:index:Instance web i-lost");
  expect(message).toMatch(/--replace.*taint.*replacementTrigger.*replaceWith/);
  expect(message).toContain("compute:leftovers warn");
});

test.each<[string, "this machine" | "another machine", string]>([
  ["has the old name of another one, which an alias renamed", "this machine", generated()],
  ["has the old name of another one, which an alias renamed", "another machine", generated()],
  ["shares its explicit name with another one", "this machine", "shared"],
  ["shares its explicit name with another one", "another machine", "shared"],
])(
  "with compute:leftovers fail, a new resource that %s, whose instance was made on %s, is created in the `pulumi up --refresh` that its error names",
  async (_, machine, name) => {
    const args = { leftovers: "fail", deletePolicy: "retain" };
    const maker = scene(args);
    // An alias does not change the URN in the ledger.
    const { id, outputs } = await create(maker, name, name === "shared" ? urnOf("first") : urn);
    maker.session.ledger.markDelivered();
    const emptied = { ...maker, home: temporaryFolder() };
    const next = machine === "this machine" ? maker.nextRun() : scene(args, emptied);
    next.session.state.registered.add(urn);
    const before = posts(next);
    const { message } = await errorOf(create(next, name));
    expect(message).toContain("if the stack has it otherwise: `pulumi up --refresh`");
    expect(posts(next)).toBe(before);

    // The engine reads what the state holds, also in a run that does nothing else, and then asks for the create.
    const refresh = async ({ session }: Scene) => {
      const state = stamped(outputs, "an-earlier-one");
      session.observe(held(state, { id, urn: urnOf("first") }));
      const of = { urn: urnOf("first"), id, inputs: inputsOf({ name }), outputs: state };
      await readInstance(session, { ...of, timeoutSeconds: 0 });
    };
    const again = next.nextRun();
    await refresh(again);
    again.session.state.registered.add(urn);
    expect((await create(again, name)).id).not.toBe(id);
    expect(posts(again)).toBe(before + 1);
  },
);

test("an incomplete listing causes one message with `warn`, and an error with `fail`", async () => {
  const world = scene();
  world.service.unreadable = 1;
  await create(world, "a", urnOf("a"));
  await create(world, "b", urnOf("b"));
  const notices = world.messages.all.filter((line) =>
    line.includes("leftovers of earlier creates may be missing"),
  );
  expect(notices).toHaveLength(1);
  const strict = scene({ leftovers: "fail" });
  strict.service.unreadable = 1;
  expect((await errorOf(create(strict))).message).toContain(
    "leftovers of earlier creates may be missing",
  );
  expect(posts(strict)).toBe(0);
});

test("if `--replace` follows a run that ended normally, the instance of that run is named (policy retain)", async () => {
  const world = scene({ deletePolicy: "retain" });
  const { id } = await create(world, "web");
  world.session.ledger.markDelivered();
  const next = world.nextRun();
  expect((await create(next, "other")).id).not.toBe(id);
  expect(next.messages.warnings).toEqual([
    expect.stringContaining(`${id} (for ${urn}): an earlier run`),
  ]);
});

test("a create for `--replace` fails before the POST if the Delete of the old instance would fail", async () => {
  const world = scene({ deletePolicy: "fail" });
  const { id } = await create(world, "web");
  world.session.ledger.markDelivered();
  const next = world.nextRun();
  const { message } = await errorOf(create(next, "web"));
  expect(message).toContain(
    `instance ${id}, which an earlier run created for this resource, still exists`,
  );
  expect(message).toMatch(/deletePolicy retain.*discard/s);
  expect(posts(next)).toBe(1);
  // Both ways out in the message work: forget the record, or remove the instance at the service.
  const again = next.nextRun();
  again.session.ledger.settle(again.session.ledger.read()[0]?.record.key ?? "", "discarded");
  await create(again, "web");
  expect(posts(again)).toBe(2);
});

test("a new resource with the old name of a renamed one is created beside the renamed one's instance, whatever the policy", async () => {
  const world = scene({ deletePolicy: "fail" });
  const { id, outputs } = await create(world, "web");
  world.session.ledger.markDelivered();
  const next = world.nextRun();
  const { session } = next;
  // The resource has another name now, and an alias.
  const inputs = inputsOf();
  const renamed = { urn: urnOf("api"), id, oldInputs: inputs, oldOutputs: outputs, news: inputs };
  session.observe(heldBy(renamed));
  session.state.checkedSinceRead.add(renamed.urn);
  await diffInstance(session, renamed);
  expect((await create(next, "web")).id).not.toBe(id);
  expect(posts(next)).toBe(2);
});

describe("a create whose Delete would fail, after an earlier run's instance", () => {
  /** The next run, for which the earlier instance is no longer listed. */
  async function afterRemoval(secondsLater = 20) {
    const world = scene({ deletePolicy: "fail", settlingSeconds: 10 });
    const { id } = await create(world, "web");
    world.session.ledger.markDelivered();
    const next = world.nextRun();
    const item = next.service.instances.get(id);
    next.service.instances.delete(id);
    await next.clock.sleep(secondsLater * 1000);
    return { next, id, show: () => next.service.has(id, item) };
  }

  test("goes on if the instance is proven gone by two listings after the settling time (G3)", async () => {
    const { next, id } = await afterRemoval(0);
    const listed = next.service.count("list");
    await create(next, "web");
    expect(posts(next)).toBe(2);
    // The baseline, one that is too early to prove anything, and two that prove it.
    expect(next.service.count("list") - listed).toBeGreaterThanOrEqual(4);
    const records = next.session.ledger.read().map(({ record }) => record);
    expect(records.find((record) => record.id === id)).toMatchObject({ settled: "gone" });
  });

  test("is refused if only the baseline lacked it", async () => {
    const { next, id, show } = await afterRemoval();
    next.service.listFaults.push(undefined, () => void show());
    const { message } = await errorOf(create(next, "web"));
    expect(message).toContain(
      `instance ${id}, which an earlier run created for this resource, still`,
    );
    expect(posts(next)).toBe(1);
  });

  test("is refused for a year, although later runs clear the ledger of what is over", async () => {
    const first = scene({ deletePolicy: "fail" });
    const { id, outputs } = await create(first, "web");
    first.session.ledger.markDelivered();
    const refresh = first.nextRun();
    const { origin, stamp } = new Instance({ urn, id, inputs: inputsOf({}), outputs });
    refresh.session.observe({ id, urn, origin, stamp });
    const folder = ledgerFolder(refresh.ctx.env);
    const date = refresh.clock.date();
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), date, date);
    refresh.clock.setWallClock(new Date(date.getTime() + 300 * 24 * 60 * 60 * 1000));
    const later = refresh.nextRun();
    await create(later, "other", urnOf("other"));
    const { message } = await errorOf(create(later.nextRun(), "web"));
    expect(message).toContain(
      `instance ${id}, which an earlier run created for this resource, still`,
    );
    expect(posts(later)).toBe(2);
  });

  test("is refused after an upgrade of the plugin or with another provider, once a run has seen the instance in the state", async () => {
    const first = scene({ deletePolicy: "fail" });
    const { id, outputs } = await create(first, "web");
    first.session.ledger.markDelivered();
    const upgraded = first.nextRun(undefined, { scope: "after-the-upgrade" });
    const { origin, stamp } = new Instance({ urn, id, inputs: inputsOf({}), outputs });
    upgraded.session.observe({ id, urn, origin, stamp });
    const replacing = upgraded.nextRun();
    const { message } = await errorOf(create(replacing, "web"));
    expect(message).toContain(
      `instance ${id}, which an earlier run created for this resource, still`,
    );
    expect(posts(replacing)).toBe(1);
  });

  test("is refused if the listings are not complete, and says so", async () => {
    const { next, id } = await afterRemoval();
    next.service.unreadable = 1;
    const { message } = await errorOf(create(next, "web"));
    expect(message).toContain(
      `whether instance ${id}, which an earlier run created for this resource, still exists is not known`,
    );
    expect(message).toContain("the service's listing is not complete");
    expect(posts(next)).toBe(1);
  });

  test("goes on if the ledger can't note that the instance is gone", async () => {
    const { next } = await afterRemoval();
    jest.spyOn(next.session.ledger, "settle").mockReturnValue(false);
    await create(next, "web");
    expect(posts(next)).toBe(2);
  });
});

test("an instance that a Delete reported as dropped is not named again", async () => {
  const world = scene({ deletePolicy: "retain" });
  const { id } = await create(world);
  world.session.ledger.markDelivered();
  const next = world.nextRun();
  // The engine's Delete call names the instance with its stamp before the provider drops it.
  next.session.ledger.settleId(next.session.settings, id, "state");
  next.session.ledger.settleId(next.session.settings, id, "dropped");
  await create(next.nextRun());
  expect(next.messages.warnings).toEqual([]);
});
