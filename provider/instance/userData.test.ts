/** Tests of `compute:userDataInState`: what Check, Diff, Create and Update do if a state holds a hash of the user data (G8). */
import { expect, test } from "@jest/globals";
import { OperationFailed } from "../errors";
import {
  hasSecret,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type PropertyMap,
} from "../pulumi/propertyValue";
import { createProvider } from "../provider";
import type { Provider } from "../pulumi/calls";
import { answered, post, ready } from "../testing/fakeService";
import { heapAfterCollection } from "../testing/heap";
import { errorOf, inputsOf, liveToken, scene, scopeId, urnOf, type Scene } from "../testing/scene";
import { readUserData } from "./userData";

const urn = urnOf("web");
const script = "#!/bin/sh\necho canary\n";
const other = "#!/bin/sh\necho another canary\n";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const hashForm = /^sha256:[0-9a-f]{32}:[0-9a-f]{64}$/;
const hashOf = ({ userData = null }: PropertyMap) => reveal(userData) as string;
const seed = (byte: number) => new Uint8Array(32).fill(byte);
const noInputs = propertyMap({});

type Mode = "hash" | "secret";

interface Started extends Scene {
  provider: Provider;
  /** Calls Check without failures, and returns the inputs. */
  check: (news: PropertyMap, olds?: PropertyMap, randomSeed?: Uint8Array) => Promise<PropertyMap>;
  create: (inputs: PropertyMap) => ReturnType<Provider["create"]>;
  diff: (held: Held, news: PropertyMap) => ReturnType<Provider["diff"]>;
}

interface Held {
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
}

/** A process of the plugin. Another one with the same world has the same service. */
async function started(mode: Mode, world: Scene = scene()): Promise<Started> {
  const provider = createProvider(world.ctx);
  const args = propertyMap({
    baseUrl: "https://api.example.com/v2",
    apiToken: new Secret(liveToken),
    deletePolicy: "retain",
    userDataInState: mode,
  });
  await provider.configure({ args, scope: scopeId });
  return {
    ...world,
    provider,
    check: async (news, olds = noInputs, randomSeed = seed(1)) => {
      const { inputs, failures } = await provider.check({ urn, olds, news, randomSeed });
      expect(failures).toEqual([]);
      return inputs;
    },
    create: (inputs) => provider.create({ urn, inputs, timeoutSeconds: 0, preview: false }),
    diff: ({ id, inputs: oldInputs, outputs: oldOutputs }, news) =>
      provider.diff({ urn, id, oldInputs, oldOutputs, news }),
  };
}

/** Creates the instance, as one `pulumi up` does. Its process then ends. */
async function created(mode: Mode, news: PropertyMap): Promise<{ world: Scene; held: Held }> {
  const world = scene();
  world.service.posts.push(ready);
  const { check, create, provider } = await started(mode, world);
  const inputs = await check(news);
  const { id, outputs } = await create(inputs);
  provider.cancel("finished");
  return { world: world.nextRun(), held: { id, inputs, outputs } };
}

/** The texts that a process keeps, as messages show: it hides them. */
const isHidden = ({ ctx }: Scene, text = script) =>
  ctx.redactor.redact(text.trim()) !== text.trim().replaceAll("\n", " ");

const secretScript = inputsOf({ userData: new Secret(script) });

test.each([
  ["userData", inputsOf({ userData: script })],
  ["userDataBase64", inputsOf({ userDataBase64: new Secret(base64(script)) })],
] as const)(
  "the state holds %s as a hash, a secret, and the service gets the script",
  async (input, news) => {
    const { world, held } = await created("hash", news);
    for (const properties of [held.inputs, held.outputs]) {
      expect(hasSecret(properties[input])).toBe(true);
      expect(reveal(properties[input] ?? null)).toMatch(hashForm);
      expect(JSON.stringify(reveal(properties))).not.toContain("canary");
    }
    expect(world.service.bodies).toEqual([expect.objectContaining({ user_data: base64(script) })]);
    expect(JSON.stringify(world.session.ledger.all())).not.toContain("sha256:");
  },
);

