/**
 * Tests `settle` for what a killed run leaves on a machine whose disk is gone: the next `up` goes on with the server that runs
 * (G1), and makes no second one (G2).
 */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "../support/fixture";
import { instances, userData } from "../support/programs";
import { live, onNewMachine, settle } from "../support/settling";

test("after a kill in the wait, settle puts the instance into the state on a new machine, and the next up finishes it", async () => {
  const program = instances({ web: { inputs: { userData, sshKeys: ["one"] } } });
  await using fixture = await Fixture.create({ ...live, service: never, program });
  const { stack } = fixture;
  await (await fixture.upInWait()).end("both killed");
  await onNewMachine(stack);
  const [id = ""] = fixture.ids();

  const { code, output } = await settle(stack, "--yes");

  expect(output).toContain(`instance ${id}`);
  expect(code).toBe(0);
  expect(await stack.ids()).toEqual([id]);
  const kept = await stack.instance();
  expect(kept.initErrors).toHaveLength(1);
  expect(JSON.stringify(kept.inputs)).toContain("ciphertext");
  expect(await settle(stack, "--yes")).toMatchObject({
    code: 0,
    output: expect.stringContaining("Nothing is in doubt."),
  });
  fixture.control.finishProvisioning();
  await stack.up();
  await stack.expectNothingToDo();
  expect(await stack.instance()).toMatchObject({ id, outputs: { status: "ACTIVE" } });
  expect(fixture.posts()).toBe(1);
  expect(fixture.ids()).toEqual([id]);
});
