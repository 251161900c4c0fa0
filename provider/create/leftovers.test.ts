/** Tests of leftovers: instances that earlier creates may have left. They are named before a POST or stop it, and are never adopted. */
import { describe, expect, test } from "@jest/globals";
import { propertyMap, Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
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
import { decideForRun } from "../config/oneRun";
import { createInstance } from "../testing/calls";
import { briefly, lookFor } from "../instance/existence";
import { generatedName } from "../instance/naming";

const nameFor = (resource: string) => generatedName(urnOf(resource), scopeId, new Uint8Array());

type Args = Record<string, PropertyValue>;

function create({ session, service }: Scene, kind: "generated" | "explicit", preview = false) {
  if (!preview) service.posts.push(ready);
  const name = kind === "generated" ? nameFor("web") : "web";
  return createInstance(session, createOf({ name, isGenerated: kind === "generated", preview }));
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
      const warn =
        args["leftovers"] === "fail"
          ? `To create a second one(, which is billed, too)?: \`COMPUTE_LEFTOVERS=warn pulumi up\`\n`
          : "";
      expect(message).toMatch(new RegExp(`\n${way}\n${warn}More.*: `));
      if (warn) expect(message.includes("billed")).toBe(!("apiToken" in args));
      expect(linesAt100(message)).toBeLessThanOrEqual(6);
      expect(postsTo(world)).toBe(0);
      expect(world.session.ledger.all()).toEqual([]);
      return;
    }
    const { id } = await create(world, kind);
    expect(id).not.toBe("i-lost");
    const severity = outcome === "is named" ? "warning" : "info";
    expect(world.messages.all).toContainEqual(
      expect.stringMatching(new RegExp(`^${severity} .*\\(i-lost\\)`, "s")),
    );
  });

  test("stops the create also if COMPUTE_DELETE_POLICY lets another instance go", async () => {
    const world = scene();
    const { settings } = decideForRun(world.session.settings, { COMPUTE_DELETE_POLICY: "retain" });
    Object.assign(world.session.settings, settings);
    world.service.has("i-lost", { name: nameFor("web") });
    expect((await errorOf(create(world, "generated"))).message).toContain("(i-lost)");
    expect(postsTo(world)).toBe(0);
  });

  test("stops a preview also after the look for an instance that is out of reach", async () => {
    const world = scene({ leftovers: "fail", deletePolicy: "retain" });
    world.service.accountAnswer = () => ({ id: "acct-now" });
    world.service.has("i-lost", { name: "web" });
    const origin = { ...world.session.connection.origin(), account: "acct-old" };
    const instance = held(propertyMap({ __origin: propertyMap(origin) }));
    const found = await briefly(world.session, (operation) =>
      lookFor(world.session, instance, operation),
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
    expect(message).toContain("More, also on --replace and taints: ");
  });
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
      expect.stringMatching(/i-lost.*`pulumi up` will stop here, unless a run is under way/),
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