test("the salt has 16 bytes, differs for each seed and resource, and is the same for the same seed, as `up --plan` needs", async () => {
  const { check, provider } = await started("hash");
  const first = await check(secretScript);
  expect(hashOf(await check(secretScript))).toBe(hashOf(first));
  const others = [
    await check(secretScript, noInputs, seed(2)),
    await check(secretScript, noInputs, new Uint8Array()),
    await check(secretScript, noInputs, new Uint8Array()),
  ];
  const request = { olds: noInputs, news: secretScript, randomSeed: seed(1) };
  others.push((await provider.check({ urn: urnOf("db"), ...request })).inputs);
  const hashes = [first, ...others].map(hashOf);
  expect(new Set(hashes).size).toBe(5);
  expect(hashes).toEqual(hashes.map(() => expect.stringMatching(hashForm)));
});

test.each([
  ["the same text", { userData: script }],
  ["the same text with other line endings", { userData: script.replaceAll("\n", "\r\n") }],
  ["the same bytes in Base64", { userDataBase64: base64(script) }],
])("%s keeps the hash, and changes nothing", async (_, news) => {
  const { world, held } = await created("hash", secretScript);
  const { check, diff } = await started("hash", world);

  const inputs = await check(inputsOf(news), held.inputs, seed(2));

  const [was, is] = [held.inputs, inputs].map(readUserData);
  expect(is).toMatchObject({ form: "hash", hash: was?.form === "hash" && was.hash });
  expect((await diff(held, inputs)).detailed).toEqual({});
});

test("another text gets another salt, and replaces. The new server gets it", async () => {
  const { world, held } = await created("hash", secretScript);
  const { check, diff, create } = await started("hash", world);
  const news = inputsOf({ userData: other });

  const inputs = await check(news, held.inputs, seed(2));
  expect((await diff(held, inputs)).detailed).toEqual({ userData: "update-replace" });

  // The engine calls Check again for a replacement, without the old inputs.
  world.service.posts.push(ready);
  await create(await check(news, noInputs, seed(2)));
  expect(world.service.bodies[1]).toMatchObject({ user_data: base64(other) });
  const saltOf = (properties: PropertyMap) => hashOf(properties).split(":")[1];
  expect(saltOf(inputs)).not.toBe(saltOf(held.inputs));
});

test.each<[Mode, Mode]>([
  ["secret", "hash"],
  ["hash", "secret"],
])(
  "switching from %s to %s replaces nothing, sends no request, and changes inputs and outputs in one update",
  async (from, to) => {
    const { world, held } = await created(from, secretScript);
    const { check, diff, provider } = await started(to, world);
    const requests = world.service.calls.length;

    const inputs = await check(inputsOf({ userData: script }), held.inputs, seed(2));
    // If a property was named, `replaceOnChanges` would make the engine replace the instance.
    expect(await diff(held, inputs)).toMatchObject({ detailed: {}, needsUpdate: true });
    const { id, inputs: oldInputs, outputs: oldOutputs } = held;
    const request = { urn, id, oldInputs, oldOutputs, news: inputs, timeoutSeconds: 0 };
    const previewed = await provider.update({ ...request, preview: true });
    const { outputs } = await provider.update({ ...request, preview: false });

    expect(previewed.outputs).toEqual(outputs);
    expect(outputs).toEqual({ ...oldOutputs, userData: inputs["userData"] });
    for (const properties of [inputs, outputs]) {
      expect(readUserData(properties)?.form).toBe(to === "hash" ? "hash" : "text");
    }
    expect(world.service.calls).toHaveLength(requests);
    expect(world.messages.warnings).toEqual([]);
    const after = { id, inputs, outputs };
    expect((await diff(after, await check(secretScript, inputs, seed(3)))).detailed).toEqual({});
  },
);

test.each<[Mode, Mode]>([
  ["secret", "hash"],
  ["secret", "secret"],
  ["hash", "hash"],
])(
  "from %s to %s, an update that gives the same script in the other input leaves nothing in the first one's output",
  async (from, to) => {
    const { world, held } = await created(from, secretScript);
    const { check, diff, provider } = await started(to, world);
    const news = inputsOf({ userDataBase64: base64(script) });

    const inputs = await check(news, held.inputs);
    expect(await diff(held, inputs)).toMatchObject({ detailed: {}, needsUpdate: true });
    const { id, inputs: oldInputs, outputs: oldOutputs } = held;
    const rest = { news: inputs, timeoutSeconds: 0, preview: false };
    const { outputs } = await provider.update({ urn, id, oldInputs, oldOutputs, ...rest });

    expect(outputs["userDataBase64"]).toEqual(inputs["userDataBase64"]);
    expect(outputs).not.toHaveProperty("userData");
  },
);

