/** Tests of Diff: which inputs changed, and which replacements are refused. */
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  propertyMap,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import { OperationFailed } from "../errors";
import type { DiffOccasion } from "../engine";
import type { Verdict } from "../evidence/witness";
import { fail, failed } from "../testing/fakeService";
import type { DiffRequest } from "../pulumi/calls";
import {
  errorOf,
  inputsOf,
  scene,
  testToken,
  urnOf,
  type Scene,
  held,
  verdicts,
} from "../testing/scene";
import { changedInputs, decideDiff, diffInstance, type DiffChange, type DiffFacts } from "./diff";
import { retainReplaced } from "./retained";
import { inputNames } from "./definition";
import { heldBy, Instance } from "./instance";

type Values = Record<string, PropertyValue | undefined>;

/** The outputs of an instance that this provider created. They have every input, and null if it is unset. */
function outputsOf(inputs: PropertyMap): PropertyMap {
  return propertyMap(Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null])));
}

function diff(olds: Values, news: Values) {
  const oldInputs = inputsOf(olds);
  return changes({ oldInputs, oldOutputs: outputsOf(oldInputs), news: inputsOf(news) });
}

/** The changes between what the state holds and the program. */
const changes = ({ oldInputs: inputs, oldOutputs, news }: Omit<DiffRequest, "urn" | "id">) =>
  changedInputs(held(oldOutputs, { inputs }), news);
type Changes = ReturnType<typeof changedInputs>["detailed"];
const script = "#!/bin/sh\necho hello\n";

/** A script as gzip, in Base64. `header`: the byte for the time and the one for the system in its header. */
function gzip({ text = script, level = 9, header = 0 } = {}): string {
  const packed = gzipSync(text, { level });
  packed[4] = header;
  packed[9] = header;
  return packed.toString("base64");
}

