/**
 * `pulumi do`: what a person does without a program, with a stack and without one. A create makes one instance and one
 * only (G2), a kill with a stack loses none (G1), and what can't be done is not reported as done (G4).
 */
import { expect, test } from "@jest/globals";
import { describeUnless } from "../../../tools/support/unless";
import { beginDoing, creating, doing, flags, noDo, unattended, withPlugin } from "../support/do";
import { never } from "../support/fixture";
import { tokens } from "../support/stack";

describeUnless(noDo, "`pulumi do`", () => {
  test("without a stack: list, read and functions answer; patch, upsert and delete say that they can't, and change nothing", async () => {
    await using fixture = await beginDoing();
    const { stack, control } = fixture;
    for (const id of ["i-two", "i-one"]) control.insert({ id, name: `${id}-name` });

    const done: [args: string[], output: string][] = [
      [doing("list"), '"i-two-name"'],
      [
        doing("list", "--count", "1"),
        JSON.stringify([{ id: "i-one", name: "i-one-name" }], undefined, 2),
      ],
      [doing("list", "--name-pattern", "I-TWO*", "--status", "ACTIVE"), '"id": "i-two"'],
      [doing("list", "--name-pattern", "nobody", "--status", "OFFLINE"), "[]"],
      [doing("read", "i-one"), '"i-one-name"'],
    ];
    for (const [args, output] of done) expect(await stack.succeed(...args)).toContain(output);
    const refused: [args: string[], output: string][] = [
      [doing("read", "i-three"), 'has the id "i-three"'],
      [doing("list", "--status", "GONE"), "status must be one of ACTIVE, OFFLINE, PROVISIONING"],
      [[...withPlugin, "compute:index:getInstance"], "give either id or name, and not both"],
      [doing("patch", "i-one", "--name=x", ...unattended), "i-one exists and was not changed"],
      [doing("upsert", "i-one", ...flags, ...unattended), "i-one exists and was not changed"],
      [doing("upsert", "i-none", ...flags, ...unattended), 'has the id "i-none"'],
      [doing("delete", "i-one", ...unattended), "i-one was not deleted: it still exists"],
    ];
    for (const [args, output] of refused) expect(await stack.fail(...args)).toContain(output);
    expect(fixture.posts()).toBe(0);
  });

  test("`pulumi do … create --stateless` twice, and two at once: each makes one, and is told of no other", async () => {
    await using fixture = await beginDoing({ token: tokens.live });
    const create = () => fixture.stack.succeed(...creating);

    const runs = [await create(), await create(), ...(await Promise.all([create(), create()]))];

    expect(runs.join("\n")).not.toMatch(/warning|left over|settle/);
    expect(fixture.ids()).toHaveLength(4);
    expect(fixture.posts()).toBe(4);
  });

  test.concurrent(
    "with a stack: create, patch (which replaces), upsert of what is there, and delete",
    async () => {
      await using fixture = await beginDoing();
      const { stack } = fixture;
      const run = (...args: string[]) =>
        stack.succeed("do", "compute:index:Instance", ...args, "--yes");

      await run("create", "web", ...flags);
      const [first] = fixture.ids();
      expect((await stack.instance()).id).toBe(first);

      const dropped = "1 instance is not destroyed";
      expect(await run("patch", "web", "--flavor-id=standard-4")).toContain(dropped);
      const [, second] = fixture.ids();
      const replacement = { id: second, inputs: { flavorId: "standard-4" } };
      expect(await stack.instance()).toMatchObject(replacement);

      await run("upsert", "web", ...flags, "--flavor-id=standard-4");
      expect(await stack.ids()).toEqual([second]);
      expect(fixture.posts()).toBe(2);

      expect(await run("delete", "web")).toContain(dropped);
      expect(await stack.instances()).toEqual([]);
    },
  );

  test.concurrent(
    "killed with a stack, and two at once: the lock stops the second, and the create goes on with the same instance",
    async () => {
      await using fixture = await beginDoing({ service: never });
      const { stack } = fixture;
      const run = (what: string, name: string) =>
        stack.start("do", "compute:index:Instance", what, name, "--yes", ...flags);
      const running = run("create", "web");
      await running.printed("PROVISIONING");

      expect(await run("create", "other").failed()).toContain("the stack is currently locked");
      await running.end("engine killed");
      await stack.succeed("cancel", "--yes");
      fixture.control.finishProvisioning();

      const [id] = fixture.ids();
      // The engine saves what was asked for before it creates, so `create` would be refused.
      expect(await run("upsert", "web").succeeded()).toContain(`an earlier run created ${id}`);
      expect((await stack.instance()).id).toBe(id);
      expect(fixture.posts()).toBe(1);
    },
  );
});
