/**
 * Tests what is made when a flavor is sold out: with `fallbackFlavorIds`, and with the error hook of docs/instance.md, which
 * repeats a create only after the refusal that it names. No server is made twice (G2).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { blocksOf } from "../../tools/docs/markdown";
import { readPage } from "../../tools/docs/pages";
import { root } from "../../tools/support/paths";
import { Fixture } from "./support/fixture";
import { oneInstance } from "./support/programs";

/** With the Automation API the engine runs the program without a language host. That of these tests knows no error hooks. */
const run = `
import { LocalWorkspace } from "@pulumi/pulumi/automation";
const program = async () => import("./index");
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "instance-example", program }, { workDir: "." })
  .then((stack) => stack.up({ onOutput: console.log }))
  .catch((error) => {
    console.log(String(error));
    process.exitCode = 1;
  });
`;

const soldOut = {
  kind: "status",
  method: "POST",
  status: 422,
  code: "flavor_sold_out",
  message: "No instance of this flavor can be created at the moment.",
} as const;

/** Makes a stack with the program of the page, which waits no time between two tries. */
async function fixtureOfThePage(): Promise<Fixture> {
  const fixture = await Fixture.create({ program: join(root, "examples", "instance") });
  const { stack } = fixture;
  const [program] = blocksOf(readPage("docs/instance.md")).filter(
    ({ language }) => language === "ts",
  );
  writeFileSync(join(stack.project, "index.ts"), program?.text ?? "");
  writeFileSync(join(stack.project, "run.ts"), run);
  await stack.succeed("config", "set", "soldOutPauseSeconds", "0");
  return fixture;
}

const line = `'${process.execPath}' --import tsx run.ts`;

test("after two refusals because the flavor is sold out, the same up creates one server", async () => {
  await using fixture = await fixtureOfThePage();
  const { stack, control } = fixture;
  const refusals = control.fault({ ...soldOut, times: 2 });

  const output = await stack.type(line);

  expect(output.match(/web: sold out; next try in 0 s/g)).toHaveLength(2);
  expect(refusals.hits).toBe(2);
  expect(fixture.posts()).toBe(3);
  expect(fixture.ids()).toHaveLength(1);
  expect(await stack.ids()).toEqual(fixture.ids());
});

test("if the flavor stays sold out, up fails after ten refusals, and nothing was created", async () => {
  await using fixture = await fixtureOfThePage();
  const { stack, control } = fixture;
  control.fault({ ...soldOut, times: "always" });

  expect(await stack.typeFailing(line)).toContain("HTTP 422, code flavor_sold_out");

  expect(fixture.posts()).toBe(10);
  expect(fixture.ids()).toEqual([]);
  expect(await stack.instances()).toEqual([]);
});

// After an answered 500 the provider itself sends the POST again, once.
test.each([
  { failure: "a refusal with another code", fault: { code: "invalid_parameter" }, posts: 1 },
  { failure: "a 409, which leaves the outcome open", fault: { status: 409 }, posts: 1 },
  { failure: "two answers 500", fault: { status: 500 }, posts: 2 },
])("after $failure, the hook asks for no other try", async ({ fault, posts }) => {
  await using fixture = await fixtureOfThePage();
  const { stack, control } = fixture;
  control.fault({ ...soldOut, times: "always", ...fault });

  const output = await stack.typeFailing(line);

  expect(output).not.toContain("next try");
  expect(output).not.toContain("on-error hook");
  expect(fixture.posts()).toBe(posts);
  expect(fixture.ids()).toEqual([]);
});

test("with fallbackFlavorIds, the next flavor is taken, and neither a new list, nor a flavorId that names it, nor the first program again replaces the server", async () => {
  const program = (flavorId: string, fallbackFlavorIds: string[]) =>
    oneInstance({ flavorId, fallbackFlavorIds });
  await using fixture = await Fixture.create({ program: program("a", ["b", "c"]) });
  const { stack, control } = fixture;
  control.fault(soldOut);

  expect(await stack.up()).toContain("the instance has the flavor b, because a was refused");

  expect(control.instances().map(({ request }) => request.flavor_id)).toEqual(["b"]);
  const { outputs } = await stack.instance();
  expect(outputs).toMatchObject({ flavorId: "a", flavorIdUsed: "b" });
  await stack.expectNothingToDo();
  await stack.refresh("--expect-no-changes");
  for (const changed of [program("a", ["c"]), program("b", ["c"])]) {
    stack.program(changed);
    expect(await stack.up()).toContain("1 updated");
    expect((await stack.instance()).outputs).toMatchObject({ flavorIdUsed: "b" });
  }
  expect((await stack.instance()).outputs).toMatchObject({ flavorId: "b" });
  // Back to the program that made it. Only what was refused may stand before the flavor in use: a bigger one is an upgrade.
  stack.program(program("a", ["b", "c"]));
  expect(await stack.up()).toContain("1 updated");
  expect(fixture.posts()).toBe(2);
  for (const changed of [program("a", ["c"]), program("bigger", ["b"]), program("c", ["b"])]) {
    stack.program(changed);
    const replaces = changed === program("a", ["c"]) ? "1 unchanged" : "1 to replace";
    expect(await stack.preview()).toContain(replaces);
  }
});
