/**
 * Tests that the commands in messages work when they are typed, and that the next `up` changes nothing: errors help
 * (G9). Until then no instance is lost (G1) or created twice (G2), and delete tells the truth (G4).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { instances, oneInstance, required, type Inputs } from "./support/programs";
import type { End } from "./support/running";
import { tokens } from "./support/stack";
import { Fixture } from "./support/fixture";

const creates = { method: "POST", path: "/v2/instances" } as const;
const lists = { method: "GET", path: "/v2/instances" } as const;
const lost = { ...creates, kind: "reset", acted: true } as const;

/** Returns the printed command that contains `start`. If a message repeats it, all copies must be the same. */
function printed(output: string, start: string): string {
  const commands = printedCommands(output, start);
  expect(new Set(commands).size).toBe(1);
  return commands[0] ?? "";
}

async function typed(fixture: Fixture, command: string): Promise<void> {
  const { code, output } = await fixture.stack.type(command);
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
}

/** Expects that one `up` sends no POST, and that the next one changes nothing. */
async function expectClean(fixture: Fixture): Promise<void> {
  const posts = fixture.posts();
  const up = await fixture.stack.up();
  expect(up.output).not.toContain("replaced");
  expect(up.code).toBe(0);
  await fixture.stack.expectNothingToDo();
  expect(fixture.posts()).toBe(posts);
}

/** Leaves a pending create: the service creates the instance, and no listing contains it during this `up`. */
async function leavePendingCreate(fixture: Fixture): Promise<{ output: string; id: string }> {
  const { control } = fixture.service;
  control.fault(lost);
  const hidden = control.fault({ ...lists, kind: "omitItem", times: "always" });
  const { code, output } = await fixture.stack.up();
  expect(code).not.toBe(0);
  hidden.remove();
  const id = fixture.ids().at(-1) ?? "";
  return { output, id };
}

/** Ends an `up` during its POST, changes the program, and returns the output of the next `up`, which fails. */
async function upAfterEndAndChange(fixture: Fixture, end: End): Promise<string> {
  const hanging = fixture.service.control.fault({ ...creates, kind: "hang", acted: true });
  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  await up.reached(hanging.firstHit);
  await up.end(end, () => hanging.release());
  fixture.stack.program(oneInstance({ flavorId: "standard-4" }));
  const { code, output } = await fixture.stack.upAfterKill();
  expect(code).not.toBe(0);
  expect(fixture.posts()).toBe(1);
  return output;
}

test.each(["plugin killed", "engine killed", "both killed"] as const)(
  "after %s during a POST, the import that the next up prints takes over the instance",
  async (end) => {
    await using fixture = await Fixture.create({ program: oneInstance() });
    const output = await upAfterEndAndChange(fixture, end);
    const [id = ""] = fixture.ids();

    const command = printed(output, "pulumi import");
    expect(command).toContain(id);
    await typed(fixture, command);

    await expectClean(fixture);
    expect((await fixture.stack.instance()).id).toBe(id);
  },
);

test("after both killed during a POST, the discard that the next up prints allows a new create", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const output = await upAfterEndAndChange(fixture, "both killed");
  const [id = ""] = fixture.ids();

  await typed(fixture, printed(output, "discard"));

  expect((await fixture.stack.up()).code).toBe(0);
  expect(output).toContain(id);
  expect(fixture.posts()).toBe(2);
  expect(fixture.ids()).toEqual([id, (await fixture.stack.instance()).id]);
});

/**
 * The state of a killed engine and the ledger record the same create, so the engine's repair must not conflict with
 * the provider's.
 */
test.each([
  ["after the next up", "--clear-pending-creates"],
  ["instead of the next up", "--import-pending-creates"],
])(
  "after a killed engine, its own repair of the pending create works %s, with %s",
  async (when, flag) => {
    await using fixture = await Fixture.create({ program: oneInstance() });
    const hanging = fixture.service.control.fault({ ...creates, kind: "hang", acted: true });
    const up = fixture.stack.start("up", "--yes", "--skip-preview");
    await up.reached(hanging.firstHit);
    await up.end("engine killed", () => hanging.release());
    const [id = ""] = fixture.ids();
    await typed(fixture, "pulumi cancel");
    if (when === "after the next up") {
      const { code, output } = await fixture.stack.up();
      expect(output).toContain("pending operations");
      expect(code).toBe(0);
      await typed(fixture, `pulumi refresh ${flag}`);
    } else {
      const urn = "urn:pulumi:dev::proj::compute:index:Instance::web";
      await typed(fixture, `pulumi refresh ${flag} '${urn}' ${flag} ${id}`);
    }

    await expectClean(fixture);
    expect((await fixture.stack.up()).output).not.toContain("pending operations");
    expect((await fixture.stack.instance()).id).toBe(id);
    expect(fixture.posts()).toBe(1);
  },
);

test("the import that a pending create prints takes over the instance that appears later", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const { output, id } = await leavePendingCreate(fixture);

  await typed(fixture, printed(output, "pulumi import").replace("<id>", id));

  await expectClean(fixture);
  expect((await fixture.stack.instance()).id).toBe(id);
});

