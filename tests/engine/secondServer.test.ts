/**
 * Sequences of commands that once ended with a second server in the real engine (G2). Each test types what the messages
 * advise until the state and the service agree.
 */
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { Fixture, never } from "./support/fixture";
import { instances } from "./support/programs";
import { tokens } from "./support/stack";

const creates = { method: "POST", path: "/v2/instances" } as const;
const destroyPath = "/v2/instances/{id}";
const urnOf = (name: string) => `urn:pulumi:dev::proj::compute:index:Instance::${name}`;

/** Types the first printed command that contains `start`. */
async function typePrinted({ stack }: Fixture, output: string, start: string): Promise<string> {
  const [command] = printedCommands(output, start);
  if (command === undefined) throw new Error(`no command with "${start}" in: ${output}`);
  return stack.type(command);
}

/** Expects that an `up` sends no POST, that a second one changes nothing, and that the stack has these instances. */
async function expectAgreement(fixture: Fixture, ids: readonly string[]): Promise<void> {
  const { stack } = fixture;
  const posts = fixture.posts();
  await stack.up();
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(posts);
  expect(await stack.ids()).toEqual([...ids].sort());
}

/**
 * `pulumi cancel` while the first run waits for the answer to its POST, and a second run, whose engine saves its state
 * after the first one's. Returns the id of the instance, which is then in no state.
 */
async function overwriteState(fixture: Fixture): Promise<string> {
  const { stack, control } = fixture;
  const hanging = control.fault({ ...creates, kind: "hang", acted: true });
  const first = stack.start("up");
  await first.reached(hanging.firstHit);
  await stack.succeed("cancel", "--yes");
  const second = stack.start("up");
  await second.printed("web creating");
  // The second engine goes on, and saves, only after the first one has ended. Its plugin is not stopped.
  second.child.kill("SIGSTOP");
  hanging.release();
  // It fails to remove its lock, which `pulumi cancel` has removed.
  await first.ended;
  expect(await stack.ids()).toEqual(fixture.ids());
  second.child.kill("SIGCONT");
  expect(await second.failed()).toMatch(/this run created nothing/i);
  expect(await stack.ids()).toEqual([]);
  expect(fixture.posts()).toBe(1);
  return fixture.ids()[0] ?? "";
}

test.each(["live", "test"] as const)(
  "after `pulumi cancel` and a second run that saves its state over the first one's (%s token), the third run creates nothing, and the import that it prints works",
  async (kind) => {
    const options = { config: { destroyPath }, service: { destroyPath } };
    await using fixture = await Fixture.create({ token: tokens[kind], ...options });
    const { stack } = fixture;
    const id = await overwriteState(fixture);

    const third = await stack.fail("up");

    expect(third).toContain("was under way together with another run of this stack");
    expect(await typePrinted(fixture, third, "pulumi stack --show-ids")).not.toContain(id);
    await typePrinted(fixture, third, "pulumi import");
    await expectAgreement(fixture, [id]);
    expect(fixture.posts()).toBe(1);
  },
);

test("after two runs that saved their states over each other, the printed discard works once the instance is removed, and so does a removal alone", async () => {
  for (const way of ["discard", "remove"]) {
    await using fixture = await Fixture.create();
    const { stack, control } = fixture;
    const id = await overwriteState(fixture);
    const third = await stack.fail("up");
    expect(third).toContain(id);
    control.remove(id);
    if (way === "discard") await typePrinted(fixture, third, "discard");
    await stack.up();
    expect(fixture.posts()).toBe(2);
    expect(await stack.ids()).toEqual(fixture.ids());
    await stack.expectNothingToDo();
  }
});

const programOf = (resource: string, name: string | undefined, options = {}) =>
  instances({ [resource]: { inputs: name === undefined ? {} : { name }, options } });

test.each(["web-1", undefined])(
  "a run is killed after the 202, and the resource is renamed with an alias (name %s): with leftovers fail nothing is created, and the import that is printed works",
  async (name) => {
    await using fixture = await Fixture.create({
      token: tokens.live,
      program: programOf("web", name),
      config: { leftovers: "fail" },
      service: never,
    });
    const { stack, control } = fixture;
    const up = await fixture.upInWait();
    await up.end("both killed");
    control.settle();
    await stack.succeed("cancel", "--yes");
    stack.program(programOf("www", name, { aliases: [urnOf("web")] }));

    const stopped = await stack.fail("up");

    expect(stopped).toContain("an alias does not carry a pending create over");
    expect(fixture.posts()).toBe(1);
    await typePrinted(fixture, stopped, "pulumi import compute:index:Instance www ");
    await expectAgreement(fixture, fixture.ids());
  },
);

