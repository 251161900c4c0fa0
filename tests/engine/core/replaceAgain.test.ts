/** Tests `--replace` and `state taint` right after the create, which the engine does without a Diff. */
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "../support/fixture";
import { isOldest, tokens } from "../support/stack";
import { expectAgreement, printed } from "../support/typing";

const named = "new instances are created, although these may be left over from earlier creates";

const hows = isOldest ? ["--replace"] : ["--replace", "taint"];

test.each(hows)(
  "%s of an instance that was just created makes a second one, and destroys the first",
  async (how) => {
    await using fixture = await Fixture.create({
      token: tokens.live,
      config: { destroyPath },
      service: { destroyPath },
    });
    const { stack } = fixture;
    await stack.up();
    const { id, urn } = await stack.instance();

    if (how === "taint") await stack.succeed("state", "taint", urn, "--yes");
    const output = await stack.up(...(how === "taint" ? [] : ["--replace", urn]));

    expect(output).toContain("1 replaced");
    // The instance is named, because it looks like one that a killed run has left, and it is billed.
    expect(output).toContain(`warning: ${named}`);
    expect(output).toContain(`(${id})`);
    const now = await stack.instance();
    expect(now.id).not.toBe(id);
    expect(fixture.ids()).toEqual([now.id]);
  },
);

test.each(hows)(
  "%s of a live instance that no delete can destroy is refused, also with a typed policy, and works with both variables that the message then names",
  async (how) => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await stack.up();
    const { id, urn } = await stack.instance();
    const replacing = how === "taint" ? [] : ["--replace", urn];
    const taint = () => stack.succeed("state", "taint", urn, "--yes");
    if (how === "taint") await taint();

    const refused = await stack.fail("up", ...replacing);
    expect(refused).toContain("with the same options");
    expect(refused).toContain("docs/recover.md#leftovers");
    expect(fixture.ids()).toEqual([id]);
    if (how === "taint") {
      await stack.succeed("state", "untaint", urn, "--yes");
      await stack.expectNothingToDo();
      await taint();
    }

    // The policy alone does not say that the server was let run on purpose.
    const typed = (command: string) => [command, ...replacing].join(" ");
    const stopped = await stack.typeFailing(typed("COMPUTE_DELETE_POLICY=retain pulumi up"));
    expect(printed(stopped, "settle")).toBe(printed(refused, "settle"));
    expect(fixture.ids()).toEqual([id]);
    await stack.type(typed(printed(stopped, "COMPUTE_LEFTOVERS")));
    expect(fixture.ids()).toEqual([id, (await stack.instance()).id]);
    await stack.expectNothingToDo();
  },
);

test.each(hows)(
  "%s of a live instance: the command that the stop alone prints makes the second one, and that of the refused delete lets the first run",
  async (how) => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await stack.up();
    const { id = "", urn } = await stack.instance();
    if (how === "taint") await stack.succeed("state", "taint", urn, "--yes");
    const replacing = how === "taint" ? [] : ["--replace", urn];
    const stopped = await stack.fail("up", ...replacing);
    expect(stopped).toContain("If settle does not name it (a state has it");

    // Of a resource that is not tainted, `settle` can't know that it is to be replaced.
    const settled = await stack.type(printed(stopped, "settle"));
    expect(settled.includes(id)).toBe(how === "taint");
    const command = [printed(stopped, "COMPUTE_LEFTOVERS"), ...replacing].join(" ");
    const refused = await stack.typeFailing(command);
    expect(refused).toContain(`instance ${id} was not deleted`);
    await stack.type(printed(refused, "COMPUTE_DELETE_POLICY=retain pulumi up"));

    const [, second = ""] = fixture.ids();
    await expectAgreement(fixture, [second]);
    expect(fixture.ids()).toEqual([id, second]);
  },
);

test("--replace creates nothing with compute:leftovers fail, and works with warn, without a warning about a sandbox's leftover", async () => {
  await using fixture = await Fixture.create({ config: { leftovers: "fail" } });
  const { stack } = fixture;
  await stack.up();
  const { id, urn } = await stack.instance();

  const refused = await stack.fail("up", "--replace", urn);
  expect(refused).toContain(`(${id}):`);
  expect(fixture.ids()).toEqual([id]);

  const command = printed(refused, "pulumi up");
  const replaced = await stack.type(`${command} --replace '${urn}'`);
  expect(replaced).toContain(named);
  expect(replaced).not.toContain("warning:");
  expect(fixture.ids()).toEqual([id, (await stack.instance()).id]);
});
