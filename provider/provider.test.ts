/** Tests of the provider as a whole, with a fake service and a real ledger. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, jest, test } from "@jest/globals";
import type { SettingWords } from "./api/requestError";
import { Engine } from "./engine";
import { type InstanceUnfinished, OperationCanceled, OperationFailed } from "./errors";
import {
  propertyMap,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "./pulumi/propertyValue";
import { createProvider } from "./provider";
import { Session } from "./session/session";
import { answered, fail, ready } from "./testing/fakeService";
import {
  acceptedOutputs,
  errorOf,
  inputsOf,
  liveToken,
  scene,
  scopeId,
  testToken,
  urnOf,
  type Scene,
} from "./testing/scene";
import { temporaryFolder } from "./testing/temporaryFolder";

afterEach(() => void jest.restoreAllMocks());

const urn = urnOf("web");
/** The URN of the provider resource. */
const ownUrn = "urn:pulumi:dev::proj::pulumi:providers:compute::default";
const settings = propertyMap({
  baseUrl: "https://api.example.com/v2",
  apiToken: new Secret(liveToken),
});

const configuration = { args: settings, scope: scopeId };

async function configured(world: Scene = scene(), args = settings) {
  const provider = createProvider(world.ctx);
  await provider.configure({ ...configuration, args });
  return { ...world, provider };
}
const state = (): PropertyMap => inputsOf({ status: "ACTIVE" });
const creation = { urn, inputs: inputsOf(), timeoutSeconds: 0, preview: false };
const check = { urn, olds: inputsOf(), news: inputsOf(), randomSeed: new Uint8Array() };
const slowRead = { inputs: inputsOf(), outputs: inputsOf(), timeoutSeconds: 20 };
const removal = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs: state(), timeoutSeconds: 0 };

test("before Configure, a Create fails with a plain error, and a Check works", async () => {
  const provider = createProvider(scene().ctx);
  expect(await errorOf(provider.create(creation))).toBeInstanceOf(OperationFailed);
  expect((await provider.check(check)).failures).toEqual([]);
});

test("a session's id is made of the process id and of the random bytes of the context", async () => {
  const world = scene();
  let next = 7;
  world.ctx.randomBytes = (count) => new Uint8Array(count).fill(next++);
  const { provider, service } = await configured(world);
  service.posts.push(ready, ready);
  expect((await provider.create(creation)).outputs["__run"]).toBe(`${process.pid}_070707070707`);
  provider.cancel("finished");
  provider.renew();
  await provider.configure(configuration);
  const other = { ...creation, urn: urnOf("other"), inputs: inputsOf({ name: "other" }) };
  expect((await provider.create(other)).outputs["__run"]).toBe(`${process.pid}_080808080808`);
});

test("Check warns once of user data that cloud-init would ignore, and reports no failure", async () => {
  const { provider, messages } = await configured();
  const request = { ...check, news: inputsOf({ userData: "hostname: canary" }) };
  // A replacement is checked twice: with the old inputs, and without.
  for (const olds of [inputsOf({ userData: "#!/bin/sh" }), propertyMap({})]) {
    expect((await provider.check({ ...request, olds })).failures).toEqual([]);
  }
  expect(messages.all).toEqual([
    expect.stringMatching(/^warning cloud-init would ignore userData: it does not begin with/),
  ]);
  // An input that is refused is reported as a failure, and not also in a warning.
  const wrong = inputsOf({ userDataBase64: "canary!" });
  const other = { ...request, urn: urnOf("other"), news: wrong, olds: propertyMap({}) };
  expect((await provider.check(other)).failures).toHaveLength(1);
  expect(messages.all).toHaveLength(1);
});

test("what Check finds in many instances is said at the first one, and counted at the end of the run", async () => {
  const { provider, messages } = await configured();
  const checked = (name: string, userData: string) =>
    provider.check({
      urn: urnOf(name),
      olds: propertyMap({}),
      news: inputsOf({ name, userData }),
      randomSeed: new Uint8Array([1]),
    });
  for (const name of ["a", "b", "c"]) await checked(name, "hostname: x");
  await checked("d", "#cloud-config\n- a\n");
  expect(messages.warnings).toHaveLength(2);
  provider.cancel("finished");
  provider.cancel("finished");
  expect(messages.warnings.slice(2)).toEqual([
    "warning 2 more instances, as for a: cloud-init would ignore userData",
  ]);
});

