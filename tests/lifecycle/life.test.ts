/** Tests the life of one instance, and 25 creates at once, and counts their requests. */
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/propertyValue";
import { inputs, lasting } from "./support/stack";
import { until, userData, withWorld } from "./support/world";

const account = "GET /v2/account";

test("an instance is created with one POST, unchanged by a second up and a refresh, and dropped by a destroy", async () => {
  await withWorld({}, async (world) => {
    const { stack, service } = world;
    const plugin = await world.plugin();
    const program = { web: inputs({ sshKeys: ["b", "a"], userData: new Secret(userData) }) };
    expect((await stack.up(plugin, program)).did).toEqual(["create web"]);
    const [instance] = world.instances;
    const { id, outputs } = stack.held();
    expect(id).toBe(instance?.id);
    expect(instance?.request).toEqual({
      name: expect.stringMatching(/^web-[a-z2-7]{8}$/),
      flavor_id: "kvm-1",
      image_id: "debian-13",
      vpc_id: "vpc-1",
      ssh_keys: ["b", "a"],
      user_data: Buffer.from(userData).toString("base64"),
    });
    expect(outputs).toMatchObject({
      name: instance?.name,
      status: "ACTIVE",
      ipv4: instance?.ipv4_public,
      privateIpv4: instance?.networks[0]?.ipv4,
      createdAt: instance?.created_at,
      tokenKind: "test",
    });
    expect(outputs["userData"]).toBeInstanceOf(Secret);

    const next = await world.plugin();
    expect((await stack.up(next, program)).did).toEqual(["same web"]);
    const before = stack.held();
    expect((await stack.refresh(next)).did).toEqual(["read web"]);
    expect(lasting(stack.held())).toEqual(lasting(before));
    expect((await stack.destroy(next)).failed).toEqual({});
    expect(stack.ids).toEqual([]);
    expect(await next.warning(/dropped from the state, not destroyed/)).toContain(id);
    expect(world.posts).toBe(1);
    expect(service.counts()[account]).toBe(2);
  });
});

test("25 creates at once send 25 POSTs, one account request, one listing before the POSTs, and few listings after them (G7)", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const { stack, service } = world;
    const plugin = await world.plugin({ pollIntervalSeconds: 0.2 });
    const names = Array.from({ length: 25 }, (_, n) => `web-${n}`);
    const running = stack.up(plugin, Object.fromEntries(names.map((name) => [name, inputs()])));
    await until(() => world.posts === names.length);
    service.control.settle();
    expect((await running).failed).toEqual({});
    world.expectAllHeld();
    expect(world.posts).toBe(names.length);
    expect(service.counts()[account]).toBe(1);
    const requests = service.control.requests();
    const order = requests.map(({ method, path }) => `${method} ${path}`);
    expect(order.slice(0, order.indexOf("POST /v2/instances"))).toEqual([
      account,
      "GET /v2/instances",
    ]);
    const times = requests.map(({ at }) => at);
    const seconds = (Math.max(...times) - Math.min(...times)) / 1000;
    expect(world.listings).toBeLessThanOrEqual(4 + seconds / 0.2);
  });
});
