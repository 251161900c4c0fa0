/** Tests of what a create does with the record of an earlier create that is in doubt (G1, G2). */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { ledgerFolder } from "../ledger/folder";
import type { LedgerRecord } from "../ledger/record";
import { propertyMap, Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
import { createProvider } from "../provider";
import { answered, fail, ready } from "../testing/fakeService";
import { leaveInDoubt, ledgerRecord } from "../testing/ledgerRecord";
import {
  createOf,
  errorOf,
  held,
  inputsOf,
  linesAt100,
  liveToken,
  postsTo,
  scene,
  scopeId,
  testToken,
  urnOf,
  type Scene,
} from "../testing/scene";
import { createInstance } from "../testing/calls";
import { askAbout } from "../instance/existence";
import { argsOf, specOf } from "./spec";
import { reportInDoubt } from "./inDoubt";

const urn = urnOf("web");
const generated = (n: number) => `web-aaaaaaa${n + 1}`;

type Inputs = Record<string, PropertyValue>;

function requestOf(name: PropertyValue, inputs: Inputs = {}, preview = false) {
  const isGenerated = typeof name === "string" && name.startsWith("web-aaaaaaa");
  return createOf({ name, isGenerated, inputs, preview });
}

const create = ({ session }: Scene, name: PropertyValue = generated(2), more: Inputs = {}) =>
  createInstance(session, requestOf(name, more));
const preview = ({ session }: Scene, name: PropertyValue = generated(2), more: Inputs = {}) =>
  createInstance(session, requestOf(name, more, true));

const records = ({ session }: Scene) => session.ledger.all().map(({ record }) => record);

interface Left {
  name?: PropertyValue;
  inputs?: Inputs;
  record?: Partial<LedgerRecord>;
  world?: Scene;
}

/** A session that begins after a killed run has left a record as that of a create of `web`. */
async function afterKill({ name = generated(1), inputs, record, world = scene() }: Left = {}) {
  const asked = { ...requestOf(name, inputs), origin: world.session.connection.origin() };
  const { identity } = specOf(world.session, asked, argsOf(world.session.engine, asked.inputs));
  const at = new Date(world.clock.date().getTime() - 3_600_000).toISOString();
  const { session: _, ...left } = { ...identity, before: [], at, ...record };
  await leaveInDoubt(ledgerFolder(world.ctx.env), "web", left);
  return world.nextRun();
}

/** Checks that a create sends no POST, that its error has these words and a way out, and that the record stays. */
async function expectStop(
  world: Scene,
  words: string | RegExp,
  ...asked: [PropertyValue?, Inputs?]
) {
  const { message } = await errorOf(create(world, ...asked));
  expect(message).toMatch(words);
  expect(message).toMatch(
    /\n(Nothing was created\. To settle it: `.*settle`|Run again once .*|More: .*out-of-reach)$/,
  );
  expect(linesAt100(message)).toBeLessThanOrEqual(7);
  expect(postsTo(world)).toBe(0);
  expect(records(world)).toHaveLength(1);
}

test("a create that stops as changed names --forget where it replaces, since settle leaves it to the next create", async () => {
  const world = await afterKill({ record: { id: "i-1", digest: "other" } });
  world.service.has("i-1", { name: generated(1) });
  const { engine } = world.session;
  engine.check({ urn: urnOf("web"), olds: inputsOf() });
  engine.diff({ urn: urnOf("web"), news: inputsOf() }, { id: "i-0", isUnfinished: false });
  const { message } = await errorOf(create(world));
  expect(message).toMatch(
    /\nNothing was created\. To give that up: `.*settle --yes --forget urn:.*`$/,
  );

  // An error hook repeats a create of a new resource, which has failed. Then `settle` can put the instance into the state.
  const repeated = await afterKill({ record: { id: "i-1", digest: "other" } });
  repeated.service.has("i-1", { name: generated(1) });
  repeated.session.engine.hold(urnOf("web"), { id: "", isUnfinished: true });
  expect((await errorOf(create(repeated))).message).toMatch(/ To settle it: `.*settle`$/);
  expect(postsTo(world)).toBe(0);
});

test("an instance whose id no engine was given is taken over without a POST, with what only the 202 showed", async () => {
  const networks = [{ type: "private", ipv4: "10.0.0.5" }];
  const world = await afterKill({ record: { id: "i-1", accepted: { createdAt: "c", networks } } });
  world.service.has("i-1", { name: generated(1) });
  const { id, outputs } = await create(world);
  expect(id).toBe("i-1");
  expect(outputs).toMatchObject({ status: "ACTIVE", privateIpv4: "10.0.0.5", createdAt: "c" });
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("an earlier run created i-1 for this resource"),
  ]);
  expect(postsTo(world)).toBe(0);
  expect(records(world)).toMatchObject([{ id: "i-1", givenBy: world.session.id }]);
});