test("the end of a run that changes or refuses something says once which variables decide for it, and `pulumi do` without a stack asks for none", async () => {
  const world = scene();
  Object.assign(world.ctx.env, { COMPUTE_DELETE_POLICY: "retain", COMPUTE_LEFTOVERS: "fail" });
  const { provider, service, messages } = await configured(world);
  service.has("i-1", { name: "web" });
  const said = () => messages.all.filter((text) => text.includes("COMPUTE_"));
  await provider.check({ ...check, olds: propertyMap({}), news: inputsOf() });
  provider.cancel("finished");
  expect(said()).toEqual([]);

  provider.renew();
  await provider.configure(configuration);
  await provider.delete(removal);
  for (const reason of ["interrupted", "finished", "finished"] as const) provider.cancel(reason);
  const set =
    "info set in this run: COMPUTE_DELETE_POLICY=retain, COMPUTE_LEFTOVERS=fail. Unset what you did not type with the command";
  expect(said()).toEqual([set]);
  expect(messages.warnings).toEqual([
    expect.stringMatching(/^warning these instances are not destroyed\. They go on running/),
  ]);

  provider.renew();
  await provider.configure(configuration);
  await errorOf(provider.create({ ...creation, preview: true }));
  provider.cancel("finished");
  expect(said()).toEqual([set, set]);

  provider.renew();
  world.ctx.env["COMPUTE_LEFTOVERS"] = "no word of it";
  await provider.configure({
    ...configuration,
    urn: "urn:pulumi:dev::default::pulumi:providers:compute::",
  });
  expect((await errorOf(provider.delete(removal))).message).toContain("i-1 was not deleted");
  const before = messages.all.length;
  provider.cancel("finished");
  expect(messages.all).toHaveLength(before);
});

test("a name that is not known yet is in the preview of a create, and never in a create (G10)", async () => {
  const world = scene();
  const provider = createProvider(world.ctx);
  await provider.configure({ ...configuration, scope: undefined });
  const news = inputsOf({ name: undefined });
  const { inputs } = await provider.check({ ...check, olds: propertyMap({}), news });
  expect([inputs["name"], inputs["__generated"]]).toEqual([Unknown.value, Unknown.value]);

  const preview = await provider.create({ ...creation, inputs, preview: true });
  expect(preview.outputs["name"]).toBe(Unknown.value);
  expect("__generated" in preview.outputs).toBe(false);

  await errorOf(provider.create({ ...creation, inputs }));
  expect(world.service.bodies).toEqual([]);
  expect(world.session.ledger.all()).toEqual([]);
});

test("secrets of a request are removed from messages, whichever call it is (G8)", async () => {
  const { provider, ctx } = await configured();
  const secret = (text: string) => inputsOf({ userData: new Secret(text) });
  const plain = inputsOf({ userData: "canary-plain-1" });
  await provider.check({ ...check, olds: secret("canary-olds-2"), news: plain });
  await provider.diff({ ...removal, oldOutputs: secret("canary-outs-3"), news: inputsOf() });
  const args = propertyMap({ name: new Secret("canary-args-4") });
  await errorOf(provider.invoke({ token: "compute:index:getInstance", args }));
  const shown = ctx.redactor.redact("canary-plain-1 canary-olds-2 canary-outs-3 canary-args-4");
  expect(shown).toBe("[secret] [secret] [secret] [secret]");
});

const slowly = { ...creation, timeoutSeconds: 20 };

test("after a time-out, the error says that the create was waiting for the rate limit", async () => {
  const { provider, service, clock } = await configured();
  service.permitHolds.push((signal) => clock.sleep(60_000, signal));
  expect((await errorOf(provider.create(slowly))).message).toBe(
    "nothing was created: timed out after 20 s (customTimeouts.create), waiting for the rate limit of POST /v2/instances.",
  );
});