test("an imported instance gets the hash of the program's script", async () => {
  const { world, held } = await created("hash", secretScript);
  const { check, diff, provider } = await started("hash", world);
  const read = {
    urn,
    id: held.id,
    inputs: propertyMap({}),
    outputs: propertyMap({}),
    timeoutSeconds: 0,
  };
  const imported = await provider.read(read);
  if (!imported) throw new Error("nothing was read");

  const inputs = await check(secretScript, imported.inputs);
  expect((await diff(imported, inputs)).detailed).toMatchObject({ userData: "add" });
  const { id, inputs: oldInputs, outputs: oldOutputs } = imported;
  const rest = { news: inputs, timeoutSeconds: 0, preview: false };
  const { outputs } = await provider.update({ urn, id, oldInputs, oldOutputs, ...rest });

  expect(readUserData(outputs)).toMatchObject({ form: "hash", input: "userData" });
});

test("a script that is not known yet stays unknown, and changes the instance (G10)", async () => {
  const { world, held } = await created("hash", secretScript);
  const { check, diff } = await started("hash", world);
  const inputs = await check(inputsOf({ userData: new Secret(Unknown.value) }), held.inputs);
  expect(reveal(inputs["userData"] ?? null)).toBe(Unknown.value);
  expect((await diff(held, inputs)).detailed).toEqual({ userData: "update-replace" });
});

test.each<[Mode]>([["hash"], ["secret"]])(
  "with ignoreChanges and %s, a hash of which no text is there stays without a change, and a replacement is refused with the ways out",
  async (mode) => {
    const { world, held } = await created("hash", secretScript);
    const { check, diff } = await started(mode, world);
    const { userData } = held.inputs;

    const unchanged = await check(inputsOf({ userData: reveal(userData ?? null) }), held.inputs);
    expect((await diff(held, unchanged)).detailed).toEqual({});

    const changed = await check(inputsOf({ userData, flavorId: "flavor-2" }), held.inputs);
    const { message } = await errorOf(diff(held, changed));
    expect(message).toContain("can't be replaced with the script that it has");
    expect(message).toContain("take userData and userDataBase64 out of ignoreChanges");
    // A replacement that is not certain is only refused once it is.
    const later = await check(inputsOf({ userData, flavorId: Unknown.value }), held.inputs);
    expect((await diff(held, later)).detailed).toEqual({ flavorId: "update-replace" });
    expect(world.service.count("create")).toBe(1);
  },
);

test.each(["userData", "userDataBase64"])(
  "a program that gives another hash as %s is refused, in the preview too, and no server gets it as its script",
  async (input) => {
    const { world, held } = await created("hash", secretScript);
    const { provider, create } = await started("hash", world);
    const news = inputsOf({ [input]: held.inputs["userData"] });
    const elsewhere = await provider.check({ urn, olds: noInputs, news, randomSeed: seed(2) });
    expect(elsewhere.failures).toEqual([
      expect.stringContaining(`${input} is not a script, but a hash`),
    ]);
    expect(JSON.stringify(elsewhere.failures)).not.toContain("sha256:");
    expect(await errorOf(create(news))).toBeInstanceOf(OperationFailed);
    expect(world.service.count("create")).toBe(1);
  },
);

test("cloud-init's warnings are about the text, and not about the hash", async () => {
  const { world, held } = await created("hash", inputsOf({ userData: "hostname: canary" }));
  const isAbout = (text: string) => text.includes("cloud-init would ignore userData");
  const { check, messages } = await started("hash", world);
  await check(inputsOf({ userData: "hostname: canary" }), held.inputs);
  expect(messages.warnings.filter(isAbout)).toEqual([]);
  await check(inputsOf({ userData: "hostname: other" }), held.inputs);
  expect(messages.warnings.filter(isAbout)).toHaveLength(1);
});

// ── How long a process keeps the text ───────────────────────────────────────────────────────────

test("the text is kept from the Check until the create has ended, and hidden in messages", async () => {
  const world = await started("hash");
  const { check, create, service } = world;
  service.posts.push(ready);
  const inputs = await check(secretScript);
  expect(isHidden(world)).toBe(true);
  await create(inputs);
  expect(isHidden(world)).toBe(false);
  expect(await errorOf(create(inputs))).toBeInstanceOf(OperationFailed);
  expect(service.count("create")).toBe(1);
});

