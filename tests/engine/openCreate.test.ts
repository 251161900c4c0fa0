/** A create that is not answered well: exactly one instance comes of it, or an error that says so (G2). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "./support/programs";
import { World } from "./support/world";

const creates = { method: "POST", path: "/v2/instances" } as const;

test("answered 503 after the service acted: the instance is adopted, and no other made", async () => {
  await using world = await World.create({ program: oneInstance({ name: "web-main" }) });
  world.service.control.fault({ ...creates, kind: "status", status: 503, acted: true });

  const { code, output } = await world.stack.up();

  const [id] = world.ids();
  expect(output).toContain(`exactly one instance of that name has turned up since, ${id}`);
  expect(code).toBe(0);
  expect(world.posts()).toBe(1);
  expect((await world.stack.instance()).id).toBe(id);
});

test("no answer and no instance: nothing more is sent, and the next up looks before it creates", async () => {
  await using world = await World.create({ program: oneInstance() });
  world.service.control.fault({ ...creates, kind: "reset" });

  const { code, output } = await world.stack.up();

  expect(code).not.toBe(0);
  expect(output).toContain("Whether it was created is not known");
  expect(output).toContain("pulumi import compute:index:Instance web");
  expect(world.posts()).toBe(1);

  const again = await world.stack.up();
  expect(again.code).toBe(0);
  expect(world.posts()).toBe(2);
  expect(world.ids()).toEqual([(await world.stack.instance()).id]);
});
