/** Tests of leftovers: instances that earlier creates may have left. They are named before a POST or stop it, and are never adopted. */
import { describe, expect, test } from "@jest/globals";
import {
  propertyMap,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import { ready } from "../testing/fakeService";
import {
  createOf,
  errorOf,
  linesAt100,
  held,
  postsTo,
  scene,
  scopeId,
  testToken,
  urnOf,
  type Scene,
} from "../testing/scene";
import { decideForRun, wordsForRun } from "../config/oneRun";
import { createInstance } from "../testing/calls";
import { briefly, askAbout } from "../instance/existence";
import { generatedName } from "../instance/naming";

const nameFor = (resource: string) => generatedName(urnOf(resource), scopeId, new Uint8Array());

type Args = Record<string, PropertyValue>;

function create({ session, service }: Scene, kind: "generated" | "explicit", preview = false) {
  if (!preview) service.posts.push(ready);
  const name = kind === "generated" ? nameFor("web") : "web";
  return createInstance(session, createOf({ name, isGenerated: kind === "generated", preview }));
}

/** Returns the next run, in which a Diff shows this instance, and `retain` is typed for its replacement. */
function replacing(before: Scene, { id, outputs }: { id: string; outputs: PropertyMap }): Scene {
  before.session.ledger.endInOrder();
  const next = before.nextRun({});
  const { engine, settings } = next.session;
  const instance = held(outputs, { id });
  Object.assign(settings, { deletePolicy: "retain", guardsLeftovers: true });
  engine.check({ urn: urnOf("web"), olds: instance.inputs });
  engine.diff({ urn: urnOf("web"), news: instance.inputs }, instance);
  next.session.noteShown(instance);
  return next;
}

const destroyed: Args = { destroyPath: "/v2/instances/{id}" };
const test_: Args = { apiToken: new Secret(testToken) };

describe("an instance that an earlier create may have left", () => {
  test.each<["generated" | "explicit", Args, "stops" | "is named" | "is an info line"]>([
    ["generated", {}, "stops"],
    ["generated", { leftovers: "warn" }, "is named"],
    ["generated", { deletePolicy: "retain" }, "is named"],
    ["generated", destroyed, "is named"],
    ["generated", test_, "is an info line"],
    // Nothing is billed, and `settle` leaves it alone.
    ["generated", { ...test_, deletePolicy: "fail" }, "is an info line"],
    ["generated", { ...test_, leftovers: "fail" }, "stops"],
    ["explicit", {}, "is named"],
    ["explicit", { leftovers: "fail" }, "stops"],
  ])("with a name that is %s and %j %s", async (kind, args, outcome) => {
    const world = scene(args);
    world.service.has("i-lost", { name: kind === "generated" ? nameFor("web") : "WEB" });
    if (outcome === "stops") {
      const { message } = await errorOf(create(world, kind));
      expect(message).toMatch(
        /^nothing was created: "web" may have an instance already, .*\(i-lost\)/,
      );
      const way =
        kind === "generated"
          ? "To settle it: `.*settle`"
          : "To take it over: `pulumi import compute:index:Instance web i-lost`, or remove .*";
      const second =
        "If .*it was let run on purpose\\)?: `COMPUTE_LEFTOVERS=warn pulumi up`, with the same options, .*";
      expect(message).toMatch(new RegExp(`\n${way}\n${second}\nMore: `));
      expect(message.includes("billed")).toBe(!("apiToken" in args));
      expect(linesAt100(message)).toBeLessThanOrEqual(6);
      expect(postsTo(world)).toBe(0);
      expect(world.session.ledger.all()).toEqual([]);
      return;
    }
    const { id } = await create(world, kind);
    expect(id).not.toBe("i-lost");
    const notice = outcome === "is named" ? "warning .*\\(i-lost\\)" : "info .*: 1 instance$";
    expect(world.messages.all).toEqual([expect.stringMatching(new RegExp(`^${notice}`, "s"))]);
  });

  test("stops the create also if COMPUTE_DELETE_POLICY lets another instance go", async () => {
    const world = scene();
    const words = wordsForRun({ COMPUTE_DELETE_POLICY: "retain" });
    const { settings } = decideForRun(world.session.settings, words);
    Object.assign(world.session.settings, settings);
    Object.assign(world.session.options.variables, { deletePolicy: "COMPUTE_DELETE_POLICY" });
    world.service.has("i-lost", { name: nameFor("web") });
    const { message } = await errorOf(create(world, "generated"));
    expect(message).toContain("(i-lost)");
    expect(message).toContain("`COMPUTE_DELETE_POLICY=retain COMPUTE_LEFTOVERS=warn pulumi up`");
    expect(postsTo(world)).toBe(0);
  });

  test("is asked about once: what a create let run is none for the next one that a Diff precedes, and falls out once it is gone", async () => {
    const world = scene({ leftovers: "warn" });
    const old = { "i-let-go": nameFor("web"), "i-gone": nameFor("web"), "i-other": nameFor("db") };
    for (const [id, name] of Object.entries(old)) world.service.has(id, { name });
    const first = await create(world, "generated");
    expect(held(first.outputs).known).toEqual(["i-let-go", "i-gone"]);
    world.service.instances.delete("i-gone");
    const next = replacing(world, first);
    // A listing may lack it still.
    next.service.instances.delete(first.id);
    const second = await create(next, "generated");
    expect(held(second.outputs).known).toEqual(["i-let-go", first.id]);
    expect(next.messages.warnings).toEqual([]);
    // Another machine has made one since.
    const last = replacing(next, second);
    last.service.has("i-lost", { name: nameFor("web") });
    const { message } = await errorOf(create(last, "generated"));
    expect(message).toMatch(/already, "[^"]*" \(i-lost\):/);
    expect(postsTo(last)).toBe(2);
  });

  test.each<[string, Args, string[]]>([
    ["that a listing which is not complete lacks", {}, ["i-unlisted"]],
    ["of a chosen name, if a person has accepted them", { leftovers: "warn" }, ["i-same"]],
    ["of a chosen name, if nobody has", {}, []],
  ])("is asked about once: the next create knows those %s", async (_, args, known) => {
    const world = scene(args);
    world.service.has("i-same", { name: "web" });
    if (known.includes("i-unlisted")) {
      world.service.unreadable = 1;
      const outputs = propertyMap({ __known: known });
      world.session.engine.check({ urn: urnOf("web"), olds: propertyMap({ name: "web" }) });
      world.session.engine.diff({ urn: urnOf("web"), news: propertyMap({}) }, held(outputs));
    }
    const { variables } = world.session.options;
    if ("leftovers" in args) Object.assign(variables, { leftovers: "COMPUTE_LEFTOVERS" });
    const { outputs } = await create(world, "explicit");
    expect(held(outputs).known).toEqual(known);
  });

  test("stops a preview also after the look for an instance that is out of reach", async () => {
    const world = scene({ leftovers: "fail", deletePolicy: "retain" });
    world.service.accountAnswer = () => ({ id: "acct-now" });
    world.service.has("i-lost", { name: "web" });
    const origin = { ...world.session.connection.origin(), account: "acct-old" };
    const instance = held(propertyMap({ __origin: propertyMap(origin) }));
    const found = await briefly(world.session, (operation) =>
      askAbout(world.session, instance, operation),
    );
    expect(found).toBeUndefined();
    const { message } = await errorOf(create(world, "explicit", true));
    expect(message).toContain("may have an instance already");
  });

  test("is one only if this resource can have made it", async () => {
    const world = scene();
    world.service.has("i-tag", { name: nameFor("db") });
    world.service.has("i-other", { name: "web-2" });
    world.service.has("i-shown", { name: "web" });
    world.session.noteShown(held(undefined, { id: "i-shown" }));
    await create(world, "explicit");
    world.session.ledger.endInOrder();
    await create(world.nextRun(), "generated");
    expect(world.messages.warnings).toEqual([]);
  });

  test("stops its own replacement although the run was shown it, if its delete would fail", async () => {
    const world = scene();
    world.service.has("i-1", { name: nameFor("web") });
    world.session.noteShown(held());
    const { message } = await errorOf(create(world, "generated"));
    expect(postsTo(world)).toBe(0);
    // With `--replace`, nothing is in doubt, so `settle` alone would lead in a circle.
    expect(message).toContain(
      "If settle does not name it (a state has it, or it was let run on purpose): `COMPUTE_LEFTOVERS=warn pulumi up`, with the same options, creates a second one, which is billed, too.",
    );
  });
});

test("leftovers of all resources that are to be created are named before the first POST, and later ones in a line", async () => {
  const world = scene({ leftovers: "warn" });
  const { engine } = world.session;
  for (const name of ["web", "db", "kept", "late"])
    world.service.has(`i-${name}`, { name: nameFor(name) });
  world.service.has("i-api", { name: "API" });
  for (const name of ["web", "db", "kept", "api"])
    engine.check({ urn: urnOf(name), olds: propertyMap({}) });
  engine.noteName("api", urnOf("api"));
  engine.hold(urnOf("kept"), { id: "i-2", isUnfinished: false });
  await create(world, "generated");
  world.service.posts.push(ready);
  const late = { name: nameFor("late"), isGenerated: true, urn: urnOf("late") };
  await createInstance(world.session, createOf(late));
  const [tagged = "", named = "", last = "", ...more] = world.messages.warnings;
  expect(tagged.match(/\(i-\w+/g)).toEqual(["(i-web", "(i-db"]);
  expect(named).toMatch(/other instances have these names:\n.*"api" \(i-api\)\n/);
  expect(last).toMatch(/^[^\n]*earlier creates: "late-\w+" \(i-late\)$/);
  expect(more).toEqual([]);
});

test("an incomplete listing is named once, and stops a create with leftovers fail", async () => {
  const world = scene();
  world.service.unreadable = 1;
  await create(world, "explicit");
  world.session.ledger.endInOrder();
  world.service.instances.clear();
  await create(world.nextRun({ leftovers: "fail" }), "explicit").catch((error: Error) =>
    expect(error.message).toContain('whether "web" has an instance already is not known'),
  );
  expect(world.messages.all.filter((line) => line.includes("was not complete"))).toHaveLength(1);
  expect(postsTo(world)).toBe(1);
});

test("a stop that concerns many instances names the first ones, and keeps its way out", async () => {
  const world = scene({ leftovers: "fail" });
  for (let n = 0; n < 60; n++) world.service.has(`i-${n}`, { name: "web" });
  const { message } = await errorOf(create(world, "explicit"));
  expect(message).toContain("and 57 more");
  expect(message).toContain("`COMPUTE_LEFTOVERS=warn pulumi up`");
});

describe("a preview", () => {
  test("refuses what the `up` would refuse with leftovers fail, with one listing for all resources, and makes no record (G10)", async () => {
    const world = scene({ leftovers: "fail" });
    world.service.has("i-lost", { name: nameFor("web") });
    for (let n = 0; n < 3; n++)
      expect((await errorOf(create(world, "generated", true))).message).toContain("i-lost");
    expect(world.service.count("list")).toBe(1);
    expect(postsTo(world)).toBe(0);
    expect(world.session.ledger.all()).toEqual([]);
  });

  test("does not take the resource's own instance for a leftover as long as an input is not known (G10)", async () => {
    const world = scene();
    world.service.has("i-1", { name: nameFor("web") });
    world.session.noteShown(held());
    const inputs = { flavorId: Unknown.value };
    const request = createOf({ name: nameFor("web"), isGenerated: true, preview: true, inputs });
    await createInstance(world.session, request);
    expect(world.messages.all).toEqual([]);
    world.service.has("i-lost", { name: nameFor("web") });
    const next = world.nextRun();
    await createInstance(next.session, request);
    expect(next.messages.warnings).toEqual([expect.stringContaining("(i-lost)")]);
  });

  test("only warns of an instance that would stop the `up`: a run may be under way that has made it", async () => {
    const world = scene();
    world.service.has("i-lost", { name: nameFor("web") });
    await create(world, "generated", true);
    expect(world.messages.warnings).toEqual([
      expect.stringMatching(
        /i-lost.*`pulumi up` will stop here, unless a run is under way\.\n.*settle`\n.*COMPUTE_LEFTOVERS=warn pulumi up/,
      ),
    ]);
  });

  test("says nothing if the service can't be reached, and asks only once", async () => {
    const world = scene();
    world.service.listFaults.push(() => new Promise(() => undefined));
    await create(world, "generated", true);
    await create(world, "generated", true);
    expect(world.messages.warnings).toEqual([]);
    expect(world.service.count("list")).toBe(1);
    expect(world.clock.now()).toBe(10_000);
  });
});
