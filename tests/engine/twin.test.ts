/** Tests a resource with two entries of one instance in the state: no run ends the server that it has (G4). */
import { expect, test } from "@jest/globals";
import { creates, destroyPath, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import { editState, live, onNewMachine, settle } from "./support/settling";
import { isOldest } from "./support/stack";
import { expectAgreement, urnOf } from "./support/typing";

const withDatabase = instances({ web: {}, db: { options: { dependsOn: ["${web}"] } } });

test.each(isOldest ? ["--replace"] : ["--replace", "taint"])(
  "after a create was killed here, settled and gone on with elsewhere, %s here takes it over, and no later run destroys it",
  async (how) => {
    const config = { ...live.config, destroyPath };
    await using fixture = await Fixture.create({ ...live, config, service: { destroyPath } });
    const { stack, control } = fixture;
    await fixture.endUpInPost("both killed");
    const [id = ""] = fixture.ids();
    await onNewMachine(stack);
    expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
    await stack.up();

    // Here, the killed run's file is still there. What fails later in the run keeps the engine from deleting the old entry.
    stack.setEnv("PULUMI_HOME", stack.home);
    if (how === "taint") await stack.succeed("state", "taint", urnOf("web"), "--yes");
    stack.program(withDatabase);
    control.fault({ ...creates, kind: "status", status: 422 });
    await stack.fail("up", ...(how === "taint" ? [] : ["--replace", urnOf("web")]));
    expect(await stack.ids()).toEqual([id, id]);

    await stack.up();

    expect(fixture.ids()).toContain(id);
    expect(await stack.ids()).toEqual(fixture.ids().sort());
    expect(fixture.posts()).toBe(3);
    await stack.expectNothingToDo();
  },
);

test("a second entry that was written into the state by hand is dropped, and its server lives", async () => {
  const config = { ...live.config, destroyPath };
  await using fixture = await Fixture.create({ ...live, config, service: { destroyPath } });
  const { stack } = fixture;
  await stack.up();
  const { id } = await stack.instance();
  editState(stack, ({ resources }) => resources.push({ ...resources.at(-1), delete: true }));
  expect(await stack.ids()).toEqual([id, id]);

  expect(await stack.up()).toContain(`its instance ${id} was not destroyed`);

  expect(fixture.ids()).toEqual([id]);
  await expectAgreement(fixture);
});