test("after a time-out, the error says that the operation was waiting for a listing, or for the account", async () => {
  const { provider, service, clock } = await configured();
  service.accountAnswer = () => clock.sleep(60_000);
  const waitingForAccount = await errorOf(provider.read({ ...removal, ...slowRead }));
  expect(waitingForAccount.message).toContain(
    "instance i-1 was not read: timed out after 20 s (customTimeouts.read), waiting for the answer to GET /v2/account",
  );
  await clock.sleep(60_000);
  service.listFaults.push(() => clock.sleep(60_000));
  const waitingForListing = await errorOf(provider.read({ ...removal, ...slowRead }));
  expect(waitingForListing.message).toContain(
    "waiting for a listing of the instances (GET /v2/instances)",
  );
});

test("if the listing before a create is refused, nothing is sent, and the error names the next step (G9)", async () => {
  const { provider, service } = await configured();
  service.listFaults.push(fail(answered(403, "GET")));
  const error = await errorOf(provider.create(creation));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("the token lacks the scope for this call");
  expect(service.count("create")).toBe(0);
});

test.each([
  ["settings of the state", 401, "default", false, true],
  ["settings of the state, and a fault of the service", 500, "default", false, false],
  ["the program's settings", 401, "default", true, false],
  ["no stack", 401, "", false, false],
])(
  "with %s, a %i error names --run-program only if it helps",
  async (_, status, name, isUp, isGiven) => {
    const world = scene();
    let words: SettingWords | undefined;
    world.ctx.createApi = (options) => {
      words = options.words;
      return world.service;
    };
    const [provider, lacking] = [createProvider(world.ctx), createProvider(world.ctx)];
    for (const each of isUp ? [provider, lacking] : [])
      await each.checkConfig({ urn: ownUrn, news: settings });
    const providerUrn = `urn:pulumi:dev::proj::pulumi:providers:compute::${name}`;
    const named = { ...configuration, urn: providerUrn };
    const missing = async () => {
      await lacking.configure({ ...named, args: propertyMap({}) });
      await lacking.delete(removal);
    };
    expect((await errorOf(missing())).message.includes("--run-program")).toBe(!isUp && name !== "");
    await provider.configure(named);
    world.service.accountAnswer = () => Promise.reject(answered(status, "GET").with({ words }));
    const { message } = await errorOf(provider.delete(removal));
    expect(message).toContain(`${status}`);
    expect(message.includes("`pulumi refresh --run-program`")).toBe(isGiven);
    // The program runs if a Check comes, as in an `up --refresh`.
    await provider.check(check);
    expect((await errorOf(provider.delete(removal))).message).not.toContain("--run-program");
  },
);

test("an import that finds nothing with recorded settings names --run-program, too", async () => {
  const { provider } = await configured();
  const importing = { ...removal, id: "i-9", inputs: empty, outputs: empty };
  const { message } = await errorOf(provider.read(importing));
  expect(message).toContain('has the id "i-9"');
  expect(message).toContain("`pulumi refresh --run-program`");
});

test.each<[string, unknown[]]>([
  ["ACTIVE", []],
  ["OFFLINE", [expect.stringMatching(/^warning instance i-1 is OFFLINE/)]],
  ["PROVISIONING", ["info instance i-1 is PROVISIONING. `pulumi up` waits until it is ready"]],
])(
  "the Check of an import says what the status %s means, and its Read says nothing",
  async (status, said) => {
    const { provider, service, messages } = await configured();
    service.has("i-1", { name: "web", status });
    const found = await provider.read({ ...removal, inputs: empty, outputs: empty });
    expect(messages.all).toEqual([]);
    const inputs = found?.inputs ?? empty;
    await provider.check({ ...check, olds: inputs, news: inputs });
    expect(messages.all).toEqual(said);
    // Another Check is not that of an import.
    await provider.check({ ...check, olds: inputs, news: inputs });
    expect(messages.all).toEqual(said);
  },
);

test("an error of a run with recorded settings names the settings that come from the environment, and their variables", async () => {
  const world = scene();
  world.ctx.env["COMPUTE_BASE_URL"] = "https://wrong.example/v2";
  world.ctx.env["COMPUTE_API_TOKEN"] = liveToken;
  const provider = createProvider(world.ctx);
  await provider.configure({ args: propertyMap({ pollIntervalSeconds: 3 }), scope: scopeId });
  const { message } = await errorOf(
    provider.read({ ...removal, inputs: inputsOf(), outputs: acceptedOutputs(world) }),
  );
  expect(message).toContain(
    "but compute:baseUrl (from COMPUTE_BASE_URL) is https://wrong.example/v2",
  );
  // The variable is the way out. What a program has set since is not.
  expect(message).toContain("put COMPUTE_BASE_URL=https://api.example.com/v2 before the command");
  expect(message).not.toContain("--run-program");
});

