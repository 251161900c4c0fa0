/** `pulumi do`: what a person does without a program; a create makes one, and one only (G2). */
import { expect } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { oneInstance, required } from "../support/programs";
import { isOldest, plugin, tokens } from "../support/stack";
import { Fixture } from "../support/fixture";

const noDo = isOldest ? "the oldest engine has no `do`" : undefined;

const doing = (what: string) => ["do", "--package", plugin, "compute:index:Instance", what];

testUnless(noDo, "`pulumi do` lists instances without a program", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  for (const id of ["i-one", "i-two"]) fixture.service.control.insert({ id, name: `${id}-name` });
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);

  const { code, output } = await fixture.stack.run(...doing("list"));

  for (const text of ["i-one", "i-one-name", "i-two"]) expect(output).toContain(text);
  expect(code).toBe(0);
});

testUnless(
  noDo,
  "`pulumi do … create --stateless` twice, and two at once: each makes one, and is told of no other",
  async () => {
    await using fixture = await Fixture.create({ program: oneInstance(), token: tokens.live });
    const { stack, service } = fixture;
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
    expect(fixture.ids()).toHaveLength(4);
    expect(fixture.posts()).toBe(4);
  },
);