/** A MIME message with a part that is a message, too, and one whose script has a line like a boundary. */
function mime(boundary: string, end = "\n"): string {
  const inner = `inner-${boundary}`;
  return [
    "MIME-Version: 1.0",
    `Content-Type: multipart/mixed; charset=utf-8;\n boundary="${boundary}"`,
    "",
    `--${boundary}`,
    `Content-Type: multipart/mixed; boundary=${inner}`,
    "",
    `--${inner}`,
    "Content-Type: text/x-shellscript",
    "",
    "#!/bin/sh",
    boundary === "x" ? "--other" : "--boundary",
    `--${inner}--`,
    `--${boundary}--`,
    "",
  ].join(end);
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const bytes = (...list: number[]) => Buffer.from(list).toString("base64");

test.each<[Values, Values, Changes]>([
  [{}, { flavorId: "another" }, { flavorId: "update-replace" }],
  [{ sshKeys: ["a"] }, {}, { sshKeys: "delete-replace" }],
  [{ sshKeys: ["a", "b"] }, { sshKeys: ["b", "c"] }, { sshKeys: "update-replace" }],
  [{ userData: "a" }, { userData: "A" }, { userData: "update-replace" }],
  // Bytes that are not UTF-8 text are compared exactly.
  [
    { userDataBase64: bytes(255, 13, 10) },
    { userDataBase64: bytes(255, 10) },
    { userDataBase64: "update-replace" },
  ],
  // Neither a broken gzip nor one that unpacks to more than is compared is unpacked.
  [
    { userDataBase64: gzip().slice(0, 24) },
    { userDataBase64: gzip({ header: 7 }).slice(0, 24) },
    { userDataBase64: "update-replace" },
  ],
  [
    { userDataBase64: gzip({ text: "a".repeat(2 ** 22 + 1) }) },
    { userDataBase64: gzip({ text: "a".repeat(2 ** 22 + 1), header: 7 }) },
    { userDataBase64: "update-replace" },
  ],
  // Only a boundary may differ.
  [{ userData: mime("a") }, { userData: mime("x") }, { userData: "update-replace" }],
  // An unknown value is a change (G10).
  [{ sshKeys: ["a"] }, { sshKeys: ["a", Unknown.value] }, { sshKeys: "update-replace" }],
])("from %j to %j replaces, and names %j (G5)", (olds, news, changed) => {
  const replaced = Object.keys(changed);
  expect(diff(olds, news)).toEqual({ detailed: changed, replaced, asserted: [], recorded: [] });
});

test.each<[string, Values, Values]>([
  ["order and repetition", { sshKeys: ["a", "b"] }, { sshKeys: ["b", "a", "a"] }],
  ["white space around an id", { flavorId: "a\n" }, { flavorId: "a" }],
  ["an empty list", {}, { sshKeys: [] }],
  ["no list instead of an empty one", { sshKeys: [] }, { sshKeys: null }],
  ["another line ending", { userData: "a\nb\n" }, { userData: "a\r\nb\r\n" }],
  ["another encoding", { userData: "ä\n" }, { userDataBase64: base64("ä\r\n") }],
  ["a line break in Base64", { userDataBase64: "YWJj" }, { userDataBase64: "YW\nJj" }],
  ["an empty script", { userData: "" }, {}],
  ["the level of gzip", { userDataBase64: gzip() }, { userDataBase64: gzip({ level: 0 }) }],
  ["gzip in place of text", { userData: script }, { userDataBase64: gzip() }],
  ["the boundary of a MIME message", { userData: mime("a.b") }, { userData: mime("c+d") }],
  [
    "the boundary in gzip",
    { userDataBase64: gzip({ text: mime("a") }) },
    { userDataBase64: gzip({ text: mime("b") }) },
  ],
  [
    "secrecy",
    { flavorId: "a", userData: "x" },
    { flavorId: new Secret("a"), userData: new Secret("x") },
  ],
])("%s is no change (G5)", (_what, olds, news) => {
  expect(diff(olds, news).detailed).toEqual({});
});

test("a script that moves to the other input is recorded in place, so that the outputs follow", () => {
  const { detailed, recorded } = diff({ userData: script }, { userDataBase64: gzip() });
  expect([detailed, recorded]).toEqual([{}, ["userData", "userDataBase64"]]);
  expect(
    diff({ userDataBase64: gzip() }, { userDataBase64: gzip({ header: 7 }) }).recorded,
  ).toEqual([]);
});

test("after a failed Update, the inputs of the state are older than the outputs, which say what has been recorded", () => {
  const moved = inputsOf({ userData: script });
  const before = { oldInputs: moved, oldOutputs: outputsOf(inputsOf({ userDataBase64: gzip() })) };
  expect(changes({ ...before, news: moved })).toMatchObject({
    detailed: {},
    recorded: ["userData", "userDataBase64"],
  });
  const news = inputsOf({ waitForPort: 22 });
  const recorded = { oldInputs: inputsOf(), oldOutputs: outputsOf(news) };
  expect(changes({ ...recorded, news }).detailed).toEqual({});
});

test.each([
  ["becomes secret", "web"],
  ["is secret in the inputs alone, as in an import file,", new Secret("web")],
])("an input that %s is recorded, so that the output is secret, too (G8)", (_, name) => {
  const news = inputsOf({ name: new Secret("web") });
  const oldInputs = inputsOf({ name });
  const { detailed, recorded } = changes({ oldInputs, oldOutputs: outputsOf(inputsOf()), news });
  expect([detailed, recorded]).toEqual([{}, ["name"]]);
});

test("an input that an import could not read is recorded in place, and never replaces (G5)", () => {
  const { replaced, asserted } = changes({
    oldInputs: propertyMap({ name: "web" }),
    oldOutputs: propertyMap({ name: "web", status: "ACTIVE", __read: true }),
    news: inputsOf({ sshKeys: ["a"], userData: new Secret("x") }),
  });
  expect(replaced).toEqual([]);
  expect(asserted).toEqual(["flavorId", "imageId", "vpcId", "sshKeys", "userData"]);
});

test("an input that an import file added is recorded in the outputs, too, and never replaces (G5)", () => {
  const oldInputs = inputsOf({ sshKeys: ["a"] });
  const oldOutputs = propertyMap({ name: "web", status: "ACTIVE", __read: true });
  const { detailed } = changes({ oldInputs, oldOutputs, news: oldInputs });
  expect(detailed).toEqual({ flavorId: "add", imageId: "add", vpcId: "add", sshKeys: "add" });
  const news = inputsOf({ flavorId: "other", sshKeys: ["a"] });
  expect(changes({ oldInputs, oldOutputs, news }).replaced).toEqual(["flavorId"]);
});

test("an input that the version which created the instance did not know was not sent, so it replaces (G5)", () => {
  const news = inputsOf({ sshKeys: ["a"], waitForPort: 22 });
  const { sshKeys: _, waitForPort: _port, ...outputs } = outputsOf(inputsOf());
  const olds = { oldInputs: inputsOf(), oldOutputs: propertyMap(outputs) };
  const { detailed } = changes({ ...olds, news });
  expect(detailed).toEqual({ sshKeys: "add-replace", waitForPort: "add" });
  expect(changes({ ...olds, news: inputsOf() }).detailed).toEqual({});
});

test("a program with the name that the list shows changes nothing", () => {
  const sides = (more: Values, name = "web-a2c4") => ({
    oldInputs: inputsOf({ name: "web-1f3d" }),
    oldOutputs: propertyMap({ ...inputsOf({ name: "web-a2c4" }), ...more }),
    news: inputsOf({ name }),
  });
  expect(changes(sides({})).detailed).toEqual({});
  expect(changes(sides({ name: new Secret("web-a2c4") })).detailed).toEqual({});
  // After a rename at the service, the program still has its own name.
  expect(changes(sides({}, "web-1f3d")).detailed).toEqual({});
  expect(changes(sides({}, "web-other")).detailed).toEqual({ name: "update-replace" });
  expect(changes(sides({}, "WEB-a2c4")).detailed).toEqual({});
  // The state has no such input if the program gave none, and the service has made the value.
  const { name: _, ...oldInputs } = inputsOf();
  expect(changes({ ...sides({}), oldInputs: propertyMap(oldInputs) }).detailed).toEqual({});
});

test("any inputs are equal to themselves", () => {
  const optional = (value: fc.Arbitrary<PropertyValue>) => fc.option(value, { nil: undefined });
  const text = fc.string({ unit: "binary" });
  const some = fc.record({
    name: fc.string({ unit: "binary", minLength: 1 }),
    sshKeys: optional(fc.array(text)),
    userData: optional(text.map((value) => new Secret(value))),
    userDataBase64: optional(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"))),
  });
  fc.assert(fc.property(some, (values) => expect(diff(values, values).detailed).toEqual({})));
});

const urn = urnOf("web");

/** Calls Diff. What it is about shows in the calls before. */
const call = ({ session }: Scene, request: DiffRequest) =>
  diffInstance(session, request, session.engine.diff(request, heldBy(request)));

/** Calls Diff in an update. By default, the instance was created with the settings of `creator`. */
function diffOf(world: Scene, news: Values, creator = world, olds: Partial<DiffRequest> = {}) {
  const origin = propertyMap(creator.session.connection.origin());
  const oldOutputs = propertyMap({ ...outputsOf(inputsOf()), __origin: origin });
  const request = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs, news: inputsOf(news) };
  world.session.engine.check({ urn, olds: inputsOf() });
  return call(world, { ...request, ...olds });
}

/** A scene in which the instance exists. */
function existing(args: Values = {}): Scene {
  const world = scene(propertyMap(args));
  world.service.has("i-1", { name: "web" });
  return world;
}

test.each<[string, Values, object]>([
  ["the flavor that it has", { flavorId: "fallback" }, { flavorId: "update" }],
  ["another order", { fallbackFlavorIds: ["y", "fallback"] }, { fallbackFlavorIds: "update" }],
  ["no list", { fallbackFlavorIds: null }, { fallbackFlavorIds: "delete" }],
])("%s is recorded, and replaces nothing", async (_, change, detailed) => {
  const world = existing();
  const before = inputsOf({ fallbackFlavorIds: ["fallback", "y"] });
  const oldOutputs = propertyMap({ ...outputsOf(before), flavorIdUsed: "fallback" });
  const news = { fallbackFlavorIds: ["fallback", "y"], ...change };
  const olds = { oldInputs: before, oldOutputs };
  const found = await diffOf(world, news, world, olds);
  expect([found.detailed, found.needsUpdate]).toEqual([detailed, true]);
  // Any other flavor replaces the instance, as ever.
  const other = diffOf(existing(), { ...news, flavorId: "other" }, world, olds);
  expect((await errorOf(other)).message).toContain("can't be replaced");
});

test.each<[string, string, PropertyValue, string]>([
  ["the first program", "a", ["b", "used"], "update"],
  ["one that leaves a refused flavor out", "b", ["used", "c"], "update"],
  ["a refused flavor without the one in use", "a", ["b"], "update-replace"],
  ["a bigger one, with the one in use as a fallback", "bigger", ["used"], "update-replace"],
  ["a fallback that is not known yet", "a", Unknown.value, "update-replace"],
])("after a create that two flavors were refused, %s: %s %j is %s", (_, flavorId, list, kind) => {
  const made = inputsOf({ flavorId: "a", fallbackFlavorIds: ["b", "used"] });
  const accepted = { id: "i-1", networks: [] };
  const origin = scene().session.connection.origin();
  for (const secret of [false, true]) {
    const inputs = secret ? propertyMap({ ...made, flavorId: new Secret("a") }) : made;
    const of = { urn: urnOf("web"), inputs, flavorIdUsed: "used" };
    const { outputs } = Instance.accepted(of, accepted, origin, "");
    expect(outputs["__refused"]).toEqual(secret ? new Secret(["a", "b"]) : ["a", "b"]);
    const before = inputsOf({ flavorId: "used" });
    const held = { oldInputs: before, oldOutputs: propertyMap({ ...outputs, ...before }) };
    const news = inputsOf({ flavorId, fallbackFlavorIds: list });
    expect(changes({ ...held, news }).detailed).toMatchObject({ flavorId: kind });
  }
});

/** What is not as usual. */
const marks = {
  usual: {},
  elsewhere: {
    elsewhere: { own: "elsewhere", shared: [] },
  },
  "only a hash": { isTextMissing: true },
  "only a hash, elsewhere": { isTextMissing: true, elsewhere: { own: "elsewhere", shared: [] } },
  "no stack": { isStateless: true },
} satisfies Record<string, Partial<DiffFacts>>;
const look = "look, and if it may exist: refuseReplacement";
const destroyed = "look, and if it may exist: reply";

/** For each policy (fail, retain, destroy), what a Diff does: the step, or the one after a look that finds no proof of absence. */
test.each<[DiffOccasion, DiffChange, keyof typeof marks, [string, string, string]]>([
  ["program", "none", "usual", ["reply", "reply", "reply"]],
  ["program", "none", "elsewhere", ["warnElsewhere", "warnElsewhere", "warnElsewhere"]],
  ["program", "none", "no stack", ["reply", "reply", "reply"]],
  ["program", "recorded", "usual", ["reply", "reply", "reply"]],
  ["program", "recorded", "only a hash", ["reply", "reply", "reply"]],
  ["program", "recorded", "elsewhere", ["warnElsewhere", "warnElsewhere", "warnElsewhere"]],
  ["program", "recorded", "no stack", ["refuseStateless", "refuseStateless", "refuseStateless"]],
  ["program", "asserted", "usual", ["reply", "reply", "reply"]],
  ["program", "asserted", "elsewhere", ["refuseElsewhere", "refuseElsewhere", "refuseElsewhere"]],
  ["program", "asserted", "no stack", ["refuseStateless", "refuseStateless", "refuseStateless"]],
  ["program", "perhapsReplaced", "usual", ["warnPerhapsReplaced", "reply", "reply"]],
  ["program", "perhapsReplaced", "elsewhere", ["warnPerhapsReplaced", "reply", "reply"]],
  ["program", "perhapsReplaced", "only a hash", ["warnPerhapsReplaced", "reply", "reply"]],
  ["program", "replaced", "usual", [look, "reply", destroyed]],
  ["program", "replaced", "elsewhere", ["refuseElsewhere", "refuseElsewhere", "refuseElsewhere"]],
  [
    "program",
    "replaced",
    "only a hash",
    ["refuseWithoutText", "refuseWithoutText", "refuseWithoutText"],
  ],
  [
    "program",
    "replaced",
    "only a hash, elsewhere",
    ["refuseWithoutText", "refuseWithoutText", "refuseWithoutText"],
  ],
  ["program", "replaced", "no stack", ["refuseStateless", "refuseStateless", "refuseStateless"]],
  // What a dependent uses is unknown. Its other inputs are the old ones, and of its user data there may be only the hash.
  ["dependent", "recorded", "elsewhere", ["warnElsewhere", "warnElsewhere", "warnElsewhere"]],
  ["dependent", "perhapsReplaced", "only a hash", [look, "reply", destroyed]],
  [
    "dependent",
    "perhapsReplaced",
    "elsewhere",
    ["refuseElsewhere", "refuseElsewhere", "refuseElsewhere"],
  ],
  ...(["refresh", "import"] as const).flatMap((occasion) =>
    (["none", "recorded", "asserted", "replaced"] as const).map(
      (change): [DiffOccasion, DiffChange, keyof typeof marks, [string, string, string]] => [
        occasion,
        change,
        "elsewhere",
        ["reply", "reply", "reply"],
      ],
    ),
  ),
])("a Diff (%s) that finds %s, %s: %j (G4)", (occasion, change, mark, expected) => {
  const plain = { isStateless: false, isTextMissing: false };
  const steps = (["fail", "retain", "destroy"] as const).map((deletePolicy) => {
    const facts: DiffFacts = { ...plain, occasion, change, deletePolicy, ...marks[mark] };
    const { kind } = decideDiff(facts);
    if (kind !== "look") return kind;
    const after = (verdict: Verdict) => decideDiff({ ...facts, verdict }).kind;
    expect(after(verdicts.absent)).toBe("reply");
    const open = after(verdicts.open("incomplete"));
    expect(after({ kind: "listed", items: [{ id: "i-1" }] })).toBe(open);
    return `look, and if it may exist: ${open}`;
  });
  expect(steps).toEqual(expected);
});

test("a replacement whose Delete would fail is refused before anything is changed (G4)", async () => {
  const world = existing();
  const error = await errorOf(diffOf(world, { flavorId: "b" }));
  expect(error).toBeInstanceOf(OperationFailed);
  const why = "the service documents no call to destroy it";
  expect(error.message.split("\n")).toEqual([
    `instance i-1 can't be replaced: it still exists and is billed, and ${why}.`,
    "  - remove all that the change replaces (Pulumi stops at the first) at the service (its portal), and run this again",
    "  - create the new ones beside the old ones: `COMPUTE_DELETE_POLICY=retain pulumi up`",
    expect.stringMatching(/^More: https:.*delete\.md#a-replacement$/),
  ]);
  expect(world.messages.warnings).toEqual([]);
});

test("a replacement is also refused if it is not known whether the instance exists (G4)", async () => {
  const world = scene();
  world.service.unreadable = 1;
  const words = "instance i-1 can't be replaced: whether it still exists can't be told";
  const unproven = (await errorOf(diffOf(world, { flavorId: "b" }))).message;
  expect(unproven).toContain(words);
  expect(unproven).toContain(
    "\n  - create the new ones beside the old ones: `COMPUTE_DELETE_POLICY=retain pulumi up`",
  );

  const unreachable = existing();
  unreachable.service.listFaults.push(fail(failed("unreachable", "no route", "GET")));
  const { message } = await errorOf(diffOf(unreachable, { flavorId: "b" }));
  expect(message).toContain("no route");
});

test("an unknown value beside an input that has surely changed leaves no doubt (G4, G10)", async () => {
  for (const news of [
    { imageId: "b", vpcId: Unknown.value },
    { flavorId: "b", userData: new Secret(Unknown.value) },
  ]) {
    const { message } = await errorOf(diffOf(existing(), news));
    expect(message).toContain("instance i-1 can't be replaced");
  }
});

test("an unknown value may turn out to be unchanged, so it is only a warning (G4, G10)", async () => {
  for (const news of [
    { flavorId: Unknown.value },
    { userData: new Secret(Unknown.value) },
    { userData: "x", userDataBase64: Unknown.value },
    { flavorId: "b", fallbackFlavorIds: Unknown.value },
  ]) {
    const world = existing();
    await diffOf(world, news);
    expect(world.messages.warnings).toEqual([
      expect.stringContaining("the instance is perhaps replaced, once all values are known"),
    ]);
    expect(world.service.calls).toEqual([]);
  }
});

const otherToken = { apiToken: new Secret(testToken) };
const otherAddress = { baseUrl: "https://b.example/v2" };
const wasLive = "it was made with a live token, but the token given now is a test one";
const livesAt =
  "it lives at https://api.example.com/v2, but compute:baseUrl is https://b.example/v2";
const giveToken = "  - set a live token with `pulumi config set --secret compute:apiToken`";
const giveAddress = "  - `pulumi up -c compute:baseUrl=https://api.example.com/v2`";
test.each<[Values, string[]]>([
  [otherToken, [`: ${wasLive}.`, giveToken]],
  [otherAddress, [`: ${livesAt}.`, giveAddress]],
  [{ ...otherToken, ...otherAddress }, [":", `${livesAt}; ${wasLive}.`, giveToken, giveAddress]],
])("an instance out of reach of %j is not replaced (G3, G4)", async (args, lines) => {
  const made = existing();
  const world = made.nextRun(propertyMap(args));
  const { message } = await errorOf(diffOf(world, { flavorId: "b" }, made));
  const page = expect.stringMatching(/^More: .*instance\.md#out-of-reach$/);
  const [end = "", ...others] = lines;
  expect(message.split("\n")).toEqual([`instance i-1 is out of reach${end}`, ...others, page]);
  expect(world.service.count("list")).toBe(0);
});

test("an unchanged instance out of reach is kept, with a warning in an update, and no request is sent", async () => {
  const made = existing();
  const world = made.nextRun(propertyMap({ baseUrl: "https://b.example/v2" }));
  const origin = propertyMap(made.session.connection.origin());
  const oldOutputs = propertyMap({ ...outputsOf(inputsOf()), __origin: origin });
  const sides = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs, news: inputsOf() };
  expect((await call(world, sides)).detailed).toEqual({});
  expect(world.messages.all).toEqual([]);
  expect((await diffOf(world, {}, made)).detailed).toEqual({});
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("warning out of reach: it lives at"),
  ]);
  expect((await diffOf(world, { waitForPort: 22 }, made)).detailed).toEqual({ waitForPort: "add" });
  // An Update would have to record the assertion, and would fail.
  const imported = {
    oldInputs: propertyMap({ name: "web" }),
    oldOutputs: propertyMap({ __origin: origin }),
  };
  expect((await errorOf(diffOf(world, {}, made, imported))).message).toContain("is out of reach");
  expect(world.service.calls).toEqual([]);
});

