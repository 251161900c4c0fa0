/**
 * Tests what a person is told of leftovers: of instances that earlier runs, or runs under way, may have made. Each printed command
 * works as typed, and makes what it says (G2, G9, G10).
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Fixture, hangs } from "./support/fixture";
import { tokens, type Stack } from "./support/stack";

/** The stack is used on another machine, while a run is under way on this one. */
async function onOtherMachine(stack: Stack): Promise<void> {
  stack.setEnv("PULUMI_HOME", mkdtempSync(join(stack.folder, "home-")));
  await stack.succeed("stack", "select", "dev");
}

test("a preview beside an up whose instance is ACTIVE and not saved yet only warns, and is refused with leftovers fail", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack, control } = fixture;
  const hanging = control.fault(hangs);
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  const [id = ""] = fixture.ids();
  await onOtherMachine(stack);

  const warned = await stack.preview();
  expect(warned).toContain(`(${id}) may be left over from an earlier create of this resource`);
  expect(warned).toContain("`pulumi up` will stop here, unless a run is under way");
  const refused = await stack.typeFailing("COMPUTE_LEFTOVERS=fail pulumi preview");
  expect(refused).toContain(`(${id}). Nothing was created.`);
  expect(refused).toContain("COMPUTE_LEFTOVERS=fail is set in the environment");

  hanging.release();
  await up.succeeded();
  expect(await stack.preview()).not.toContain("left over");
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);
});