test("a Ctrl-C before anything was changed is reported as such, and a new engine can configure again", async () => {
  const { provider, service } = await configured();
  provider.cancel("interrupted");
  expect(await errorOf(provider.create(creation))).toBeInstanceOf(OperationCanceled);
  provider.cancel("interrupted");
  provider.renew();
  await provider.configure(configuration);
  service.posts.push(ready);
  expect((await provider.create(creation)).id).toBe("i-1");
});

/** A create that has failed with an id, and the Update by which an error hook repeats it. */
async function failedCreate(given: Record<string, PropertyValue> = {}) {
  const world = await configured();
  world.service.posts.push((body, _signals, service) => service.accept(body));
  const creating = { ...creation, inputs: inputsOf(given), timeoutSeconds: 5 };
  const { id, state } = (await errorOf(world.provider.create(creating))) as InstanceUnfinished;
  const { inputs, outputs } = state;
  const held = { urn, id, oldInputs: inputs, oldOutputs: outputs, news: inputs };
  const repeat = (timeoutSeconds = 5) =>
    world.provider.update({ ...held, timeoutSeconds, preview: false });
  return { ...world, id, repeat };
}

test("an Update by which an error hook repeats a create has the time-out of a create, and each failure carries the id (G1)", async () => {
  const { service, clock, id, repeat } = await failedCreate();
  const late = expect.stringContaining("5 s (customTimeouts.create)");
  expect(await errorOf(repeat())).toMatchObject({ name: "InstanceUnfinished", id, message: late });
  // Nothing brings it back, and this run can't create another one any more.
  service.instances.delete(id);
  await clock.sleep(5000);
  for (let time = 0; time < 2; time++) {
    const gone = await errorOf(repeat(300));
    expect(gone).toMatchObject({ name: "InstanceUnfinished", id });
    expect(gone.message).toMatch(/^instance i-1 is gone: .* to create it anew$/);
  }
});

test("an Update by which an error hook repeats a create fails while a port is silent, with the id, and succeeds once it answers (G1)", async () => {
  const { service, dialer, id, repeat } = await failedCreate({ waitForPort: 22 });
  service.set(id, { status: "ACTIVE" });
  dialer.outcome = () => "silence";
  const message = expect.stringMatching(
    /port 22 .* did not answer .*5 s \(customTimeouts\.create\)/,
  );
  expect(await errorOf(repeat())).toMatchObject({ name: "InstanceUnfinished", id, message });
  dialer.outcome = () => "answer";
  expect(await repeat()).toMatchObject({ id, refreshBeforeUpdate: false });
});

test("an Update by which an error hook repeats a create succeeds without an address that the service never lists, with a warning", async () => {
  const { service, messages, id, repeat } = await failedCreate();
  service.set(id, { status: "ACTIVE", ipv4_public: undefined });
  expect(await repeat()).toMatchObject({ id, refreshBeforeUpdate: false });
  expect(messages.warnings).toEqual([expect.stringContaining("lists no public address")]);
});

test("the engine's run notes a call before the look that ends a doubt is awaited", async () => {
  const { provider, service } = await configured();
  jest.spyOn(Session.prototype, "noteShown").mockReturnValue(true);
  service.listFaults.push(() => new Promise(() => undefined));
  const noted = jest.spyOn(Engine.prototype, "delete");
  const ended = errorOf(provider.delete(removal));
  expect(noted).toHaveBeenCalledWith(removal);
  provider.cancel("interrupted");
  expect(await ended).toBeInstanceOf(OperationCanceled);
});

test("a time-out before anything was changed is reported as such", async () => {
  const { provider, service } = await configured();
  service.accountAnswer = () => new Promise(() => undefined);
  const error = await errorOf(provider.create({ ...creation, timeoutSeconds: 5 }));
  expect(error.message).toMatch(/^nothing was created: timed out after 5 s /);
});

test("with PULUMI_DEBUG_PROVIDERS, a second configuration is refused, and the same one is not", async () => {
  const { provider } = await configured();
  await provider.configure(configuration);
  const other = { args: settings, scope: "another" };
  expect((await errorOf(provider.configure(other))).message).toContain("another configuration");
  // After a Cancel, the next engine may use another configuration.
  provider.cancel("finished");
  provider.renew();
  await provider.configure(other);
});

