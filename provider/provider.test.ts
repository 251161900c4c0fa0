import { expect, test } from "@jest/globals";
import { OperationCanceled, OperationFailed } from "./errors";
import { propertyMap, Secret, type PropertyMap } from "./property/value";
import { createProvider } from "./provider";
import { answered, fail, ready } from "./testing/fakeService";
import { errorOf, inputsOf, liveToken, scene, urnOf, type Scene } from "./testing/scene";

const urn = urnOf("web");
const common = { urn };
const settings = propertyMap({
  baseUrl: "https://api.example.com/v2",
  apiToken: new Secret(liveToken),
});

async function configured(world: Scene = scene()) {
  const provider = createProvider(world.around);
  await provider.configure({ args: settings });
  return { ...world, provider };
}
const state = (name = "web"): PropertyMap =>
  propertyMap({ ...inputsOf({ name }), status: "ACTIVE" });
const creation = { ...common, inputs: inputsOf(), timeoutSeconds: 0, preview: false };
const removal = {
  ...common,
  id: "i-1",
  oldInputs: inputsOf(),
  oldOutputs: state(),
  timeoutSeconds: 0,
};

test("before it is configured, calls are refused with a plain error", async () => {
  const provider = createProvider(scene().around);
  expect(await errorOf(provider.create(creation))).toBeInstanceOf(OperationFailed);
  const check = { ...common, olds: inputsOf(), news: inputsOf(), randomSeed: new Uint8Array() };
  expect((await provider.check(check)).failures).toEqual([]);
});

test("the token is never printed, wherever it came from (G8)", async () => {
  const { around } = scene();
  around.env["COMPUTE_API_TOKEN"] = "sk_test_from_env";
  const provider = createProvider(around);
  await provider.checkConfig({ news: propertyMap({ apiToken: liveToken }) });
  expect(around.cleaner.clean(`${liveToken} sk_test_from_env`)).toBe("[secret] [secret]");
});

test("secret inputs are known before anything can be said of them (G8)", async () => {
  const { provider, around } = await configured();
  const secret = (text: string) => inputsOf({ userData: new Secret(text) });
  const plain = inputsOf({ userData: "canary-plain-1" });
  await provider.check({
    ...common,
    olds: secret("canary-olds-2"),
    news: plain,
    randomSeed: new Uint8Array(),
  });
  await provider.diff({
    ...common,
    id: "i-1",
    oldInputs: inputsOf(),
    oldOutputs: secret("canary-outs-3"),
    news: inputsOf(),
  });
  await provider
    .invoke({
      token: "compute:index:getInstance",
      args: propertyMap({ name: new Secret("canary-args-4") }),
    })
    .catch(() => undefined);
  const shown = around.cleaner.clean("canary-plain-1 canary-olds-2 canary-outs-3 canary-args-4");
  expect(shown).toBe("[secret] [secret] [secret] [secret]");
});

test("what the service refuses is told with the next step (G9)", async () => {
  const { provider, service } = await configured();
  service.listFaults.push(fail(answered(403, "GET")));
  const error = await errorOf(provider.create(creation));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("The token lacks the scope for this call");
});

test("Ctrl-C before anything was changed is told as such; a new engine begins anew", async () => {
  const { provider, service } = await configured();
  provider.cancel(false);
  expect(await errorOf(provider.create(creation))).toBeInstanceOf(OperationCanceled);
  provider.cancel(false);
  provider.renew();
  service.posts.push(ready);
  expect((await provider.create(creation)).id).toBe("i-1");
});

test("a time-out before anything was changed is told as such", async () => {
  const { provider, service } = await configured();
  service.accountAnswer = () => new Promise(() => undefined);
  const error = await errorOf(provider.create({ ...creation, timeoutSeconds: 5 }));
  expect(error.message).toContain("nothing was changed: the 5 s of the operation");
});

// --- the journal: cleared when a call carries the id out of the state, and not before (G1) ---

async function withOpenCreate() {
  const world = scene();
  const { provider } = await configured(world);
  world.service.posts.push(ready);
  await provider.create(creation);
  const next = await configured(world.nextRun());
  return { ...next, open: () => next.session.journal.entries().length };
}
const empty = propertyMap({});

test.each(["diff", "update", "refresh", "delete"])(
  "%s carries the id: nothing is open any more",
  async (call) => {
    const { provider, open } = await withOpenCreate();
    const change = { ...removal, news: inputsOf() };
    if (call === "diff") await provider.diff(change);
    if (call === "update") await provider.update({ ...change, preview: false });
    if (call === "refresh")
      await provider.read({ ...removal, inputs: inputsOf(), outputs: state() });
    if (call === "delete") await provider.delete(removal).catch(() => undefined);
    expect(open()).toBe(0);
  },
);

test("an import that succeeds takes the instance over; one that fails, and a `.get()`, clear nothing", async () => {
  const { provider, open } = await withOpenCreate();
  const imported = { ...removal, inputs: undefined, outputs: undefined };
  await provider.read({ ...removal, inputs: empty, outputs: empty });
  expect(await provider.read({ ...imported, id: "wrong" })).toBeUndefined();
  expect(open()).toBe(1);
  await provider.read(imported);
  expect(open()).toBe(0);
});

test("deleting the instance that was to be replaced does not forget the one created for it", async () => {
  const { provider, open, service } = await withOpenCreate();
  service.has("old");
  service.instances.delete("old");
  await provider.delete({ ...removal, id: "old" });
  expect(open()).toBe(1);
});

test.each([
  { cancels: [true], answered: true },
  // Ctrl-C, and once more: the engine may have ended without saving what was answered between.
  { cancels: [false, true], answered: undefined },
])(
  "of Cancels, idle: $cancels, the first tells whether the engine kept the answers",
  async (row) => {
    const world = scene();
    const { provider, service, session } = await configured(world);
    service.posts.push(ready);
    await provider.create(creation);
    for (const idle of row.cancels) provider.cancel(idle);
    expect(session.journal.entries().map((entry) => entry.answered)).toEqual([row.answered]);
  },
);