test("an instance of another account is not replaced if the replacement would destroy it (G3, G4)", async () => {
  const world = existing({ destroyPath: "/v2/instances/{id}" });
  world.service.accountAnswer = () => ({ id: "acc-2" });
  const origin = { ...world.session.connection.origin(), account: "acc-1" };
  const oldOutputs = propertyMap({ __origin: propertyMap(origin) });
  const difference = diffOf(world, { flavorId: "b" }, world, { oldOutputs });
  expect((await errorOf(difference)).message).toContain("belongs to account acc-1");
});

const behind = 'these instances are not destroyed (compute:deletePolicy is "retain")';
test.each<[string, (world: Scene) => void, string[]]>([
  ["it exists", () => undefined, ["i-1 (web)"]],
  ["it is gone", ({ service }) => void service.instances.clear(), []],
  [
    "no listing tells",
    ({ service }) => void service.listFaults.push(fail(failed("unreachable", "no route", "GET"))),
    ["i-1 (web), if it still exists"],
  ],
])(
  "if %s, the end of a preview says what is known of the instance that a replacement leaves behind (G4)",
  async (_, prepare, expected) => {
    const world = existing({ deletePolicy: "retain" });
    prepare(world);
    const { deleteBeforeReplace } = await diffOf(world, { flavorId: "b" });
    expect(deleteBeforeReplace).toBe(false);
    // In an `up` whose create fails, the instance stays as it is.
    world.session.retained.report();
    expect(world.messages.warnings).toEqual([]);
    await retainReplaced(world.session, urn);
    world.session.retained.report();
    expect(world.messages.warnings).toEqual(
      expected.map((line) => expect.stringMatching(new RegExp(`${line.replace(/[()]/g, ".")}$`))),
    );
  },
);