test("a run is killed after the 202, and the resource is renamed with an alias: with leftovers warn, both instances are named, and the printed commands bring the first one back", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: programOf("web", undefined),
    service: never,
  });
  const { stack, control } = fixture;
  const killed = await fixture.upInWait();
  await killed.end("both killed");
  const [id = ""] = fixture.ids();
  await stack.succeed("cancel", "--yes");
  stack.program(programOf("www", undefined, { aliases: [urnOf("web")] }));

  const up = stack.start("up");
  await up.printed("PROVISIONING");
  control.settle();
  const output = await up.succeeded();

  expect(output).toContain(id);
  expect(fixture.posts()).toBe(2);
  const second = fixture.ids().find((other) => other !== id) ?? "";
  await typePrinted(fixture, output, "pulumi state delete");
  await typePrinted(fixture, output, "pulumi import compute:index:Instance www ");
  control.remove(second);
  await expectAgreement(fixture, [id]);
});

test.each(["web-1", undefined])(
  "after `state rename` and `state delete` (name %s), with leftovers fail, the instance is named, and the import that is printed works",
  async (name) => {
    await using fixture = await Fixture.create({
      token: tokens.live,
      program: programOf("web", name),
      config: { leftovers: "fail" },
    });
    const { stack } = fixture;
    await stack.up();
    const [id = ""] = fixture.ids();
    await stack.succeed("state", "rename", urnOf("web"), "www", "--yes");
    await stack.succeed("state", "delete", urnOf("www"), "--yes");
    stack.program(programOf("www", name));

    const stopped = await stack.fail("up");

    expect(stopped).toContain(id);
    expect(fixture.posts()).toBe(1);
    await typePrinted(fixture, stopped, "pulumi import compute:index:Instance www ");
    await expectAgreement(fixture, [id]);
  },
);

test("a run is killed after the 202, and the stack is renamed: nothing is created, and the import that is printed works", async () => {
  await using fixture = await Fixture.create({ token: tokens.live, service: never });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  await up.end("both killed");
  control.settle();
  await stack.succeed("cancel", "--yes");
  await stack.succeed("stack", "rename", "renamed");

  const stopped = await stack.fail("up");

  expect(stopped).toContain("a run of stack dev began to create");
  await typePrinted(fixture, stopped, "pulumi import compute:index:Instance web ");
  await expectAgreement(fixture, fixture.ids());
  expect(fixture.posts()).toBe(1);
});

test("after `state move`, two stacks have one provider resource: neither takes over what the other's killed run has created, and `up` of that one, as printed, goes on", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: instances({ db: {} }),
    service: { provisioningSeconds: (name) => (name.startsWith("web") ? Infinity : 0) },
  });
  const { stack, control, service } = fixture;
  const select = async (name: string, ...resources: string[]) => {
    await stack.succeed("stack", "select", name);
    stack.program(instances(Object.fromEntries(resources.map((resource) => [resource, {}]))));
  };
  await stack.up();
  await stack.succeed("stack", "init", "staging");
  await stack.configure({ baseUrl: service.url });
  const [source, dest] = ["organization/proj/dev", "organization/proj/staging"];
  await stack.succeed("state", "move", urnOf("db"), "--yes", "--source", source, "--dest", dest);
  await select("staging", "db", "web");
  const killed = stack.start("up");
  await killed.printed("PROVISIONING");
  await killed.end("both killed");
  control.settle();
  await stack.succeed("cancel", "--yes");

  await select("dev", "web");
  const stopped = await stack.fail("up");
  expect(stopped).toContain("a run of stack staging began to create");
  expect(stopped).toContain("`pulumi up` with stack staging of project proj selected");
  expect(fixture.posts()).toBe(2);

  await select("staging", "db", "web");
  await expectAgreement(fixture, fixture.ids());
  const ofStaging = fixture.ids();
  await select("dev", "web");
  const again = stack.start("up");
  await again.printed("PROVISIONING");
  control.settle();
  // A run of staging has seen its instance in the state, so it is no leftover, although its name has the same tag.
  expect(await again.succeeded()).not.toContain("warning");
  await expectAgreement(
    fixture,
    fixture.ids().filter((id) => !ofStaging.includes(id)),
  );
  expect(fixture.posts()).toBe(3);
});
