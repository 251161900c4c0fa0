/** Tests that a change of the program is shown before it happens (G5), with what stays behind (G4). */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { instances, oneInstance, required, userData, type Inputs } from "../support/programs";
import { isBefore, tokens } from "../support/stack";
import { printed } from "../support/typing";

const created: Inputs = { name: "web-main", sshKeys: ["a", "b"], userData };

test("a preview shows changed inputs, and only those, as a replacement. Then up names the old instance, which is left behind", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(created) });
  const { stack } = fixture;
  await stack.up();
  const [id] = fixture.ids();

  const more = Buffer.from(`${userData}# more\n`).toString("base64");
  const changes: Inputs[] = [
    { name: "web-other", imageId: "debian-13" },
    { flavorId: "premium-8", vpcId: "vpc-other", userData: undefined, userDataBase64: more },
    { sshKeys: ["a", "c"] },
  ];
  const inputs = [...Object.keys(required), "name", "sshKeys", "userData", "userDataBase64"];
  for (const change of changes) {
    stack.program(oneInstance({ ...created, ...change }));
    const preview = await stack.preview("--diff");
    expect(preview).toMatch(/\+-compute:index:Instance: \(replace\)/);
    const shown = [...preview.matchAll(/^ +[~+-] (\w+) *:/gm)].map(([, name = ""]) => name);
    expect(new Set(shown.filter((name) => inputs.includes(name)))).toEqual(
      new Set(Object.keys(change)),
    );
    if (!isBefore("3.231.0")) expect(preview).toContain("1 instance is not destroyed");
  }
  expect(fixture.posts()).toBe(1);

  const up = await stack.up();
  expect(up).toContain("1 instance is not destroyed");
  expect(fixture.ids()).toEqual([id, (await stack.instance()).id]);
});

test("outputs in the preview of a replacement and of a further create don't show the generated name that the up will not use, but a given one", async () => {
  const program = (flavorId: string, others: Inputs = {}) =>
    instances(
      { web: { inputs: { flavorId } }, ...others },
      { outputs: { name: "${web.name}", ...(others["db"] ? { db: "${db.name}" } : {}) } },
    );
  await using fixture = await Fixture.create({ program: program("standard-2") });
  const { stack } = fixture;
  await stack.up();
  const { name } = await stack.outputs();
  stack.program(program("standard-4", { db: {} }));

  const preview = await stack.preview("--diff");

  expect(preview).toMatch(/\+ db *: \[unknown\]/);
  // An output that becomes unknown is not in the list of changes.
  expect(preview).not.toContain(`~ name: "${String(name)}"`);
  stack.program(oneInstance({ name: "mine" }, {}) + 'outputs: {"name": "${web.name}"}\n');
  expect(await stack.preview("--diff")).toContain(`~ name: "${String(name)}" => "mine"`);
  expect(fixture.posts()).toBe(1);
});

test("if no delete can destroy a server, the printed command works for each change: a server that was let run stops none, and another one stops once", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack, control } = fixture;
  const change = async (flavorId: string) => {
    stack.program(oneInstance({ flavorId }));
    return printed(await stack.fail("up"), "pulumi up");
  };
  await stack.up();
  for (const flavorId of ["standard-4", "standard-8", "standard-16"])
    await stack.type(await change(flavorId));
  const letRun = fixture.ids().slice(0, -1);
  expect(letRun).toHaveLength(3);
  await stack.expectNothingToDo();

  const { outputs } = await stack.instance();
  const name = `${String(outputs?.["name"]).slice(0, -4)}aaaa`;
  const other = control.insert({ name, tokenKind: "live" });
  const stopped = await stack.typeFailing(await change("premium-8"));
  expect(stopped).toContain(other.id);
  for (const id of letRun) expect(stopped).not.toContain(id);
  expect(fixture.posts()).toBe(4);

  await stack.type(printed(stopped, "COMPUTE_LEFTOVERS"));
  await stack.type(await change("premium-16"));
  expect(fixture.posts()).toBe(6);
  await stack.expectNothingToDo();
});
