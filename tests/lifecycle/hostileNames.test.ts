/**
 * Names and user data that hold anything Unicode has: what goes to the service is what the program
 * says, byte by byte, and the next run sees no change; or Check says what is wrong with it. No message gets a line or a control character of theirs (G8).
 */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { CheckResponse } from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import { propertyMap, Secret, Unknown } from "../../provider/property/value";
import { unknownTexts } from "../../provider/rpc/wire";
import { printable } from "../../provider/text";
import { instanceToken } from "../../provider/tokens";
import { expectShown, quick, service } from "./fixtures/hostilePlugin";
import { ask, bytesField, struct, text } from "./fixtures/hostileWire";
import { inputs, urnOf, type Program } from "./support/stack";
import { liveToken, withWorld, type World } from "./support/world";

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 25);

/** One text of each thing that has gone wrong somewhere. */
const texts = [
  ...["\0", "a\0b", "a\nb", "a\r\nb", "\t", " ", " a ", "\u0085", "\u2028", "\ufeff", "\u001b[2J"],
  ...[
    "\u202egnp.exe",
    "שלום",
    "مرحبا",
    "e\u0301",
    "é",
    "\u1100\u1161\u11a8",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯",
    "ß",
    "İ",
    "ı",
    "ǅ",
    "ﬀ",
  ],
  ...["👩‍👩‍👧‍👦", "🏳️‍🌈", "🇺🇳", "1️⃣", "\u{10ffff}", "\u{e0001}", "\u{2f800}", "\ufffe", "\uffff", "\ue000"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "null", "undefined"],
  ...["<id>", "{id}", "%s%n", "$(id)", "`id`", "'", '"', "\\", "/", "..", "../../account", "*"],
];
const anyText = fc.oneof(
  fc.constantFrom(...texts),
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
);
const anyInputs = fc.record(
  {
    name: anyText,
    flavorId: anyText,
    imageId: anyText,
    sshKeys: fc.array(anyText, { maxLength: 3 }),
    userData: fc.oneof(anyText, fc.constant("")),
  },
  { requiredKeys: ["name"] },
);
type Given = typeof anyInputs extends fc.Arbitrary<infer T> ? T : never;

const programOf = (all: readonly Given[]): Program =>
  Object.fromEntries(
    all.map(({ userData, ...rest }, n) => [
      `web-${n}`,
      inputs({ ...rest, ...(userData === undefined ? {} : { userData: new Secret(userData) }) }),
    ]),
  );

/** Up, up again, refresh, and up once more: made as asked for, and nothing changes after that. */
async function expectKept(world: World, all: readonly Given[]): Promise<void> {
  const { stack } = world;
  stack.beAnother();
  const plugin = await world.plugin(quick);
  const program = programOf(all);
  const names = Object.keys(program);
  expect((await stack.up(plugin, program)).failed).toEqual({});
  for (const [n, given] of all.entries()) {
    const held = stack.held(`web-${n}`);
    const request = world.service.control.instance(held.id)?.request;
    expect(request).toMatchObject({
      name: given.name,
      flavor_id: given.flavorId ?? "kvm-1",
      image_id: given.imageId ?? "debian-13",
    });
    expect(request?.ssh_keys ?? []).toEqual(given.sshKeys ?? []);
    const sent = Buffer.from(request?.user_data ?? "", "base64");
    expect(sent.equals(Buffer.from(given.userData ?? ""))).toBe(true);
    // As the list shows it, without what a terminal would obey.
    expect(held.outputs).toMatchObject({ name: printable(given.name), status: "ACTIVE" });
  }
  const same = names.map((name) => `same ${name}`).sort();
  expect((await stack.up(plugin, program)).did.sort()).toEqual(same);
  expect((await stack.refresh(plugin)).did.sort()).toEqual(
    names.map((name) => `read ${name}`).sort(),
  );
  expect((await stack.up(plugin, program)).did.sort()).toEqual(same);
  for (const { message } of plugin.logged) expectShown(message);
  await world.leave(plugin);
  plugin.stop();
}