test("with destroy, a preview leaves nothing behind", async () => {
  const world = existing({ destroyPath: "/v2/instances/{id}" });
  await diffOf(world, { flavorId: "b" });
  await retainReplaced(world.session, urn);
  world.session.retained.report();
  expect(world.messages.warnings).toEqual([]);
});

/** The Diff of a dependent, before the engine deletes what it depends on: no Check came, and the used output is unknown. */
function diffAsDependent(world: Scene, news: Values) {
  const oldOutputs = outputsOf(inputsOf());
  const sides = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs, news: inputsOf(news) };
  return call(world, sides);
}

test("the engine deletes a dependent for an unknown value alone, so its replacement is refused in the preview, or goes on if it is gone (G4)", async () => {
  const world = existing();
  const error = await errorOf(diffAsDependent(world, { vpcId: Unknown.value }));
  expect(error.message).toMatch(
    /^instance i-1 \(web, which uses an output .*\) can't be replaced: it still exists/,
  );
  const removed = scene();
  expect((await diffAsDependent(removed, { vpcId: Unknown.value })).detailed).toEqual({
    vpcId: "update-replace",
  });
  expect([...world.messages.warnings, ...removed.messages.warnings]).toEqual([]);
});

test("with retain, a dependent that the engine replaces is named, since no other Diff comes (G4)", async () => {
  const world = existing({ deletePolicy: "retain" });
  await diffAsDependent(world, { userData: new Secret(Unknown.value) });
  await retainReplaced(world.session, urn);
  world.session.retained.report();
  expect(world.messages.warnings).toEqual([expect.stringContaining(behind)]);
});

