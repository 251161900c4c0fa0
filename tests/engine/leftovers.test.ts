/**
 * Tests what a person is told of leftovers: of instances that earlier runs, or runs under way, may have made. Each printed command
 * works as typed, and makes what it says (G2, G9, G10).
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Fixture, hangs, lists } from "./support/fixture";
import { instances, oneInstance, required } from "./support/programs";
import { live, onNewMachine, settle } from "./support/settling";
import { tokens, type Stack } from "./support/stack";
import { expectAgreement, printed, typePrinted, urnOf } from "./support/typing";

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
  expect(refused).toContain(`(${id}):`);
  expect(refused).toContain("set in this run: COMPUTE_LEFTOVERS=fail.");

  hanging.release();
  await up.succeeded();
  expect(await stack.preview()).not.toContain("left over");
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);
});

test("with compute:leftovers fail and a name that the program chose, the printed import takes the instance over, and the printed up makes the second one that it names", async () => {
  const program = instances({ web: { inputs: { name: "web-1" } } });
  const config = { leftovers: "fail" };
  await using fixture = await Fixture.create({ token: tokens.live, program, config });
  const { stack, control } = fixture;
  const id = control.insert({ name: "web-1", tokenKind: "live" }).id;

  const refused = await stack.fail("up");
  expect(refused.indexOf("pulumi import")).toBeLessThan(refused.indexOf("pulumi up`"));
  expect(refused).toContain("or remove it at the service");
  expect(await stack.fail("preview")).toContain(`(${id}):`);
  await typePrinted(fixture, refused, "pulumi import");
  await expectAgreement(fixture, [id]);
  expect(fixture.posts()).toBe(0);

  await stack.succeed("state", "delete", urnOf("web"), "--force", "--yes");
  const again = await stack.fail("up");
  expect(again).toContain("creates a second one, which is billed, too");
  await typePrinted(fixture, again, "pulumi up");
  expect(fixture.posts()).toBe(1);
  expect(fixture.ids()).toContain(id);
  // Nothing has switched the guard off.
  stack.program(
    instances({ web: { inputs: { name: "web-1" } }, db: { inputs: { name: "web-1" } } }),
  );
  expect(await stack.fail("up")).toContain('"db" may have an instance already');
});

test("where a replacementTrigger has changed, the command that the stop prints makes the second one, and lets the first run", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack } = fixture;
  const triggerBy = (replacementTrigger: string) =>
    stack.javascript(`
      const { CustomResource } = require("@pulumi/pulumi");
      const options = ${JSON.stringify({ replacementTrigger })};
      new CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}, options);
    `);
  triggerBy("first");
  await stack.up();
  const [old = ""] = fixture.ids();
  triggerBy("second");

  const stopped = await stack.typeFailing("COMPUTE_DELETE_POLICY=retain pulumi up");
  expect(stopped).toContain('nothing was created: "web" may have an instance already');
  expect(fixture.posts()).toBe(1);
  await typePrinted(fixture, stopped, "COMPUTE_LEFTOVERS");

  const [, made = ""] = fixture.ids();
  await expectAgreement(fixture, [made]);
  expect(fixture.ids()).toEqual([old, made]);
});

test("with compute:leftovers fail and an incomplete listing, the printed up creates it all the same", async () => {
  await using fixture = await Fixture.create({ token: tokens.live, config: { leftovers: "fail" } });
  fixture.control.fault({ ...lists, kind: "hasMoreForever", times: "always" });
  const refused = await fixture.stack.fail("up");
  expect(refused).toContain('whether "web" has an instance already is not known');
  await typePrinted(fixture, refused, "pulumi up");
  expect(fixture.posts()).toBe(1);
});

test("a chosen name whose create another machine has left in doubt is named before a second one is made, and the printed settle finds it", async () => {
  await using fixture = await Fixture.create({ ...live, program: oneInstance({ name: "web-1" }) });
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  const [id = ""] = fixture.ids();
  await onNewMachine(stack);

  const warned = await stack.up();
  expect(warned).toContain(`"web-1" (${id})`);
  const found = await stack.typeFailing(printed(warned, "settle"));
  expect(found).toContain(id);
  expect(await settle(stack, "--yes")).toMatchObject({ code: 1 });
});