test("an instance that is taken over has what the state knew, what it replaces, and what its create let run", async () => {
  const world = await afterKill({ record: { id: "i-1", before: ["i-passed"] } });
  world.service.has("i-1", { name: generated(1) });
  const { engine } = world.session;
  engine.check({ urn, olds: inputsOf() });
  const replaced = { id: "i-0", isUnfinished: false, known: ["i-known"] };
  engine.diff({ urn, news: inputsOf() }, replaced);
  const { outputs } = await create(world);
  expect(held(outputs).known).toEqual(["i-known", "i-0", "i-passed"]);
  expect(postsTo(world)).toBe(0);
});

test("the one new instance of a generated name is taken over, although the service has added a domain", async () => {
  const world = await afterKill();
  world.service.has("i-1", { name: `${generated(1).toUpperCase()}.example.com` });
  expect(await create(world)).toMatchObject({ id: "i-1" });
  expect(postsTo(world)).toBe(0);
});

const packed = (systemByte: number) => {
  const bytes = gzipSync("#!/bin/sh\n");
  bytes[9] = systemByte;
  return bytes.toString("base64");
};
test.each<[string, Inputs, Inputs]>([
  ["the SSH keys in another order", { sshKeys: ["a", "b"] }, { sshKeys: ["b", "a"] }],
  ["other fallbacks", { fallbackFlavorIds: ["b"] }, { fallbackFlavorIds: ["c"] }],
  ["a script that is packed anew", { userDataBase64: packed(3) }, { userDataBase64: packed(19) }],
])("the request counts as the same with %s", async (_, inputs, now) => {
  const world = await afterKill({ inputs, record: { id: "i-1" } });
  world.service.has("i-1", { name: generated(1) });
  expect(await create(world, generated(2), now)).toMatchObject({ id: "i-1" });
});

test("a create whose second flavor was accepted is taken over with that flavor", async () => {
  const inputs = { flavorId: "a", fallbackFlavorIds: ["b"] };
  const world = await afterKill({ inputs, record: { id: "i-1", flavor: "b" } });
  world.service.has("i-1", { name: generated(1) });
  const { outputs } = await create(world, generated(2), inputs);
  expect(outputs).toMatchObject({ flavorId: "a", flavorIdUsed: "b" });
  expect(postsTo(world)).toBe(0);
});

test.each<[string, Partial<LedgerRecord>]>([
  ["that sent no POST", { at: undefined }],
  ["whose instance two listings prove absent", {}],
  ["whose id and name they prove absent", { id: "i-1", givenBy: "s" }],
])("after a create %s, the next one sends its POST", async (_, record) => {
  const world = await afterKill({ record });
  world.service.posts.push(ready);
  await create(world);
  expect(postsTo(world)).toBe(1);
  expect(records(world)).toMatchObject([{ name: generated(2), givenBy: world.session.id }]);
});