test.each([
  ["each by itself", texts.map((name): Given => ({ name, userData: name }))],
  [
    "as keys and ids",
    texts.map((odd): Given => ({ name: "web", flavorId: odd, imageId: odd, sshKeys: [odd] })),
  ],
])("the odd texts there are, %s, go to the service as they are", async (_, all) => {
  await withWorld(service, (world) => expectKept(world, all));
});

test("any text goes to the service as it is, and two runs after it show no change", async () => {
  await withWorld(service, async (world) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyInputs, { minLength: 4, maxLength: 4 }), (all) =>
        expectKept(world, all),
      ),
      { numRuns: runs },
    );
  });
});

test("resources of any name are told apart", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    const program: Program = Object.fromEntries(
      texts.filter((name) => name !== "__proto__").map((name) => [name, inputs()]),
    );
    Object.defineProperty(program, "__proto__", { value: inputs(), enumerable: true });
    const first = await world.stack.up(plugin, program);
    expect(first.failed).toEqual({});
    expect(first.did).toHaveLength(texts.length);
    expect(new Set(world.stack.ids).size).toBe(texts.length);
    world.expectAllHeld();
    const again = await world.stack.up(plugin, program);
    expect(again.did.every((did) => did.startsWith("same "))).toBe(true);
  });
});

test("a megabyte of any bytes in Base64 arrives as they are", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    const bytes = Buffer.from(Array.from({ length: 2 ** 20 }, (_, n) => (n * 7919) % 251));
    const program = { web: inputs({ userDataBase64: new Secret(bytes.toString("base64")) }) };
    expect((await world.stack.up(plugin, program)).failed).toEqual({});
    const sent = world.instances[0]?.request.user_data ?? "";
    expect(Buffer.from(sent, "base64").equals(bytes)).toBe(true);
    expect((await world.stack.up(plugin, program)).did).toEqual(["same web"]);
  });
});

test("text that is no Unicode is refused at Check, with the reason, and an empty name too", async () => {
  await withWorld(service, async (world) => {
    const { client } = await world.plugin(quick);
    const check = (name: Uint8Array | string) =>
      ask(
        client,
        "Check",
        Buffer.concat([
          bytesField(1, urnOf("web")),
          bytesField(3, struct([["name", bytesField(3, name)], ...needed])),
          bytesField(7, instanceToken),
        ]),
      );
    const needed = ["flavorId", "imageId", "vpcId"].map((key) => [key, text("x")] as const);
    for (const hex of ["eda080", "edb080", "c080", "ff", "f0"]) {
      const { error } = await check(Buffer.from(hex, "hex"));
      expect(error).toMatchObject({
        code: status.INVALID_ARGUMENT,
        message: expect.stringContaining("a text that is not UTF-8"),
      });
    }
    const { replies } = await check("");
    const failures = replies.flatMap((it) => CheckResponse.deserializeBinary(it).getFailuresList());
    expect(failures.map((failure) => failure.toObject())).toEqual([
      { property: "name", reason: "must not be empty" },
    ]);
    expect(world.posts).toBe(0);
  });
});

test("an instance that reads like Pulumi's unknown value spoils nothing, and is kept as it is", async () => {
  const destroyPath = "/v2/instances/{id}";
  await withWorld({ ...service, destroyPath }, async (world) => {
    const { control } = world.service;
    const [first = "", ...others] = unknownTexts;
    for (const text of others) control.insert({ name: text, id: `i-${text}` });
    control.insert({ name: first, id: first });
    const plugin = await world.plugin({ ...quick, destroyPath, deletePolicy: "destroy" });
    const { client } = plugin;

    const { outputs } = await client.invoke("compute:index:getInstances", propertyMap({}));
    expect(outputs["complete"]).toBe(true);
    expect(outputs["instances"]).toHaveLength(unknownTexts.size);
    expect(outputs["instances"]).toContainEqual(
      expect.objectContaining({ id: first, name: first }),
    );
    expect(await client.list(instanceToken)).toHaveLength(unknownTexts.size);

    const { stack } = world;
    for (const id of [first, `i-${others[0]}`]) {
      expect((await stack.import(plugin, id, id)).failed).toEqual({});
      expect(unknownTexts.has(stack.held(id).id)).toBe(false);
    }
    const before = [...stack.resources.entries()];
    expect((await stack.refresh(plugin)).did.sort()).toEqual(
      before.map(([name]) => `read ${name}`).sort(),
    );
    expect([...stack.resources.entries()]).toEqual(before);
    expect(world.ids).toHaveLength(unknownTexts.size);
    expect((await stack.destroy(plugin)).failed).toEqual({});
    expect(world.ids).toHaveLength(unknownTexts.size - 2);
    const preview = await client.create({ inputs: inputs({ name: Unknown.value }), preview: true });
    expect(preview.outputs["name"]).toBe(Unknown.value);
  });
});

