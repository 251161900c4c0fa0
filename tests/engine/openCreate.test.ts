/** A create that is not answered well: exactly one instance comes of it, or an error that says so (G2). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "./support/programs";
import { World } from "./support/world";

const creates = { method: "POST", path: "/v2/instances" } as const;

test("answered 503 before the service acted: made once more, and exactly one instance comes of it", async () => {
  await using world = await World.create({ program: oneInstance() });
  world.service.control.fault({ ...creates, kind: "status", status: 503 });

  const { code } = await world.stack.up();

  expect(code).toBe(0);
  expect(world.posts()).toBe(2);
  expect(world.ids()).toEqual([(await world.stack.instance()).id]);
});

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

test("an answer cut after the service acted: the instance is adopted, and no other made", async () => {
  await using world = await World.create({ program: oneInstance() });
  world.service.control.fault({ ...creates, kind: "cutBody" });

  const { code } = await world.stack.up();

  expect(code).toBe(0);
  expect(world.posts()).toBe(1);
  expect(world.ids()).toEqual([(await world.stack.instance()).id]);
  const again = await world.stack.run("up", "--yes", "--skip-preview", "--expect-no-changes");
  expect(again.code).toBe(0);
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

test("an instance that turns up late, after the create was made again, is named", async () => {
  await using world = await World.create({
    program: oneInstance({ name: "web-main" }),
    // It turns up after the settling time of 1 s, and before the second one is ready.
    service: { provisioningSeconds: 4 },
  });
  world.service.control.fault({ ...creates, kind: "status", status: 503, acted: true });
  world.service.control.fault({ ...creates, kind: "appearsAfter", seconds: 3 });

  const { code, output } = await world.stack.up();

  expect(code).toBe(0);
  const [late, own] = world.ids();
  expect((await world.stack.instance()).id).toBe(own);
  expect(output).toMatch(new RegExp(`warning: .*another instance named "web-main".*${late}`));
  expect(world.posts()).toBe(2);
});

test("429 is waited out, and fails nothing", async () => {
  await using world = await World.create({ program: oneInstance() });
  world.service.control.fault({ ...creates, kind: "status", status: 429, times: 2, retryAfter: 0 });

  const { code } = await world.stack.up();

  expect(code).toBe(0);
  expect(world.posts()).toBe(3);
  expect(world.ids()).toHaveLength(1);
});