// --- attach mode: the next engine begins a run in this process, and the last one sent no Cancel ---

test("after an engine that was killed, a replacement neither adopts nor destroys the unfinished instance that it replaces", async () => {
  const world = scene();
  const destroying = propertyMap({ ...settings, destroyPath: "/v2/instances/{id}" });
  const { provider, service } = await configured(world, destroying);
  service.posts.push((body, _signal, service) => service.accept(body), ready);
  const unfinished = await errorOf(provider.create({ ...creation, timeoutSeconds: 5 }));
  service.set("i-1", { status: "ACTIVE" });
  provider.renew();
  await provider.configure({ ...configuration, args: destroying });
  // `up --replace` calls Check and Create, and then Delete with the old state.
  await provider.check({ ...check, olds: propertyMap({}) });
  const { message } = await errorOf(provider.create(creation));
  expect(unfinished).toMatchObject({ id: "i-1" });
  expect(message).toContain("Pulumi was told the id");
  expect([...service.instances.keys()]).toEqual(["i-1"]);
});

test("after an engine that was killed, a create of the next engine is not another run's that is under way", async () => {
  const { provider, service } = await configured();
  service.posts.push(ready, ready);
  const { id } = await provider.create(creation);
  // A person has removed it at the portal.
  service.instances.delete(id);
  provider.renew();
  await provider.configure(configuration);
  expect((await provider.create(creation)).id).toBe("i-2");
});

test("after an engine that was killed, a replacement whose delete would fail is refused (G4)", async () => {
  const failing = propertyMap({ ...settings, deletePolicy: "fail" });
  const { provider, service } = await configured(scene(), failing);
  service.posts.push(ready);
  const { id, outputs } = await provider.create(creation);
  provider.renew();
  await provider.configure({ ...configuration, args: failing });
  await provider.check(check);
  const change = { urn, id, oldInputs: inputsOf(), oldOutputs: outputs };
  const news = inputsOf({ flavorId: "other" });
  const { message } = await errorOf(provider.diff({ ...change, news }));
  expect(message).toContain(`instance ${id} can't be replaced: it still exists`);
});

test("a call that is under way when the next engine begins is canceled, and a Cancel of the next engine ends no doubt of the run before", async () => {
  const { provider, service, session } = await configured();
  service.posts.push(ready);
  const { id, outputs } = await provider.create(creation);
  service.listFaults.push(() => new Promise(() => undefined));
  const reading = errorOf(provider.read({ ...slowRead, urn, id, outputs }));
  provider.renew();
  await provider.configure(configuration);
  provider.cancel("finished");
  expect(await reading).toBeInstanceOf(OperationCanceled);
  expect(session.ledger.all()).toMatchObject([{ record: { id, givenBy: expect.any(String) } }]);
});

// --- the ledger: outputs end a doubt only if their stamp (`__run`) is another session's id (G1) ---

async function withDoubt() {
  const world = scene();
  const { provider } = await configured(world);
  world.service.posts.push(ready);
  const { outputs } = await provider.create(creation);
  // The process ends, and its lock with it.
  provider.cancel("interrupted");
  provider.renew();
  const next = await configured(world.nextRun());
  const doubts = () => next.session.ledger.all().length;
  return { ...next, doubts, outputs };
}
const empty = propertyMap({});

test("two resources of one program with one chosen name have one warning", async () => {
  const { provider, messages } = await configured();
  const checked = (resource: string, name: PropertyValue) =>
    provider.check({ ...check, urn: urnOf(resource), news: inputsOf({ name }), olds: empty });
  for (const resource of ["a", "a", "b", "c"]) await checked(resource, "web");
  for (const resource of ["d", "e"]) await checked(resource, new Secret("hidden"));
  await checked("f", "other");
  provider.cancel("finished");
  expect(messages.warnings).toEqual([
    expect.stringMatching(/^warning another resource has the name "web", too: a service/),
    'warning 1 more instance, as for b: another resource has the name "web", too',
  ]);
});

