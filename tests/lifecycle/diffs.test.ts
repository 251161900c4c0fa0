/** G5 and G9 through the wire: what a change would do, and what is wrong with inputs and settings. */
import { expect, test } from "@jest/globals";
import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { propertyMap, Secret, Unknown, type PropertyMap } from "../../provider/property/value";
import { CallFailed } from "../../provider/rpc/testing/failure";
import { inputs } from "./support/stack";
import { liveToken, userData, withWorld } from "./support/world";

const { UPDATE_REPLACE, ADD_REPLACE, DELETE_REPLACE, ADD } = PropertyDiff.Kind;
const all = {
  name: "web-1",
  flavorId: "f",
  imageId: "i",
  vpcId: "v",
  sshKeys: ["b", "a"],
  userData: new Secret(userData),
};

async function diff(oldInputs: PropertyMap, news: PropertyMap, oldOutputs = oldInputs) {
  let kinds: Record<string, number> = {};
  await withWorld({}, async (world) => {
    const { client } = await world.plugin();
    const reply = await client.diff({ id: "i-1", oldInputs, oldOutputs, news });
    kinds = Object.fromEntries(reply.detaileddiffMap.map(([name, { kind }]) => [name, kind]));
    const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
    expect(reply.changes).toBe(reply.detaileddiffMap.length === 0 ? DIFF_NONE : DIFF_SOME);
    expect(reply.hasdetaileddiff).toBe(true);
    expect(world.service.control.requests()).toEqual([]);
  });
  return kinds;
}

test.each(["name", "flavorId", "imageId", "vpcId", "sshKeys", "userData"] as const)(
  "a change of %s replaces, and says that it is the one",
  async (name) => {
    const changed = { ...all, [name]: name === "sshKeys" ? ["c"] : "other" };
    expect(await diff(propertyMap(all), propertyMap(changed))).toEqual({ [name]: UPDATE_REPLACE });
    const unknown = { ...all, [name]: Unknown.value };
    expect(await diff(propertyMap(all), propertyMap(unknown))).toEqual({ [name]: UPDATE_REPLACE });
  },
);

test("the order of keys, line endings and the form of the same script are no change", async () => {
  const { userData: _, ...rest } = all;
  const same = [
    { ...all, sshKeys: ["a", "b"] },
    { ...all, userData: new Secret(userData.replaceAll("\n", "\r\n")) },
    { ...rest, userDataBase64: new Secret(Buffer.from(userData).toString("base64")) },
  ];
  for (const news of same) expect(await diff(propertyMap(all), propertyMap(news))).toEqual({});
});

test("an input given or taken away replaces; one that an import could not know is recorded", async () => {
  const { sshKeys, ...rest } = all;
  const unset = propertyMap({ ...rest, sshKeys: null });
  expect(await diff(propertyMap(rest), propertyMap(all), unset)).toEqual({ sshKeys: ADD_REPLACE });
  expect(await diff(propertyMap({ ...rest, sshKeys }), propertyMap(rest))).toEqual({
    sshKeys: DELETE_REPLACE,
  });
  const imported = propertyMap({ name: "web-1" });
  expect(new Set(Object.values(await diff(imported, propertyMap(all))))).toEqual(new Set([ADD]));
});

test("delete-before-replace is asked for only where Delete would fail", async () => {
  await withWorld({}, async (world) => {
    const change = { id: "i-1", oldInputs: propertyMap(all), news: inputs() };
    for (const [settings, first] of [
      [{ apiToken: liveToken }, true],
      [{ apiToken: liveToken, deletePolicy: "retain" }, false],
      [{ apiToken: liveToken, destroyPath: "/v2/instances/{id}" }, false],
      [{}, false],
    ] as const) {
      const plugin = await world.plugin(settings);
      // As in an update; in a refresh the engine asks Diff without a Check before.
      await plugin.client.check({ olds: propertyMap(all), news: inputs() });
      const reply = await plugin.client.diff({ ...change, oldOutputs: propertyMap(all) });
      expect(reply.deletebeforereplace).toBe(first);
      const said = await plugin.allWarnings();
      expect(said).toHaveLength("destroyPath" in settings ? 0 : 1);
      for (const text of said) expect(text).toMatch(/^replacing instance i-1/);
    }
  });
});

test("settings never replace an instance", async () => {
  await withWorld({}, async (world) => {
    const { client } = await world.plugin();
    const olds = propertyMap({
      baseUrl: "https://a.example/v2",
      apiToken: new Secret("sk_live_1"),
    });
    const news = propertyMap({
      baseUrl: "https://b.example/v2",
      apiToken: new Secret("sk_test_2"),
    });
    const reply = await client.diffConfig({ olds, news });
    expect(reply.getReplacesList()).toEqual([]);
    expect(reply.getDiffsList().sort()).toEqual(["apiToken", "baseUrl"]);
  });
});

test("all errors of the inputs come at once, and no secret is named as a property", async () => {
  await withWorld({}, async (world) => {
    const { client } = await world.plugin();
    const news = propertyMap({
      flavorId: 7,
      imageId: "",
      sshKey: "x",
      userData: new Secret(userData),
      userDataBase64: new Secret("CanaryUserData!"),
    });
    const { failures } = await client.check({ news });
    const properties = failures.map(({ property }) => property);
    expect(properties.sort()).toEqual(["", "", "flavorId", "imageId", "sshKey", "vpcId"]);
    const reasons = failures.map(({ reason }) => reason).join("\n");
    expect(reasons).toMatch(/did you mean sshKeys\?/);
    expect(reasons).toMatch(/userDataBase64 must be Base64/);
    expect(reasons).not.toMatch(/Canary/);
  });
});

test.each([
  [{ baseUrl: "http://service.example/v2" }, /compute:baseUrl.*https/],
  [{ baseUrl: "https://service.example/" }, /compute:baseUrl.*\/v2/],
  [{ apiToken: "CanaryTokenWithoutPrefix" }, /compute:apiToken.*sk_live_/],
  [{ requireTokenKind: "live" }, /compute:requireTokenKind.*test/],
  [{ deletePolicy: "destroy" }, /compute:destroyPath/],
  [{ pollIntervalSeconds: "often" }, /compute:pollIntervalSeconds/],
  [{ polIntervalSeconds: 1 }, /compute:polIntervalSeconds.*pollIntervalSeconds/],
])(
  "settings that can't work (%j) are refused by name, without a request",
  async (settings, message) => {
    await withWorld({}, async (world) => {
      const error: unknown = await world.plugin(settings).catch((thrown: unknown) => thrown);
      if (!(error instanceof CallFailed)) throw error;
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/Canary/);
      expect(world.service.control.requests()).toEqual([]);
    });
  },
);