test("the import that a pending create of a component's child prints names the component", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  fixture.stack.javascript(`
    const pulumi = require("@pulumi/pulumi");
    const group = new pulumi.ComponentResource("my:mod:Group", "group");
    new pulumi.CustomResource("compute:index:Instance", "it's web",
      { name: "web", ...${JSON.stringify(required)} }, { parent: group });
  `);
  const { output, id } = await leavePendingCreate(fixture);

  const command = printed(output, "pulumi import")
    .replace("<id>", id)
    .replace("<name>=<urn of its component>", "group=urn:pulumi:dev::proj::my:mod:Group::group");
  await typed(fixture, command);

  await expectClean(fixture);
  expect((await fixture.stack.instances()).map((it) => it.id)).toEqual([id]);
});

test("the import that a pending create of an explicit provider prints names the provider", async () => {
  await using fixture = await Fixture.create({ program: "resources: {}\n", baseUrl: undefined });
  const resource = (type: string, properties: Inputs, options: Inputs = {}) => ({
    ...{ type, properties, options },
  });
  const resources = {
    own: resource("pulumi:providers:compute", { baseUrl: fixture.service.url, settlingSeconds: 1 }),
    web: resource("compute:Instance", required, { provider: "${own}" }),
  };
  fixture.stack.program(instances({}, { resources }));
  const { output, id } = await leavePendingCreate(fixture);

  await typed(fixture, printed(output, "pulumi import").replace("<id>", id));

  await expectClean(fixture);
  expect((await fixture.stack.instance()).id).toBe(id);
});

test("the import that an extra instance prints takes it over as a separate resource", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ name: "web-main" }),
    service: { provisioningSeconds: Infinity },
  });
  const { control } = fixture.service;
  control.fault({ ...creates, kind: "status", status: 503, acted: true });
  // No listing contains the first instance until the second POST is accepted.
  const hidden = control.fault({ ...lists, kind: "omitItem", times: "always" });
  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  await up.printed("PROVISIONING");
  hidden.remove();
  control.settle();
  const { output } = await up.ended;
  const [extra = ""] = fixture.ids();

  const command = printed(output, "pulumi import");
  expect(command).toContain(extra);
  await typed(fixture, command.replace("<name>", "web-2"));

  const both = { web: { inputs: { name: "web-main" } }, "web-2": { inputs: { name: "web-main" } } };
  fixture.stack.program(instances(both));
  await expectClean(fixture);
  expect((await fixture.stack.instances()).map(({ id }) => id).sort()).toEqual(
    fixture.ids().sort(),
  );
});

test.each(["pulumi state delete", "deletePolicy retain", "compute:destroyPath"])(
  "after a refused destroy, the printed command with %s works",
  async (wayOut) => {
    await using fixture = await Fixture.create({
      ...{ program: oneInstance(), token: tokens.live },
      service: { destroyPath: "/v2/instances/{id}" },
    });
    await fixture.stack.up();
    const { output } = await fixture.stack.destroy();

    await typed(fixture, printed(output, wayOut));
    await typed(fixture, printed(output, "pulumi destroy --run-program"));

    expect(await fixture.stack.instances()).toEqual([]);
    expect(fixture.ids()).toHaveLength(wayOut.includes("destroyPath") ? 0 : 1);
  },
);

test("if two resources have one name and one create is pending, its instance is named, and after the import each resource has its own instance", async () => {
  const name = "web-main";
  const program = instances({ a: { inputs: { name } }, b: { inputs: { name } } });
  await using fixture = await Fixture.create({ program });
  fixture.service.control.fault({ ...creates, kind: "status", status: 503, acted: true });

  const { stack } = fixture;
  const { code, output } = await stack.up();

  expect(code).not.toBe(0);
  expect(fixture.posts()).toBe(2);
  const { id: held } = await stack.instance();
  const left = fixture.ids().find((id) => id !== held);
  expect(output).toContain(`An instance named "${name}" has turned up since, ${left}`);

  const [command = ""] = /pulumi import compute:index:Instance [ab] i-\w+/.exec(output) ?? [];
  expect(command).toContain(left);
  await stack.type(command);
  expect((await stack.up()).code).toBe(0);
  await stack.expectNothingToDo();
  expect((await stack.instances()).map(({ id }) => id).sort()).toEqual(fixture.ids().sort());
  expect(fixture.posts()).toBe(2);
});

/** These are the steps in docs/gitops.md, section "A run stops for a leftover". */
test("after a kill during a create and the loss of the ledger, the next run stops, and the command that it prints repairs the stack", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance(),
    config: { leftovers: "fail" },
  });
  const { stack, service } = fixture;
  const hanging = service.control.fault({ ...creates, kind: "hang", acted: true });
  const up = stack.start("up", "--yes", "--skip-preview");
  await up.reached(hanging.firstHit);
  await up.end("both killed", () => hanging.release());
  const [left] = fixture.ids();
  rmSync(join(stack.home, "compute"), { recursive: true });

  const stopped = await stack.upAfterKill();
  expect(stopped.output).toContain('nothing was created, because compute:leftovers is "fail"');
  expect(stopped.code).not.toBe(0);
  const [line] = printedCommands(stopped.output, "Instance web ");
  const imported = await stack.type(`${line} --yes --generate-code=false`);
  expect(imported.code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect((await stack.instance()).id).toBe(left);
  expect(fixture.posts()).toBe(1);
});
