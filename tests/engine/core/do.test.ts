/** `pulumi do`: what a person does without a program; a create makes one, and one only (G2). */
import { expect } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { oneInstance, required } from "../support/programs";
import { isOldest, plugin, tokens } from "../support/stack";
import { World } from "../support/world";

const noDo = isOldest ? "the oldest engine has no `do`" : undefined;

const doing = (what: string) => ["do", "--package", plugin, "compute:index:Instance", what];

testUnless(noDo, "`pulumi do` lists instances without a program", async () => {
  await using world = await World.create({ program: oneInstance() });
  for (const id of ["i-one", "i-two"]) world.service.control.insert({ id, name: `${id}-name` });
  world.stack.setEnv("COMPUTE_BASE_URL", world.service.url);

  const { code, output } = await world.stack.run(...doing("list"));

  for (const text of ["i-one", "i-one-name", "i-two"]) expect(output).toContain(text);
  expect(code).toBe(0);
});

testUnless(
  noDo,
  "`pulumi do … create --stateless` twice, and two at once: each makes one, and is told of no other",
  async () => {
    await using world = await World.create({ program: oneInstance(), token: tokens.live });
    const { stack, service } = world;
    stack.setEnv("COMPUTE_BASE_URL", service.url);
    const flags = Object.entries(required).flatMap(([name, value]) => [
      `--${name.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}`,
      String(value),
    ]);
    const create = () => stack.run(...doing("create"), "--stateless", "--yes", ...flags);

    const runs = [await create(), await create(), ...(await Promise.all([create(), create()]))];

    for (const { code, output } of runs) {
      expect(output).not.toMatch(/warning|left over|discard/);
      expect(code).toBe(0);
    }
    expect(world.ids()).toHaveLength(4);
    expect(world.posts()).toBe(4);
  },
);