test.each<[string, Partial<LedgerRecord>]>([
  ["with an id", { id: "i-1" }],
  ["whose answer is lost", {}],
])(
  "a billed create in doubt %s is not made anew because a listing shows none of ours for some seconds",
  async (_, record) => {
    const world = await afterKill({ record });
    // A foreign instance proves nothing.
    world.service.has("i-foreign");
    const ended = create(world);
    await world.clock.sleep(50_000);
    world.service.has("i-1", { name: generated(1) });
    expect(await ended).toMatchObject({ id: "i-1" });
    expect(postsTo(world)).toBe(0);
  },
);

test("what one listing of the row has shown is awaited anew, although none of ours is listed", async () => {
  const world = await afterKill();
  const { listings } = world.session;
  const never = new AbortController().signal;
  const list = () => listings.get({ notBefore: world.clock.now() }, never);
  world.service.has("i-foreign");
  await list();
  await world.clock.sleep(40_000);
  world.service.has("i-1", { name: generated(1) });
  await list();
  world.service.instances.delete("i-1");
  await world.clock.sleep(30_000);
  const ended = create(world);
  await world.clock.sleep(5000);
  world.service.has("i-1", { name: generated(1) });
  expect(await ended).toMatchObject({ id: "i-1" });
  expect(postsTo(world)).toBe(0);
});

test.each<[string, Inputs, number, number]>([
  ["after a minute", {}, 900, 60],
  ["at once with a test token", { apiToken: new Secret(testToken) }, 900, 3],
  ["after the settling time, if that is shorter", { settlingSeconds: 20 }, 900, 20],
  ["after half of the operation's time, if that is shorter", {}, 40, 20],
])("where none of ours is listed, it is made anew %s", async (_, args, timeoutSeconds, seconds) => {
  const world = await afterKill({ world: scene(args) });
  let postedAt = -1;
  world.service.posts.push((body, _signals, service) => {
    postedAt = world.clock.now();
    return ready(body, _signals, service);
  });
  const begunAt = world.clock.now();
  await createInstance(world.session, { ...requestOf(generated(2)), timeoutSeconds });
  expect((postedAt - begunAt) / 1000).toBeCloseTo(seconds, 0);
});

test("what took a minute for one create in doubt, or for a refresh, has not to be awaited by the next, nor if one of ours is listed", async () => {
  const world = await afterKill();
  const { session, clock } = world;
  const begunAt = clock.now();
  const operation = session.operations.begin(900);
  const gone = { id: "i-0", origin: session.connection.origin(), acceptedAt: undefined };
  expect((await askAbout(session, gone, operation)).verdict.kind).toBe("absent");
  expect(clock.now() - begunAt).toBeGreaterThanOrEqual(60_000);
  const refreshedAt = clock.now();
  world.service.posts.push(ready);
  await create(world);
  expect(clock.now() - refreshedAt).toBeLessThan(5000);

  const other = await afterKill();
  other.service.has("i-other");
  other.session.state.noteShown({ id: "i-other", origin: undefined });
  other.service.posts.push(ready);
  const otherBegunAt = other.clock.now();
  await create(other);
  expect(other.clock.now() - otherBegunAt).toBeLessThan(5000);
});

