/** G2: POSTs of one name go one at a time, and each is told from the others. */
import { expect, test } from "@jest/globals";
import { impatient, Plugin } from "./support/plugin";
import { inputs, Stack } from "./support/stack";
import { testToken, withWorld } from "./support/world";

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
  "the same explicit name twice at once, %i answers lost: each is told of its own, and none is claimed",
  async (times) => {
    await withWorld({}, async (world) => {
      const program = { a: inputs({ name: "db" }), b: inputs({ name: "db" }) };
      world.service.control.fault({ ...lost, times });
      const { failed } = await world.stack.up(await world.plugin(), program);
      expect(Object.keys(failed)).toHaveLength(times);
      const told = Object.entries(failed).map(([name, { message }]) => {
        const id = world.ids.find((it) => message.includes(it));
        expect(message).toContain(`pulumi import compute:index:Instance ${name} ${id}`);
        return id;
      });
      expect([...told, ...world.stack.ids].sort()).toEqual([...world.ids].sort());
      expect(new Set(told).size).toBe(times);
      expect(world.posts).toBe(2);
    });
  },
);

test("two stacks on one machine, the same explicit name, one answer lost: the other's server is left alone (defect 5)", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    const program = { web: inputs({ name: "db" }) };
    const other = new Stack();
    const others = await Plugin.start(
      world.home,
      { baseUrl: world.service.url, apiToken: testToken },
      { scope: other.scope },
    );
    world.plugins.push(others);
    const hang = control.fault({ kind: "hang", method: "POST" });
    const running = world.stack.up(await world.plugin(impatient), program);
    await hang.firstHit;
    expect((await other.up(others, program)).failed).toEqual({});
    const { failure } = await running;
    expect(failure.unfinished).toBeUndefined();
    expect(world.stack.ids).toEqual([]);
    expect(other.ids).toEqual(world.ids);
    expect(world.posts).toBe(2);
  });
});

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
