/**
 * Tests the ways out that hold for one run, `COMPUTE_DELETE_POLICY` and `COMPUTE_LEFTOVERS`: what a message prints works as typed,
 * nothing saves it, and the next run is as guarded as the one before.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { emptyProgram, instances } from "./support/programs";
import { tokens, type Stack } from "./support/stack";
import { expectAgreement, typePrinted, urnOf } from "./support/typing";

const live = { token: tokens.live };
const settingsOf = ({ project }: Stack) => readFileSync(join(project, "Pulumi.dev.yaml"), "utf8");

test("after a refused up and a refused destroy, the printed commands let servers run, and nothing saves that: the run after is refused again", async () => {
  await using fixture = await Fixture.create({
    ...live,
    program: instances({ a: {}, b: {}, c: {} }),
  });
  const { stack } = fixture;
  await stack.up();
  const settings = settingsOf(stack);

  stack.program(instances({ a: {}, b: {} }));
  const refusedUp = await stack.fail("up");
  const preview = await stack.type(
    "COMPUTE_DELETE_POLICY=retain COMPUTE_LEFTOVERS=warn pulumi preview",
  );
  expect(preview).not.toMatch(/COMPUTE_(?:DELETE|LEFT)/);
  const up = await typePrinted(fixture, refusedUp, "pulumi up");
  // Pulumi prints each message when it comes, and once more at the end.
  const named = new Set([...up.matchAll(/COMPUTE_.*/g)].map(([text]) => text.trim()));
  expect([...named]).toEqual([expect.stringMatching(/^COMPUTE_DELETE_POLICY=retain\. Unset /)]);
  expect(await stack.ids()).toHaveLength(2);
  await stack.expectNothingToDo();

  // Without an instance in the program, the engine uses the recorded settings.
  const same =
    "drop it from the state, and let it run: put COMPUTE_DELETE_POLICY=retain before the same command";
  stack.program(instances({ a: {}, b: {} }));
  for (const command of [["destroy"], ["destroy", "--run-program"]])
    expect(await stack.fail(...command)).toContain(same);
  stack.program(emptyProgram);
  expect(await stack.fail("up")).toContain(same);
  expect(await stack.ids()).toHaveLength(2);
  expect(settingsOf(stack)).toBe(settings);
  expect(await stack.succeed("stack", "export")).not.toContain("retain");

  await stack.type("COMPUTE_DELETE_POLICY=retain pulumi up");
  expect(await stack.instances()).toEqual([]);
  expect(fixture.ids()).toHaveLength(3);
});

test("after the refusal of an up that renames a resource, undoing that keeps its server, aliases rename it, and once it is removed at the service, another one may take its place", async () => {
  await using fixture = await Fixture.create({ ...live, program: instances({ a: {} }) });
  const { stack, control } = fixture;
  await stack.up();
  const [serving = ""] = fixture.ids();

  stack.program(instances({ b: {} }));
  expect(await stack.fail("up")).toContain(
    "if the program only renamed it: undo that, and remove the new one (a rename needs the option `aliases`)",
  );
  stack.program(instances({ a: {} }));
  const undone = await stack.fail("up");
  expect(undone).toContain("remove it at the service");
  expect(undone).not.toContain("aliases");
  for (const id of fixture.ids()) if (id !== serving) control.remove(id);
  await stack.up();
  expect(await stack.ids()).toEqual([serving]);

  stack.program(instances({ b: { options: { aliases: [{ name: "a" }] } } }));
  await stack.preview("--expect-no-changes");
  await stack.up();
  expect(await stack.ids()).toEqual([serving]);
  expect(fixture.posts()).toBe(2);

  stack.program(instances({ c: {} }));
  expect(await stack.fail("up")).toContain("remove it at the service (its portal), and run this");
  control.remove(serving);
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(3);
});

test("COMPUTE_DELETE_POLICY=fail refuses although the state has recorded retain, any other value is refused, and an empty one is none", async () => {
  await using fixture = await Fixture.create({ ...live, config: { deletePolicy: "retain" } });
  const { stack } = fixture;
  await stack.up();
  await stack.succeed("config", "rm", "compute:deletePolicy");
  const ids = fixture.ids();

  const refused = await stack.typeFailing("COMPUTE_DELETE_POLICY=fail pulumi destroy");
  expect(refused).toContain(`instance ${ids[0]} was not deleted`);
  expect(refused).toContain("set in this run: COMPUTE_DELETE_POLICY=fail.");
  for (const variable of ["COMPUTE_DELETE_POLICY", "COMPUTE_LEFTOVERS"]) {
    const wrong = await stack.typeFailing(`${variable}=destroy pulumi destroy`);
    expect(wrong).toMatch(new RegExp(`${variable} in the environment must be "\\w+" or "fail"`));
    expect(wrong).not.toContain("pulumi refresh --run-program");
  }
  expect(await stack.ids()).toEqual(ids);

  const dropped = await stack.type("COMPUTE_DELETE_POLICY= COMPUTE_LEFTOVERS= pulumi destroy");
  expect(dropped).toContain("in the settings that the last `pulumi up` recorded");
  expect(dropped).not.toContain("in the environment");
  expect(await stack.instances()).toEqual([]);
});

test("a provider of the program's own: the printed commands work for its instances, too", async () => {
  await using fixture = await Fixture.create(live);
  const { stack, service } = fixture;
  const properties = { baseUrl: service.url, settlingSeconds: 1 };
  const own = { type: "pulumi:providers:compute", properties };
  const program = (flavorId: string) =>
    instances(
      { mine: { inputs: { flavorId }, options: { provider: "${own}" } }, web: {} },
      { resources: { own } },
    );
  stack.program(program("standard-2"));
  await stack.up();

  stack.program(program("premium-8"));
  await typePrinted(fixture, await stack.fail("up"), "pulumi up");
  expect(fixture.posts()).toBe(3);
  await stack.expectNothingToDo();
  expect(await stack.fail("up", "--replace", urnOf("mine"))).toContain("docs/recover.md");

  expect(await stack.fail("destroy")).toContain("COMPUTE_DELETE_POLICY=retain before");
  await stack.type("COMPUTE_DELETE_POLICY=retain pulumi destroy");
  expect(await stack.instances()).toEqual([]);
  expect(fixture.ids()).toHaveLength(3);
});