test("while an engine runs the program of one stack, none of its processes deletes another stack's instance", async () => {
  const world = scene({ deletePolicy: "fail" });
  world.service.has("i-1", { name: "web" });
  world.ctx.engineAddress = () => "127.0.0.1:1";
  const { provider } = await configured(world);
  const ofProgram = createProvider(world.ctx);
  const refused = "instance i-1 was not deleted: it still exists";
  expect((await errorOf(provider.delete(removal))).message).toContain(refused);
  await ofProgram.checkConfig({ urn: ownUrn.replace("dev", "copy"), news: settings });
  const requests = world.service.calls.length;
  await provider.delete(removal);
  expect(world.messages.warnings).toEqual([
    "warning web was dropped from the state, but its instance i-1 was not destroyed: it is of the stack proj/dev, and this run is of proj/copy",
  ]);
  expect(world.service.calls).toHaveLength(requests);
  // Another engine, or none.
  for (const engineAddress of [() => "127.0.0.1:2", () => ""]) {
    const other = await configured({ ...world, ctx: { ...world.ctx, engineAddress } });
    expect((await errorOf(other.provider.delete(removal))).message).toContain(refused);
  }
  // The run is over.
  ofProgram.cancel("finished");
  expect((await errorOf(provider.delete(removal))).message).toContain(refused);
  await provider.check({ ...check, urn: urn.replace("dev", "copy") });
  await provider.delete(removal);
});

const { apiToken: _, ...tokenless } = settings;
test.each<[string, Record<string, PropertyValue>, (file: string) => NodeJS.ProcessEnv, string]>([
  ["lack what is needed", {}, () => ({}), "lacks settings"],
  [
    "require another kind of token",
    { ...settings, requireTokenKind: "test" },
    () => ({}),
    "the token in compute:apiToken is a live one",
  ],
  [
    "leave out the token, beside two of the environment,",
    tokenless,
    (file) => ({ COMPUTE_API_TOKEN: testToken, COMPUTE_API_TOKEN_FILE: file }),
    "hold different tokens",
  ],
  [
    "leave out the token, whose file can't be read,",
    tokenless,
    (file) => ({ COMPUTE_API_TOKEN_FILE: `${file}-of-another` }),
    "does not exist",
  ],
])(
  "recorded settings that %s are refused by the call that needs them, and those of a program in Configure",
  async (_, given, env, words) => {
    const world = scene();
    const file = join(temporaryFolder(), "token");
    writeFileSync(file, liveToken);
    Object.assign(world.ctx.env, env(file));
    const wrong = { args: propertyMap(given), scope: scopeId };
    const recorded = createProvider(world.ctx);
    await recorded.configure(wrong);
    expect((await recorded.check(check)).failures).toEqual([]);
    expect((await errorOf(recorded.delete(removal))).message).toContain(words);
    recorded.cancel("finished");
    const ofProgram = createProvider(world.ctx);
    await ofProgram.checkConfig({ urn: ownUrn, news: settings });
    expect((await errorOf(ofProgram.configure(wrong))).message).toContain(words);
    // A person has typed it for this run.
    world.ctx.env["COMPUTE_LEFTOVERS"] = "WARN";
    const mistyped = createProvider(world.ctx);
    expect((await errorOf(mistyped.configure(wrong))).message).toContain("COMPUTE_LEFTOVERS");
  },
);

test("with PULUMI_DEBUG_PROVIDERS, a refused configuration has the advice for its own settings", async () => {
  const { provider } = await configured();
  const wrong = { args: propertyMap({ ...settings, deletePolicy: "never" }), scope: scopeId };
  const advice = "deletePolicy (after a change: `pulumi refresh --run-program`)";
  expect((await errorOf(provider.configure(wrong))).message).toContain(advice);
  await provider.checkConfig({ urn: ownUrn, news: settings });
  expect((await errorOf(provider.configure(wrong))).message).not.toContain(advice);
});

test.each(["diff", "update", "refresh", "delete"])(
  "after a %s whose outputs have the stamp of an earlier session, nothing is in doubt",
  async (call) => {
    const { provider, doubts, outputs } = await withDoubt();
    expect(doubts()).toBe(1);
    const change = { ...removal, oldOutputs: outputs, news: inputsOf() };
    if (call === "diff") await provider.diff(change);
    if (call === "update") await provider.update({ ...change, preview: false });
    if (call === "refresh") await provider.read({ ...removal, inputs: inputsOf(), outputs });
    if (call === "delete") await provider.delete(change).catch(() => undefined);
    expect(doubts()).toBe(0);
  },
);