test("after a replacement for another reason, the text is freed", async () => {
  const { world, held } = await created("hash", secretScript);
  const later = await started("hash", world);
  const news = inputsOf({ userData: script, flavorId: "flavor-2" });
  await later.diff(held, await later.check(news, held.inputs, seed(2)));
  later.service.posts.push(ready);
  await later.create(await later.check(news, noInputs, seed(2)));
  expect(later.service.bodies[1]).toMatchObject({ user_data: base64(script) });
  expect(isHidden(later)).toBe(false);
});

test("the text is freed after a Diff, and once a preview has seen the create", async () => {
  const { world, held } = await created("hash", secretScript);
  const later = await started("hash", world);
  const inputs = await later.check(secretScript, held.inputs);
  expect(isHidden(later)).toBe(true);
  await later.diff(held, inputs);
  expect(isHidden(later)).toBe(false);
  const previewed = await later.check(inputsOf({ userData: other }));
  expect(isHidden(later, other)).toBe(true);
  const rest = { timeoutSeconds: 0, preview: true };
  await later.provider.create({ urn, inputs: previewed, ...rest });
  expect(isHidden(later, other)).toBe(false);
});

test("a create that an error hook repeats after a refusal has the script", async () => {
  const world = await started("hash");
  const { check, create, service } = world;
  service.posts.push(post(answered(422, "POST"), { acts: false }), ready);
  const inputs = await check(secretScript);
  await errorOf(create(inputs));
  expect(isHidden(world)).toBe(true);
  await create(inputs);
  expect(isHidden(world)).toBe(false);
  expect(service.bodies.at(-1)).toMatchObject({ user_data: base64(script) });
});

test("a create that an error hook repeats, because its first instance is gone, has the script", async () => {
  const world = await started("hash");
  const { check, create, service, clock } = world;
  const inputs = await check(secretScript);
  const first = errorOf(create(inputs));
  void clock.sleep(90_000).then(() => service.instances.delete("i-1"));
  expect((await first).message).toContain("now missing from two complete listings");
  service.posts.push(ready);
  await create(inputs);
  expect(service.bodies.at(-1)).toMatchObject({ user_data: base64(script) });
  expect(isHidden(world)).toBe(false);
});

test("two instances with one script each have it, although the first create forgets its text", async () => {
  const world = await started("hash");
  const { check, create, provider, service } = world;
  service.posts.push(ready, ready);
  const news = inputsOf({ name: "db", userData: script });
  const db = { urn: urnOf("db"), olds: noInputs, news, randomSeed: seed(1) };
  const [web, { inputs }] = [await check(secretScript), await provider.check(db)];
  await create(web);
  expect(isHidden(world)).toBe(true);
  await provider.create({ urn: urnOf("db"), inputs, timeoutSeconds: 0, preview: false });
  expect(isHidden(world)).toBe(false);
  expect(service.bodies.map(({ user_data }) => user_data)).toEqual([
    base64(script),
    base64(script),
  ]);
});

test("a replacement that is checked twice, without a Diff in between, keeps no script", async () => {
  const { world, held } = await created("hash", secretScript);
  const { check, create, service } = await started("hash", world);
  service.posts.push(ready);
  await check(secretScript, held.inputs, seed(2));
  await create(await check(secretScript, noInputs, seed(2)));
  expect(isHidden(world)).toBe(false);
});

test("after the creates, the memory of the scripts is free again", async () => {
  const { provider, service } = await started("hash");
  const count = 20;
  const length = 400_000;
  service.posts.push(...Array.from({ length: count }, () => ready));
  const before = heapAfterCollection();
  const checked: PropertyMap[] = [];
  for (let n = 0; n < count; n++) {
    const userData = `#!/bin/sh\n# ${n}\n${"echo canary canary\n".repeat(length / 20)}`;
    const news = inputsOf({ name: `web-${n}`, userData });
    const rest = { olds: noInputs, news, randomSeed: seed(n) };
    checked.push((await provider.check({ urn: urnOf(`web-${n}`), ...rest })).inputs);
  }
  const kept = heapAfterCollection() - before;
  expect(kept).toBeGreaterThan(count * length * 0.9);

  for (const [n, inputs] of checked.entries()) {
    const rest = { inputs, timeoutSeconds: 0, preview: false };
    await provider.create({ urn: urnOf(`web-${n}`), ...rest });
  }
  service.bodies.length = 0;
  expect(heapAfterCollection() - before).toBeLessThan(kept / 10);
});
