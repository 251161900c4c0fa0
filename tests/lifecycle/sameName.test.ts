/** G2: POSTs of one name go one at a time, and each is told from the others. */
import { expect, test } from "@jest/globals";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

const lost = { kind: "reset", method: "POST", acted: true } as const;

test("the same explicit name twice at once: one after the other, an instance each", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    const program = { a: inputs({ name: "db" }), b: inputs({ name: "db" }) };
    control.fault({ kind: "delay", milliseconds: 200, acted: true, method: "POST" });
    expect((await world.stack.up(await world.plugin(), program)).failed).toEqual({});
    world.expectAllHeld();
    expect(world.instances).toHaveLength(2);
    expect(world.posts).toBe(2);
    const order = control.requests().map(({ method }) => method);
    const between = order.slice(order.indexOf("POST") + 1, order.lastIndexOf("POST"));
    expect(between).toContain("GET");
  });
});

test.each([1, 2])(
  "the same explicit name twice at once, %i answers lost: each adopts its own",
  async (times) => {
    await withWorld({}, async (world) => {
      const program = { a: inputs({ name: "db" }), b: inputs({ name: "db" }) };
      world.service.control.fault({ ...lost, times });
      expect((await world.stack.up(await world.plugin(), program)).failed).toEqual({});
      world.expectAllHeld();
      expect(new Set(world.stack.ids).size).toBe(2);
      expect(world.posts).toBe(2);
    });
  },
);

test("the same explicit name in two processes at once, both answers lost: nothing is claimed wrongly", async () => {
  await withWorld({}, async (world) => {
    world.service.control.fault({ ...lost, times: 2 });
    const program = (name: string) => ({ [name]: inputs({ name: "db" }) });
    const plugins = [await world.plugin(), await world.plugin()] as const;
    const [one, two] = await Promise.all([
      world.stack.up(plugins[0], program("a")),
      world.stack.up(plugins[1], { ...program("b") }),
    ]);
    expect(world.posts).toBe(2);
    expect(new Set(world.stack.ids).size).toBe(world.stack.ids.length);
    const named = [one, two].flatMap((run) => Object.values(run.failed)).join("\n");
    for (const id of world.ids) expect(world.stack.ids.join() + named).toContain(id);
  });
});