test("the Diff of a refresh names the outputs that have changed, and warns of no replacement (G4)", async () => {
  const world = existing();
  const { engine } = world.session;
  engine.read({ urn, inputs: inputsOf(), outputs: outputsOf(inputsOf()) });
  engine.resource(urn).drift = ["status"];
  const sides = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs: outputsOf(inputsOf()) };
  const news = inputsOf({ name: "renamed" });
  expect(await call(world, { ...sides, news })).toMatchObject({
    detailed: { name: "update-replace" },
    drift: ["status"],
  });
  // What comes after a refresh has no drift of its own.
  expect((await diffOf(world, {})).drift).toEqual([]);
  expect(world.messages.all).toEqual([]);
});

test("without a change, Diff prints nothing, and still deletes first if Delete would fail (G4)", async () => {
  const world = existing();
  expect(await diffOf(world, {})).toEqual({
    detailed: {},
    drift: [],
    needsUpdate: false,
    deleteBeforeReplace: true,
  });
  expect(world.messages.all).toEqual([]);
  expect(world.service.calls).toEqual([]);
  const destroying = existing({ destroyPath: "/v2/instances/{id}" });
  expect((await diffOf(destroying, {})).deleteBeforeReplace).toBe(false);
});

test("without a stack, a change is refused, because nothing would replace the instance", async () => {
  const sides = {
    urn: urnOf("web"),
    id: "i-1",
    oldInputs: propertyMap({ name: "web" }),
    oldOutputs: propertyMap({ name: "web", status: "ACTIVE" }),
  };
  for (const deletePolicy of ["fail", "retain"]) {
    const world = scene({ deletePolicy }, undefined, { kind: "stateless" });
    world.service.has("i-1", { name: "web" });
    const refused = async (news: Values) =>
      (await errorOf(call(world, { ...sides, news: propertyMap(news) }))).message;
    for (const news of [{ name: "other" }, { name: "web", waitForPort: 22 }])
      expect(await refused(news)).toMatch(/^instance i-1 exists and was not changed: /);
    const same = await call(world, { ...sides, news: propertyMap({ name: "web" }) });
    expect(same.detailed).toEqual({});
  }
});