test("outputs without a stamp, a lookup and the refresh of what a `.get()` has read end no doubt", async () => {
  const { provider, doubts } = await withDoubt();
  const change = { ...removal, news: inputsOf() };
  await provider.diff(change);
  await provider.read({ ...removal, inputs: inputsOf(), outputs: state() });
  const imported = await provider.read({ ...removal, inputs: empty, outputs: empty });
  const stamped = propertyMap({ ...state(), __run: "earlier" });
  await provider.read({ ...removal, inputs: empty, outputs: stamped });
  expect(doubts()).toBe(1);
  // After a previewed import, Check and Diff come to the same process.
  await provider.diff({ ...change, oldOutputs: imported?.outputs ?? empty });
  expect(doubts()).toBe(1);
});

test("the Delete of a replaced instance does not end the doubt about the instance that replaces it", async () => {
  const { provider, doubts, service } = await withDoubt();
  service.has("old");
  service.instances.delete("old");
  await provider.delete({ ...removal, id: "old" });
  expect(doubts()).toBe(1);
});

/** A session as of `pulumi destroy`, with two instances, which it drops from the state. */
async function destroyed(world: Scene) {
  const provider = createProvider(world.ctx);
  const args = propertyMap({ ...settings, deletePolicy: "retain" });
  await provider.configure({ args, scope: scopeId });
  for (const [id, name] of [
    ["i-1", "web"],
    ["i-2", "db"],
  ] as const) {
    world.service.has(id);
    await provider.delete({ ...removal, id, urn: urnOf(name) });
  }
  return provider;
}

test.each([
  { reasons: ["finished"], lists: 1 },
  { reasons: ["interrupted", "finished"], lists: 1 },
  { reasons: ["engineGone"], lists: 0 },
] as const)(
  "at the end of a destroy ($reasons), the instances that go on running are named in one list, without the advice for recorded settings",
  async ({ reasons, lists }) => {
    const world = scene();
    world.service.accountAnswer = () => {
      throw answered(403, "GET");
    };
    const provider = await destroyed(world);
    const before = world.messages.warnings;
    expect(before).toEqual([expect.stringMatching(/could not be checked/)]);
    expect(before.join()).not.toContain("This run used the settings");
    for (const reason of reasons) provider.cancel(reason);
    expect(world.messages.warnings.slice(before.length)).toEqual(
      Array.from({ length: lists }, () =>
        expect.stringMatching(/They go on running.*:\n {2}- i-1 \(web\)\n {2}- i-2 \(db\)$/),
      ),
    );
  },
);

test.each([
  { reasons: ["finished"], stays: false },
  // After a second Ctrl-C, the engine may have ended without saving the answers.
  { reasons: ["interrupted", "finished"], stays: true },
  { reasons: ["engineGone", "finished"], stays: true },
  { reasons: ["finished", "engineGone"], stays: false },
] as const)(
  "a create, then $reasons: that its record stays is $stays",
  async ({ reasons, stays }) => {
    const world = scene();
    const { provider, service, session } = await configured(world);
    service.posts.push(ready);
    await provider.create(creation);
    for (const reason of reasons) provider.cancel(reason);
    expect(session.ledger.all()).toHaveLength(stays ? 1 : 0);
  },
);

test.each([
  { reasons: ["interrupted"], isGiven: true },
  { reasons: ["engineGone"], isGiven: false },
  { reasons: ["interrupted", "engineGone"], isGiven: false },
  { reasons: ["engineGone", "interrupted"], isGiven: false },
] as const)(
  "$reasons during a create: that its record says the engine has the id is $isGiven",
  async ({ reasons, isGiven }) => {
    const world = scene();
    const { provider, service, session } = await configured(world);
    service.posts.push((body) => {
      for (const reason of reasons) provider.cancel(reason);
      return service.accept(body);
    });
    expect(await errorOf(provider.create(creation))).toMatchObject({ id: "i-1" });
    // What comes later does not change the record.
    provider.cancel("finished");
    const [found] = session.ledger.all();
    expect(found?.record).toMatchObject({ id: "i-1" });
    expect(found?.record.givenBy).toBe(isGiven ? found?.record.session : undefined);
  },
);
