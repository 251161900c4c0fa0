/** The functions and List, over the wire. */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { propertyMap, Secret } from "../../provider/property/value";
import { instanceType } from "../../provider/rpc/testing/client";
import { CallFailed } from "../../provider/rpc/testing/failure";
import { testToken, withWorld } from "./support/world";

const empty = propertyMap({});

async function failureOf(call: Promise<unknown>): Promise<CallFailed> {
  const error: unknown = await call.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof CallFailed) return error;
  throw error;
}

test("getInstance: by id, by exact name; an error if there is none or several", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    const { client } = await world.plugin();
    const { id, ipv4_public } = control.insert({ name: "db" });
    control.insert({ name: "db-2" });
    const twins = [control.insert({ name: "twin" }), control.insert({ name: "twin" })];
    const get = (args: Record<string, string>) =>
      client.invoke("compute:index:getInstance", propertyMap(args));
    const db = { id, name: "db", status: "ACTIVE", ipv4: ipv4_public };
    expect((await get({ id })).outputs).toEqual(propertyMap(db));
    expect((await get({ name: "db" })).outputs).toEqual(propertyMap(db));
    expect((await failureOf(get({ name: "d" }))).code).toBe(status.NOT_FOUND);
    expect((await failureOf(get({ id: "i-none" }))).code).toBe(status.NOT_FOUND);
    const several = await failureOf(get({ name: "twin" }));
    for (const twin of twins) expect(several.message).toContain(twin.id);
    expect((await get({})).failures).toHaveLength(1);
    expect((await get({ id, name: "db" })).failures).toHaveLength(1);
    expect((await get({ nam: "db" })).failures[0]?.reason).toMatch(/did you mean name\?/);
  });
});

test("getInstances: all, or of one status, and whether that is all there are", async () => {
  await withWorld({}, async (world) => {
    world.crowd(90);
    world.service.control.insert({ name: "off", status: "OFFLINE" });
    const list = async (args = empty) =>
      (await (await world.plugin()).client.invoke("compute:index:getInstances", args)).outputs;
    const offline = propertyMap({ status: "OFFLINE" });
    expect((await list())["instances"]).toHaveLength(91);
    expect((await list())["complete"]).toBe(true);
    expect((await list(offline))["instances"]).toHaveLength(1);
    world.service.control.insert({ name: "other", tenant: "other" });
    for (let n = 0; n < 20; n++) world.service.control.insert({ name: `more-${n}` });
    expect((await list())["complete"]).toBe(false);
    expect(await list(offline)).toMatchObject({ complete: true });
    const names = JSON.stringify(await list());
    expect(names).not.toContain('"other"');
  });
});

test("getAccount: the kind, the address, and all the service said as a secret", async () => {
  await withWorld({}, async (world) => {
    const { client } = await world.plugin();
    const get = async () => (await client.invoke("compute:index:getAccount", empty)).outputs;
    const known = { tokenKind: "test", baseUrl: world.service.url };
    const details = (await get())["details"];
    expect(await get()).toMatchObject(known);
    const said = details instanceof Secret ? details.value : undefined;
    if (typeof said !== "string") throw new Error("details is no secret text");
    expect(JSON.parse(said)).toMatchObject({ name: "default" });
    for (const text of ["", "fine", "<html>"]) {
      world.service.control.setAccount({ text });
      expect(await get()).toMatchObject(known);
    }
    world.service.control.declareToken(testToken, { state: "revoked" });
    expect((await failureOf(get())).message).toMatch(/revoked_token/);
  });
});

test("List: every instance with its name, as many as asked for, and a warning when there are more", async () => {
  await withWorld({}, async (world) => {
    world.crowd(3);
    const plugin = await world.plugin();
    expect((await plugin.client.list(instanceType)).map(({ id }) => id)).toEqual(world.ids);
    expect(await plugin.client.list(instanceType, empty, 2)).toHaveLength(2);
    expect(await plugin.client.list(instanceType, propertyMap({ status: "OFFLINE" }))).toEqual([]);
    expect(
      (await failureOf(plugin.client.list(instanceType, propertyMap({ status: "X" })))).message,
    ).toMatch(/must be one of/);
    expect(await plugin.allWarnings()).toEqual([]);
  });
  await withWorld({}, async (world) => {
    world.crowd(120);
    const plugin = await world.plugin();
    expect((await plugin.client.list(instanceType)).length).toBe(100);
    expect(await plugin.warning(/not complete/)).toBeTruthy();
  });
});

test("many lookups at once share one listing", async () => {
  await withWorld({}, async (world) => {
    world.crowd(20);
    const { client } = await world.plugin();
    const calls = world.ids.map((id) =>
      client.invoke("compute:index:getInstance", propertyMap({ id })),
    );
    expect(await Promise.all(calls)).toHaveLength(20);
    expect(world.listings).toBe(1);
  });
});
