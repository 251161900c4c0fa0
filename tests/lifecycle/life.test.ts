/** The whole life of an instance, and of many, with what it costs in requests. */
import { expect, test } from "@jest/globals";
import { propertyMap, Secret, Unknown } from "../../provider/propertyValue";
import { instanceUrn } from "../../provider/rpc/testing/client";
import { instanceToken } from "../../provider/pulumiNames";
import { inputs, lasting, urnOf } from "./support/stack";
import { until } from "./support/until";
import { liveToken, userData, withWorld } from "./support/world";

const account = "GET /v2/account";

test("check, create, no difference, unchanged refresh, delete: one POST, and the state holds it all", async () => {
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

test("a preview makes no request at all, whatever is still unknown", async () => {
  await withWorld({}, async (world) => {
    const { client } = await world.plugin();
    const news = inputs({ vpcId: Unknown.value, userData: Unknown.value });
    const checked = await client.check({ news });
    expect(checked.failures).toEqual([]);
    const { outputs } = await client.create({ inputs: checked.inputs, preview: true });
    expect(outputs).toMatchObject({ flavorId: "kvm-1", vpcId: Unknown.value, tokenKind: "test" });
    for (const name of ["status", "ipv4", "networks", "privateIpv4", "createdAt"])
      expect(outputs[name]).toBe(Unknown.value);
    const old = { id: "i-1", oldInputs: inputs(), oldOutputs: inputs() };
    await client.diff({ ...old, news });
    await client.update({ ...old, news, preview: true });
    const unknown = propertyMap({ baseUrl: Unknown.value, apiToken: Unknown.value });
    expect((await client.checkConfig({ news: unknown })).failures).toEqual([]);
    expect(world.service.control.requests()).toEqual([]);
  });
});

test("25 creates at once: as many POSTs, one account call, one baseline listing, and few looks (G7)", async () => {
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

test("functions and List answer over gRPC", async () => {
  await withWorld({}, async (world) => {
    const { id } = world.service.control.insert({ name: "db" });
    const { client } = await world.plugin();
    const invoke = async (name: string, args = {}) => {
      const { outputs, failures } = await client.invoke(`compute:index:${name}`, propertyMap(args));
      expect(failures).toEqual([]);
      return outputs;
    };
    expect(await invoke("getInstance", { id })).toMatchObject({ name: "db" });
    expect((await invoke("getInstances"))["instances"]).toHaveLength(1);
    expect(await invoke("getAccount")).toMatchObject({ tokenKind: "test" });
    expect(await client.list(instanceToken)).toMatchObject([{ id }]);
  });
});

test("what a program claims of an imported instance is recorded in place, not replaced", async () => {
  await withWorld({}, async (world) => {
    const { stack, service } = world;
    const { id } = service.control.insert({ name: "db" });
    const plugin = await world.plugin();
    expect((await stack.import(plugin, "web", id)).failed).toEqual({});
    const program = { web: inputs({ name: "db", userData: new Secret(userData) }) };
    expect((await stack.up(plugin, program)).did).toEqual(["update web"]);
    expect(await plugin.warning(/imported instance/)).toMatch(/flavorId.*userData/);
    expect((await stack.up(plugin, program)).did).toEqual(["same web"]);
    const checked = await plugin.client.check({ urn: urnOf("web"), news: program.web });
    expect(checked.inputs["userData"]).toBeInstanceOf(Secret);
    expect(stack.ids).toEqual([id]);
    expect(world.posts).toBe(0);
  });
});

test("with a live token a delete fails, and a replacement fails before a second server is made", async () => {
  await withWorld({}, async (world) => {
    const { stack } = world;
    await stack.up(await world.plugin({ apiToken: liveToken }), { web: inputs() });
    const plugin = await world.plugin({ apiToken: liveToken });
    const { id } = stack.held();
    const replaced = await stack.up(plugin, { web: inputs({ flavorId: "kvm-2" }) });
    expect(replaced.failure.message).toContain(`replacing instance ${id} will fail`);
    const { failure } = await stack.destroy(plugin);
    expect(failure.message).toMatch(/still exists and is billed/);
    expect(failure.message).toMatch(/compute:deletePolicy retain/);
    expect(failure.message).toMatch(/compute:destroyPath/);
    expect(failure.message).toContain(`pulumi state delete ${instanceUrn}`);
    world.expectAllHeld();
    expect(world.posts).toBe(1);
  });
});