describe("a create stops, and the record stays, if", () => {
  test.each<[string, Partial<LedgerRecord>, RegExp]>([
    [
      "an engine was given the id",
      { id: "i-1", givenBy: "s" },
      /\(i-1\) is in doubt: .*Pulumi was told the id/,
    ],
    [
      "the program has changed",
      { id: "i-1", digest: "other" },
      /\(i-1\) is in doubt: .*the program, the token or the provider resource has changed/,
    ],
    [
      "another provider resource asked",
      { id: "i-1", scope: "x" },
      /\(i-1\) is in doubt: .*the provider resource has changed since/,
    ],
    [
      "the answer had another id",
      { id: "i-9" },
      /\(i-9, perhaps i-1\) is in doubt: what it made can't be told/,
    ],
    [
      "the token kind is another one",
      { tokenKind: "test" },
      /it was made with a test token.*\n.*\n {2}- set a test token with/,
    ],
    ["the address is another one", { baseUrl: "https://b.example/v2" }, /it lives at https:\/\/b/],
  ])("%s", async (_, record, words) => {
    const world = await afterKill({ record });
    world.service.has("i-1", { name: generated(1) });
    await expectStop(world, words);
    // Also a second time in the same session, as with an error hook.
    await expectStop(world, words);
  });

  test("this run was shown its instance, as after an import under another name", async () => {
    const world = await afterKill({ record: { id: "i-1" } });
    world.service.has("i-1", { name: generated(1) });
    world.session.state.noteShown({ id: "i-1", origin: undefined });
    await expectStop(world, /\(i-1\) is in doubt: .*Pulumi was told the id/);
  });

  test("several instances have the generated name", async () => {
    const world = await afterKill();
    for (const id of ["i-1", "i-2"]) world.service.has(id, { name: generated(1) });
    await expectStop(world, "i-1, i-2");
  });

  test("only a name that the program chose speaks for the instance", async () => {
    const world = await afterKill({ name: "web" });
    world.service.has("i-1", { name: "web" });
    await expectStop(world, "perhaps i-1", "web");
  });

  test("the listing is incomplete, or fails", async () => {
    const world = await afterKill();
    world.service.unreadable = 1;
    await expectStop(world, "listing is not complete");
    world.service.unreadable = 0;
    world.service.listFaults.push(fail(answered(403, "GET")));
    await expectStop(world, "the search for it ended early");
  });

  test("the listing may be another tenant's", async () => {
    const world = await afterKill({ record: { tokenHash: "another" } });
    world.service.has("i-9");
    await expectStop(world, "may be another tenant's");
  });
});

test("an instance that the run was shown as another resource's, or that another record names, is no candidate", async () => {
  const world = await afterKill({ name: "web" });
  const folder = ledgerFolder(world.ctx.env);
  await leaveInDoubt(folder, "db", { ...ledgerRecord("db"), id: "i-9" });
  world.session.state.noteShown({ id: "i-8", origin: undefined });
  for (const id of ["i-8", "i-9"]) world.service.has(id, { name: "web" });
  world.service.posts.push(ready);
  await create(world, "web");
  expect(postsTo(world)).toBe(1);
});

test("a create waits for the end of another run's create, and then takes its instance over", async () => {
  const other = scene();
  other.session.engine.end("engineGone");
  const { identity } = specOf(
    other.session,
    { ...requestOf(generated(1)), origin: other.session.connection.origin() },
    argsOf(other.session.engine, requestOf(generated(1)).inputs),
  );
  other.session.ledger.claim(identity);
  other.session.ledger.update(urn, { at: other.clock.date().toISOString(), id: "i-1" });
  other.service.has("i-1", { name: generated(1) });
  const world = other.beside();
  void other.clock.sleep(20_000).then(() => other.session.ledger.close());
  expect(await create(world)).toMatchObject({ id: "i-1" });
  expect(postsTo(world)).toBe(0);
});

test("a create stops if another run's create ends in order: the state that its engine has read is older", async () => {
  const other = scene();
  other.session.ledger.claim({ ...ledgerRecord("web"), urn, session: other.session.id });
  const world = other.beside();
  void other.clock.sleep(20_000).then(() => {
    other.session.ledger.update(urn, { givenBy: other.session.id });
    other.session.ledger.endInOrder();
  });
  expect((await errorOf(create(world))).message).toMatch(
    /^nothing was created: another run \(process \d+\) creates/,
  );
  expect(postsTo(world)).toBe(0);
  expect(records(world)).toEqual([]);
});

