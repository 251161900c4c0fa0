/** Tests that delete tells the truth, because the service documents no destroy call (G4). */
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "../support/fixture";
import { instances } from "../support/programs";
import { isBefore, tokens } from "../support/stack";
import { urnOf } from "../support/typing";

test("destroy of a live instance fails, keeps it in the state, and names the ways out", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();

  const output = await stack.fail("destroy");

  expect(output).toContain(`instance ${id} was not deleted: it still exists and is billed`);
  expect((await stack.instance()).id).toBe(id);

  fixture.control.remove(id);
  await stack.destroy();
  expect(await stack.resources()).toEqual([]);
});

test("a destroy of many instances names those that go on running and are billed, in one list at its end if the engine shows that, and without the advice for recorded settings", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
  const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
  await using fixture = await Fixture.create({
    token: tokens.live,
    program,
    config: { deletePolicy: "retain" },
  });
  const { stack, control } = fixture;
  await stack.up();

  const output = await stack.destroy();

  expect(await stack.resources()).toEqual([]);
  // The CLI prints each message when it comes, and once more at the end.
  const [, atEnd = ""] = output.split("Diagnostics:");
  const lists = atEnd.split("They go on running, and are billed").slice(1);
  for (const { id } of control.instances()) expect(lists.join()).toContain(`- ${id} (web-`);
  // Engines before 3.231 show nothing that comes after their last call.
  if (!isBefore("3.231.0")) expect(atEnd.match(/warning:/g)).toHaveLength(1);
  expect(output).not.toContain("after a change");
});

test("if a server uses another one's output, the preview refuses the replacement of each that still exists, and both are made once both are removed", async () => {
  const program = (flavorId: string) =>
    instances({
      db: { inputs: { flavorId } },
      web: { inputs: { userData: "#!/bin/sh\n# ${db.ipv4}\n" } },
    });
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: program("standard-2"),
  });
  const { stack, control } = fixture;
  await stack.up();
  const [db = "", web = ""] = fixture.ids();
  stack.program(program("premium-8"));

  expect(await stack.fail("preview")).toContain(
    `instance ${db} can't be replaced: it still exists`,
  );
  control.remove(db);
  expect(await stack.fail("preview")).toContain(`instance ${web} (web, which uses an output`);
  expect(await stack.ids()).toEqual([db, web].sort());
  control.remove(web);
  await stack.up();

  expect(fixture.posts()).toBe(4);
  expect(await stack.ids()).toEqual(fixture.ids().sort());
  await stack.expectNothingToDo();
});

test("with a destroy call configured, destroy ends when the instance is gone", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    config: { destroyPath },
    service: { destroyPath, destroySeconds: 1 },
  });
  await fixture.stack.up();
  const [id] = fixture.ids();

  expect(await fixture.stack.destroy()).not.toContain("warning: instance");

  expect(fixture.control.counts()[`DELETE /v2/instances/${id}`]).toBe(1);
  expect(fixture.ids()).toEqual([]);
  expect(await fixture.stack.resources()).toEqual([]);
});

test("a typed COMPUTE_DELETE_POLICY=retain destroys nothing, although a destroy call is configured, and the end names what goes on running", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    config: { destroyPath },
    service: { destroyPath },
  });
  const { stack } = fixture;
  await stack.up();
  // What is left over stops only where no delete could destroy it.
  await stack.succeed("state", "delete", urnOf("web"), "--yes");
  await stack.type("COMPUTE_DELETE_POLICY=retain pulumi up");
  const [first, second = ""] = fixture.ids();

  const output = await stack.type("COMPUTE_DELETE_POLICY=retain pulumi destroy");

  expect(await stack.instances()).toEqual([]);
  expect(fixture.ids()).toEqual([first, second]);
  expect(output).toMatch(new RegExp(`They go on running, .*\n *- ${second} \\(web\\)`));
});