test("an id, a name and a status of several lines make no line of their own in any message", async () => {
  const forged = "\nerror: forged\u2028error: forged\u0085error: forged\r";
  await withWorld(service, async (world) => {
    const { control } = world.service;
    for (const id of ["i-1", "i-2"]) {
      control.insert({ id, name: `web${forged}`, tokenKind: "live" });
    }
    const id = "i-1";
    const plugin = await world.plugin({ ...quick, apiToken: liveToken });
    const { stack } = world;
    expect((await stack.import(plugin, "web", id)).failed).toEqual({});
    await stack.destroy(plugin);
    for (const state of ["PROVISIONING", `odd${forged}`, "OFFLINE"]) {
      control.setStatus(id, state);
      // A run of its own: one process shares its listings for a while.
      await stack.refresh(await world.plugin({ ...quick, apiToken: liveToken }));
    }
    await stack.up(plugin, { web: inputs({ name: "other" }) });
    for (const args of [{ name: `web${forged}` }, { id: `none${forged}` }]) {
      const error = await plugin.client
        .invoke("compute:index:getInstance", propertyMap(args))
        .then(() => "", String);
      expect(error).toContain("instance");
      stack.told.push(error);
    }
    expect(stack.ids).toEqual([id]);
    // An id like that is none that could be told or typed: its item is not read.
    control.insert({ id: `i-3${forged}`, name: "odd", tokenKind: "live" });
    const next = await world.plugin({ ...quick, apiToken: liveToken });
    const odd = await stack.import(next, "odd", `i-3${forged}`);
    expect(odd.failure.message).toMatch(/an item that can't be read/);
    await plugin.allWarnings();
    const said = [...stack.told, ...world.plugins.flatMap(({ warnings }) => warnings)];
    expect(said.some((text) => text.includes("still PROVISIONING"))).toBe(true);
    expect(said.some((text) => text.includes("has the status"))).toBe(true);
    expect(said.some((text) => text.includes("is OFFLINE"))).toBe(true);
    for (const text of said) expectShown(text);
    expect(said.filter((text) => text.includes("error: forged")).length).toBeGreaterThan(4);
  });
});

test.each([".", ".."])(
  "an id of %j is destroyed by nobody, and the message says why",
  async (id) => {
    const destroyPath = "/v2/instances/{id}";
    await withWorld({ ...service, destroyPath }, async (world) => {
      world.service.control.insert({ id, name: "web" });
      const plugin = await world.plugin({ ...quick, destroyPath, deletePolicy: "destroy" });
      await world.stack.import(plugin, "web", id);
      const { failure } = await world.stack.destroy(plugin);
      expect(failure.message).toBe(
        `instance ${id} was not destroyed: DELETE /v2/instances/${id}: this id can't be part of a path. Nothing was sent. Remove the instance at the service (its portal), then run this again.`,
      );
      expect(Object.keys(world.service.counts()).filter((it) => it.startsWith("DELETE"))).toEqual(
        [],
      );
      world.expectAllHeld();
    });
  },
);

test("an instance of an odd name whose POST was lost is named by the create and by the next run", async () => {
  await withWorld(service, async (world) => {
    const program = { web: inputs({ name: "web\u001b[2J\nevil" }) };
    world.service.control.fault({ kind: "reset", method: "POST", acted: true });
    for (let run = 0; run < 2; run++) {
      const { failure } = await world.stack.up(await world.plugin(quick), program);
      expect(failure.message).toContain(`pulumi import compute:index:Instance web ${world.ids[0]}`);
      expectShown(failure.message);
    }
    expect(world.posts).toBe(1);
  });
});