test("a create stops if another run's create does not end in time, and a preview only says so", async () => {
  const other = scene();
  other.session.ledger.claim({ ...ledgerRecord("web"), urn, session: other.session.id });
  const world = other.beside();
  await preview(world);
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(/another run \(process \d+\) creates .*`pulumi up` waits/),
  ]);
  await expectStop(world, `another run (process ${process.pid}) creates`);
  expect(world.clock.now()).toBe(70_000);
});

test("a file that can't be read stops the create, and is named", async () => {
  const world = await afterKill({ record: { tokenKind: "x" } });
  world.session.ledger.claim = () => ({ kind: "unreadable", path: "/ledger/web.json" });
  expect((await errorOf(create(world))).message).toContain("/ledger/web.json");
  expect(postsTo(world)).toBe(0);
});

describe("a preview", () => {
  test("says what the `up` takes over, and changes nothing", async () => {
    const world = await afterKill({ record: { id: "i-1" } });
    world.service.has("i-1", { name: generated(1) });
    const before = records(world);
    await preview(world);
    expect(world.messages.all).toEqual([
      expect.stringMatching(/^info an earlier run created i-1 /),
    ]);
    expect(records(world)).toEqual(before);
  });

  test("refuses what the `up` refuses", async () => {
    const world = await afterKill({ record: { id: "i-1", givenBy: "s" } });
    world.service.has("i-1", { name: generated(1) });
    expect((await errorOf(preview(world))).message).toContain(
      "Pulumi was told the id, and may not have saved it",
    );
  });

  test("of a new stack refuses with the same way out, although no provider resource is known yet", async () => {
    const left = await afterKill({ record: { id: "i-1" } });
    left.service.has("i-1", { name: generated(1) });
    const world = left.nextRun({}, { scope: undefined });
    const { message } = await errorOf(preview(world, Unknown.value));
    expect(message).toMatch(/the provider resource has changed.* To settle it:/s);
  });

  test("says nothing of what the `up` has to find out", async () => {
    const world = await afterKill();
    await preview(world);
    expect(world.messages.all).toEqual([]);
  });
});

describe("the end of a run", () => {
  test("names what earlier runs of the stack have left, once, with their ids and the way out", async () => {
    const world = await afterKill({ record: { id: "i-1" } });
    for (let time = 0; time < 2; time++) reportInDoubt(world.session);
    expect(world.messages.warnings).toEqual([
      expect.stringMatching(
        /1 earlier create is in doubt.*\(i-1\)\.\n.* To settle it: `.*settle`$/,
      ),
    ]);
  });

  test("names nothing that the preview has spoken of, and nothing of another stack", async () => {
    const world = await afterKill({ record: { id: "i-1" } });
    world.service.has("i-1", { name: generated(1) });
    await preview(world);
    reportInDoubt(world.session);
    reportInDoubt(world.nextRun({}, { scope: "another" }).session);
    expect(world.messages.warnings).toEqual([]);
  });

  test.each(["before", "after"])(
    "names what a skipped step of an up has spoken of, %s the first step that is not: its error reached nobody",
    async (when) => {
      const world = await afterKill({ record: { id: "i-1" } });
      world.service.has("i-1", { name: generated(1) });
      const { engine } = world.session;
      if (when === "after") engine.change({ urn: urnOf("other"), preview: false });
      await preview(world);
      if (when === "before") engine.delete({ urn: urnOf("other"), id: "i-9" });
      reportInDoubt(world.session);
      expect(world.messages.warnings).toEqual([expect.stringContaining("(i-1)")]);
    },
  );

  test("of a destroy, too", async () => {
    const { ctx, messages } = await afterKill();
    const provider = createProvider(ctx);
    const args = propertyMap({ baseUrl: "https://api.example.com/v2", apiToken: liveToken });
    await provider.configure({ args, scope: scopeId });
    provider.cancel("finished");
    expect(messages.warnings).toEqual([expect.stringContaining("1 earlier create is in doubt")]);
  });
});
