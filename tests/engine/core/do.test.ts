/**
 * `pulumi do`: what a person does without a program, with a stack and without one. A create makes one instance and one
 * only (G2), a kill loses none (G1), and what can't be done is not reported as done (G4).
 */
import { expect, test } from "@jest/globals";
import { installPlugin } from "../../../tools/build";
import { describeUnless } from "../../../tools/support/unless";
import { Fixture, type FixtureOptions } from "../support/fixture";
import { gone } from "../support/processes";
import { required } from "../support/programs";
import { isOldest, plugin, recordsOf, tokens } from "../support/stack";

const noDo = isOldest ? "the oldest engine has no `do`" : undefined;
const never = { kind: "neverLeavesProvisioning" } as const;
const creates = { method: "POST", path: "/v2/instances" } as const;

/** The required inputs as flags. */
const flags = Object.entries(required).map(
  ([name, value]) =>
    `--${name.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}=${String(value)}`,
);

/** The command line of `pulumi do` without a stack, which finds the plugin by its path. */
const withPlugin = ["do", "--package", plugin];
const doing = (...args: string[]) => [...withPlugin, "compute:index:Instance", ...args];
const creating = doing("create", "--stateless", "--yes", ...flags);

/** A stack without a program. The commands without a stack take the address from the environment. */
async function begun(options: Omit<FixtureOptions, "program"> = {}): Promise<Fixture> {
  const fixture = await Fixture.create({ program: "resources: {}\n", ...options });
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  return fixture;
}

describeUnless(noDo, "`pulumi do`", () => {
  test("without a stack: list, read and functions answer; patch, upsert and delete say that they can't, and change nothing", async () => {
    await using fixture = await begun();
    const { stack, service } = fixture;
    for (const id of ["i-two", "i-one"]) service.control.insert({ id, name: `${id}-name` });
    const one = JSON.stringify([{ id: "i-one", name: "i-one-name" }], undefined, 2);
    const changing = ["--stateless", "--yes"];

    const cases: [args: string[], isDone: boolean, output: string][] = [
      [doing("list"), true, '"i-two-name"'],
      [doing("list", "--count", "1"), true, one],
      [doing("read", "i-one"), true, '"i-one-name"'],
      [doing("read", "i-three"), false, 'has the id "i-three"'],
      [[...withPlugin, "compute:index:getInstance"], false, "give either id or name, and not both"],
      [doing("patch", "i-one", "--name=x", ...changing), false, "name can't be changed"],
      [
        doing("upsert", "i-one", ...flags, ...changing),
        false,
        "flavorId, imageId, vpcId would change",
      ],
      [doing("delete", "i-one", ...changing), false, "i-one still exists. It was not deleted"],
    ];
    for (const [args, isDone, output] of cases) {
      const outcome = await stack.run(...args);
      expect(outcome.output).toContain(output);
      expect(outcome.code === 0).toBe(isDone);
    }

    expect(fixture.posts()).toBe(0);
  });

  test("`pulumi do … create --stateless` twice, and two at once: each makes one, and is told of no other", async () => {
    await using fixture = await begun({ token: tokens.live });
    const create = () => fixture.stack.run(...creating);

    const runs = [await create(), await create(), ...(await Promise.all([create(), create()]))];

    for (const { code, output } of runs) {
      expect(output).not.toMatch(/warning|left over|discard/);
      expect(code).toBe(0);
    }
    expect(fixture.ids()).toHaveLength(4);
    expect(fixture.posts()).toBe(4);
  });

  test.concurrent(
    "with a stack: create, patch (which replaces), upsert of what is there, and delete",
    async () => {
      await using fixture = await begun();
      const { stack } = fixture;
      installPlugin(stack.home);
      const run = (...args: string[]) => stack.succeed("do", "compute:index:Instance", ...args);

      await run("create", "web", "--yes", ...flags);
      const [first] = fixture.ids();
      expect((await stack.instance()).id).toBe(first);

      expect(await run("patch", "web", "--yes", "--flavor-id=standard-4")).toContain(
        `instance ${first} is dropped from the state, not destroyed`,
      );
      const replacement = await stack.instance();
      expect(replacement).toMatchObject({
        id: fixture.ids()[1],
        inputs: { flavorId: "standard-4" },
      });

      await run("upsert", "web", "--yes", ...flags, "--flavor-id=standard-4");
      expect((await stack.instance()).id).toBe(replacement.id);
      expect(fixture.posts()).toBe(2);

      expect(await run("delete", "web", "--yes")).toContain(
        `instance ${replacement.id} is dropped from the state, not destroyed`,
      );
      expect(await stack.instances()).toEqual([]);
    },
  );

  test.concurrent(
    "killed with a stack, and two at once: the lock stops the second, and the create goes on with the same instance",
    async () => {
      await using fixture = await begun({ service: { provisioningSeconds: Infinity } });
      const { stack, service } = fixture;
      installPlugin(stack.home);
      const run = (what: string, name: string) =>
        stack.start("do", "compute:index:Instance", what, name, "--yes", ...flags);
      const running = run("create", "web");
      await running.printed("PROVISIONING");

      const second = await run("create", "other").ended;
      expect(second.output).toContain("the stack is currently locked");
      expect(second.code).not.toBe(0);
      await gone(await running.killEngine("SIGKILL"));
      await stack.succeed("cancel", "--yes");
      service.control.settle();

      const [id] = fixture.ids();
      // The engine saves what was asked for before it creates, so `create` would be refused.
      const { output } = await run("upsert", "web").ended;
      expect(output).toContain(`an earlier run created ${id}`);
      expect((await stack.instance()).id).toBe(id);
      expect(fixture.posts()).toBe(1);
    },
  );

  test.concurrent.each(["POST", "wait"])(
    "killed without a stack during the %s: the next create names the instance, and is another one",
    async (when) => {
      await using fixture = await begun();
      const { stack, service } = fixture;
      const kind = when === "POST" ? ({ kind: "hang", acted: true } as const) : never;
      const fault = service.control.fault({ ...creates, ...kind });
      const running = stack.start(...creating);
      if (when === "POST") await running.reached(fault.firstHit);
      else await running.printed("PROVISIONING");

      const plugins = await running.killEngine("SIGKILL");
      fault.release();
      await gone(plugins);

      const [id] = fixture.ids();
      const { output } = await stack.run(...creating);
      expect(output).toContain(`instance ${id} at ${service.url}`);
      expect(output).toContain(`pulumi import compute:index:Instance Instance ${id}`);
      expect(fixture.posts()).toBe(2);

      const discard = /forget it with `(.*?)`/.exec(output)?.[1] ?? "";
      expect((await stack.type(discard)).code).toBe(0);
      expect(recordsOf(stack).find((record) => record.id === id)?.stage).toBe("settled");
    },
  );
});
