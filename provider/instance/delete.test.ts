/** Tests of Delete, which tells the truth under each policy ("Delete tells the truth", G4). */
import { expect, test } from "@jest/globals";
import { Canceled, isEnded } from "../abort";
import { isReport, OperationFailed } from "../errors";
import { propertyMap, Secret, type PropertyMap, type PropertyValue } from "../pulumi/propertyValue";
import { answered, fail, failed } from "../testing/fakeService";
import type { ListItem } from "../api/contract";
import type { KnownInstance } from "../engine";
import {
  acceptedOutputs,
  errorOf,
  inputsOf,
  scene,
  testToken,
  urnOf,
  type Scene,
  verdicts,
} from "../testing/scene";
import { decideDelete, deleteInstance, type DeleteFacts } from "./delete";

const urn = urnOf("web");

const remove = (
  world: Scene,
  oldOutputs: PropertyMap = acceptedOutputs(world),
  timeoutSeconds = 60,
  id = "i-1",
) => {
  const request = { urn, id, oldInputs: inputsOf(), oldOutputs, timeoutSeconds };
  return deleteInstance(world.session, request, world.session.engine.delete(request));
};

const own = scene().session.connection.origin();

/** A scene in which the instance exists. */
function existing(args: Record<string, PropertyValue> = {}): Scene {
  const world = scene(args);
  world.service.has("i-1", { name: "web" });
  return world;
}
/** The state of an instance that was accepted a moment ago. */
const justMade = (world: Scene) =>
  propertyMap({ ...acceptedOutputs(world), __accepted: world.clock.date().toISOString() });
const destroyPath = { destroyPath: "/v2/instances/{id}" };
const retain = { deletePolicy: "retain" };
const sandbox = { apiToken: new Secret(testToken) };

const keeper = { keeper: "another resource manages it" };
const need = { need: { lack: "its replacement is not ready", command: "pulumi up" } };
const stateless = { isStateless: true };

test.each<[DeleteFacts["deletePolicy"], Partial<DeleteFacts>, string, string | undefined]>([
  ["fail", {}, "look", "refuse"],
  ["destroy", {}, "look", "destroy"],
  ["retain", {}, "retain", undefined],
  // What another stack or resource manages is left to it.
  ["fail", keeper, "leave", undefined],
  ["destroy", keeper, "leave", undefined],
  ["retain", keeper, "leave", undefined],
  ["retain", { ...keeper, ...need }, "leave", undefined],
  // No server is ended before the one that replaces it is ready.
  ["fail", need, "look", "refuseWhileNeeded"],
  ["destroy", need, "look", "refuseWhileNeeded"],
  ["retain", need, "look", "refuseWhileNeeded"],
  // There is no state to drop the instance from.
  ["fail", stateless, "look", "refuse"],
  ["destroy", stateless, "look", "destroy"],
  ["retain", stateless, "look", "refuse"],
])(
  "with %s and %j, a delete begins with: %s. If the instance exists or may exist, it goes on with: %s",
  (deletePolicy, more, first, existing) => {
    const facts = { deletePolicy, isStateless: false, ...more };
    expect(decideDelete(facts).kind).toBe(first);
    if (existing === undefined) return;
    const found = [verdicts.absent, verdicts.listed(), verdicts.open("incomplete")];
    expect(found.map((verdict) => decideDelete({ ...facts, verdict }).kind)).toEqual([
      "succeed",
      existing,
      existing,
    ]);
  },
);

test("by default, a delete of an existing instance fails, and names the id, the cost and the ways out", async () => {
  const world = existing();
  const { message } = await errorOf(remove(world));
  const why = "the service documents no call to destroy it";
  expect(message.split("\n")).toEqual([
    `instance i-1 was not deleted: it still exists and is billed, and ${why}.`,
    "  - remove it at the service (its portal), and run this again",
    expect.stringMatching(
      /drop it from the state.* COMPUTE_DELETE_POLICY=retain before the same command$/,
    ),
    expect.stringMatching(/^More: https:.*delete\.md$/),
  ]);
  expect(world.service.count("destroy")).toBe(0);
});

test.each<[string, (world: Scene) => PropertyMap | void, string | undefined]>([
  [
    "the state has another token",
    outputsOfOtherToken,
    "`pulumi refresh`, because the state has another token than this run. Then remove it at the service (its portal), and run the refused command again",
  ],
  ["the listing is not complete", ({ service }) => void (service.unreadable = 1), undefined],
])("if %s, no way is named that the next listing would not show", async (_what, prepare, way) => {
  const world = existing();
  const { message } = await errorOf(remove(world, prepare(world) ?? acceptedOutputs(world)));
  const ways = message.split("\n  - ").filter((line) => line.includes("at the service"));
  expect(ways).toEqual(way === undefined ? [] : [expect.stringContaining(way)]);
  expect(message).toContain("it still exists and is billed");
});

test("the reason and the ways out are said once in a run, to the same instance each time, and each further one has one line", async () => {
  const world = existing();
  world.service.has("i-2", { name: "web" });
  const linesOf = async (id: string) => {
    const error = await errorOf(remove(world, undefined, 60, id));
    if (!(error instanceof OperationFailed && isReport(error.says))) throw error;
    return world.session.notices.linesOf(error.says, urnOf(id));
  };
  expect(await linesOf("i-1")).toHaveLength(4);
  expect(await linesOf("i-2")).toEqual([
    "instance i-2 was not deleted: it still exists and is billed, as for i-1.",
  ]);
  // An error hook asks again, and Pulumi shows only the last answer.
  expect(await linesOf("i-1")).toHaveLength(4);
});

test.each([
  ["has not", "db", ["i-2"], true],
  ["has", "web", ["i-2"], false],
  // A rename would have made an instance.
  ["has not", "db", [], false],
])(
  "an `up` whose program %s the resource is led to an `up`, and names aliases: %s, %j, %p",
  async (_, registered, made, namesAliases) => {
    const world = existing();
    world.session.engine.check({ urn: urnOf(registered), olds: inputsOf() });
    for (const id of made) world.session.engine.ours.add(id);
    const { message } = await errorOf(remove(world));
    expect(message).toContain("and let it run: `COMPUTE_DELETE_POLICY=retain pulumi up`");
    expect(message).toContain("\n  - remove it at the service (its portal), and run this again\n");
    expect(message).not.toContain("pulumi destroy");
    expect(message.includes("`aliases`")).toBe(namesAliases);
  },
);

test("no message says that a sandbox instance is billed", async () => {
  const world = existing({ ...sandbox, deletePolicy: "fail" });
  for (const outputs of [acceptedOutputs(world), propertyMap({})]) {
    expect((await errorOf(remove(world, outputs))).message).not.toContain("billed");
  }
});

test.each([
  [
    "it is not known whether the instance exists",
    "whether it still exists can't be told",
    ({ service }: Scene) => void (service.unreadable = 1),
  ],
  [
    "the service lists what it has deleted",
    "it is listed as DELETED and may be billed",
    ({ service }: Scene) => service.has("i-1", { name: "web", status: "DELETED" }),
  ],
])(
  "if %s, the error says so, and names a way that no listing has to prove",
  async (_, why, make) => {
    const world = scene();
    make(world);
    const { message } = await errorOf(remove(world));
    expect(message).toContain(`instance i-1 was not deleted: ${why}`);
    expect(message).toContain("\n  - drop it from the state");
    // No listing would show that it was removed.
    expect(message.includes("remove it at the service")).toBe(!why.startsWith("whether"));
  },
);

test("if a listing fails, Delete fails, and the state stays (G3)", async () => {
  const world = scene();
  const error = answered(500, "GET");
  world.service.listFaults.push(fail(error));
  expect(await errorOf(remove(world))).toBe(error);
});

function outputsOfOtherToken(world: Scene): PropertyMap {
  const origin = { ...world.session.connection.origin(), tokenHash: "another" };
  return propertyMap({ ...acceptedOutputs(world), __origin: propertyMap(origin) });
}

const goOn = "They go on running, and are billed until they are removed at the service";
const inSandbox = "info 1 instance is not destroyed (in the sandbox until its lifetime is over)";
/** Returns the message with these lines, as the test's messages show it. */
const dropped = (...lines: string[]) =>
  [
    `warning these instances are not destroyed (compute:deletePolicy is "retain"). ${goOn}:`,
    ...lines.map((line) => `  - ${line}`),
  ].join("\n");

/** Returns what the end of a run says about the instances that its Deletes have dropped from the state. */
function reported({ session, messages }: Scene): string[] {
  const before = messages.all.length;
  session.retained.report();
  return messages.all.slice(before);
}

test.each([
  [retain, true, 1, [dropped("i-1 (web)")]],
  [retain, false, 3, []],
  [sandbox, true, 1, [inSandbox]],
])(
  "with %j, Delete drops the instance (exists: %s), and the end of the run names one that stays",
  async (args, exists, listings, expected) => {
    const world = exists ? existing(args) : scene(args);
    await remove(world);
    expect(world.messages.warnings).toEqual([]);
    expect(reported(world)).toEqual(expected);
    // Each instance is named once.
    expect(reported(world)).toEqual([]);
    expect(world.service.count("list")).toBe(listings);
  },
);

const active = { status: "ACTIVE", ipv4_public: "192.0.2.2" };
const provisioning = { ...active, status: "PROVISIONING" };
const [up, upWithRefresh] = ["`pulumi up`", "`pulumi up --refresh`"];
const notReady = (what: string) => `its replacement i-2 is not ready (${what})`;
const unready = { isUnfinished: true, status: "PROVISIONING", ipv4: undefined };
test.each<[string, Partial<KnownInstance>, Partial<ListItem> | undefined, string[]]>([
  ["is ready", {}, active, []],
  ["was not created", { id: "", ...unready }, undefined, ["its replacement was not created", up]],
  ["is not finished", unready, { ...active, status: "ERROR" }, [notReady("ERROR"), up]],
  // Nobody has waited for the rest, such as a port.
  ["is not finished, but listed as ready", unready, active, [notReady("ACTIVE"), up]],
  ["does not run", {}, { ...active, status: "OFFLINE" }, [notReady("OFFLINE"), upWithRefresh]],
  ["has failed", {}, { ...active, status: "ERROR" }, [notReady("ERROR"), upWithRefresh]],
  [
    "has lost its address",
    {},
    { ...active, ipv4_public: undefined },
    [notReady("its ipv4 is empty"), upWithRefresh],
  ],
  [
    "has no address yet",
    { ipv4: undefined },
    { ...active, ipv4_public: undefined },
    [notReady("its ipv4 is empty"), upWithRefresh],
  ],
  ["is gone", {}, undefined, ["its replacement i-2 is gone", upWithRefresh]],
  // The state is older than the listing.
  ["runs by now", { status: "OFFLINE" }, active, []],
  // The listing is older than the one that ended the wait, so what the run knew counts.
  ["is still PROVISIONING", {}, provisioning, []],
  ["did not run before", { status: "OFFLINE" }, provisioning, [notReady("OFFLINE"), upWithRefresh]],
  [
    "had no address before",
    { ipv4: undefined },
    { ...provisioning, ipv4_public: undefined },
    [notReady("its ipv4 is empty"), upWithRefresh],
  ],
  ["has its address by now", { ipv4: undefined }, active, []],
  ["is of another token", { origin: { ...own, tokenHash: "x" } }, { status: "ERROR" }, []],
  ["is out of reach", { origin: { ...own, baseUrl: "https://b/v2" } }, undefined, []],
])(
  "if what replaces an instance %s, no delete ends a serving one before",
  async (_, more, listed, [why, command]) => {
    const known = { id: "i-2", isUnfinished: false, status: "ACTIVE", ipv4: "192.0.2.2" };
    const world = existing(destroyPath);
    if (listed) world.service.has("i-2", listed);
    world.session.engine.hold(urn, { ...known, ...more }, true);
    const serving = { status: "ACTIVE", ipv4: "192.0.2.1" };
    const removed = remove(world, propertyMap({ ...acceptedOutputs(world), ...serving }));
    if (why === undefined) await removed;
    else {
      const [first = "", way = ""] = (await errorOf(removed)).message.split("\n");
      expect(first).toBe(`instance i-1 was not deleted: ${why}.`);
      expect(way.endsWith(`: ${command}`)).toBe(true);
    }
    expect(world.service.count("destroy")).toBe(why === undefined ? 1 : 0);
  },
);

test("a delete that waits for a successor names a removal by hand only with the token of the state: a refresh may fail there", async () => {
  for (const isOther of [false, true]) {
    const world = existing(destroyPath);
    world.session.engine.hold(urn, { id: "i-2", isUnfinished: true, status: "ERROR" }, true);
    const outputs = isOther ? outputsOfOtherToken(world) : acceptedOutputs(world);
    const { message } = await errorOf(remove(world, outputs));
    expect(message).toContain("once the new one is ready: `");
    expect(message.includes("to end the old one all the same: remove it")).toBe(!isOther);
    expect(message).not.toContain("because the state has another token");
  }
});

test.each<[string, Partial<KnownInstance>, string | undefined]>([
  ["is as the state has it", { isUnfinished: true, status: "ERROR" }, notReady("ERROR")],
  ["has stopped", { status: "OFFLINE" }, notReady("OFFLINE")],
  // A finished one, too, is PROVISIONING there.
  ["may be ready", { status: "PROVISIONING" }, undefined],
])("a replacement that the listings are cut off from %s", async (_, more, why) => {
  const world = existing(destroyPath);
  world.service.page = () => ({
    items: [...world.service.instances.values()],
    hasMore: true,
    unreadable: 0,
  });
  world.session.engine.hold(urn, { id: "i-2", isUnfinished: false, ...more }, true);
  const { message } = await errorOf(remove(world));
  if (why !== undefined) expect(message).toContain(why);
  expect(world.service.count("destroy")).toBe(why === undefined ? 1 : 0);
});

const withAddress = { ipv4: "192.0.2.1" };
test.each<[string, { ipv4?: string }, Partial<KnownInstance>, string[], boolean]>([
  ["may be meant to have none, in a later run,", withAddress, {}, [], true],
  ["replaces one without an address", {}, { isAwaited: true }, [], true],
  ["had one in an earlier run", withAddress, { ipv4: "192.0.2.2" }, [], false],
  ["was left unfinished by an earlier run", withAddress, {}, ["i-2"], false],
])(
  "if a replacement without an address %s, the old one is destroyed: %#",
  async (_, old, more, unfinished, isDestroyed) => {
    const world = existing(destroyPath);
    world.service.has("i-2", { ipv4_public: undefined });
    for (const id of unfinished) world.session.state.unfinished.add(id);
    const next = { id: "i-2", isUnfinished: false, status: "ACTIVE", ...more };
    world.session.engine.hold(urn, next, more.isAwaited);
    const serving = { ...acceptedOutputs(world), status: "ACTIVE", ...old };
    const removed = remove(world, propertyMap(serving));
    if (isDestroyed) await removed;
    else expect((await errorOf(removed)).message).toContain(notReady("its ipv4 is empty"));
    expect(world.service.count("destroy")).toBe(isDestroyed ? 1 : 0);
  },
);

test("a listing that shows both servers as PROVISIONING does not say that the old one serves nobody", async () => {
  const world = existing(destroyPath);
  for (const id of ["i-1", "i-2"]) world.service.has(id, { status: "PROVISIONING" });
  world.session.engine.hold(urn, { id: "i-2", isUnfinished: false, status: "OFFLINE" });
  const outputs = propertyMap({ ...acceptedOutputs(world), status: "ACTIVE" });
  expect((await errorOf(remove(world, outputs))).message).toContain(notReady("OFFLINE"));
  expect(world.service.count("destroy")).toBe(0);
});

test("what a listing shows to have stopped serves nobody, so it is ended whatever replaces it", async () => {
  const world = existing(destroyPath);
  for (const id of ["i-1", "i-2"]) world.service.has(id, { status: "OFFLINE" });
  world.session.engine.hold(urn, { id: "i-2", isUnfinished: false, status: "ACTIVE" });
  await remove(world, propertyMap({ ...acceptedOutputs(world), status: "ACTIVE" }));
  expect(world.service.count("destroy")).toBe(1);
});

test("a server whose resource an alias renames is not ended before its replacement is ready", async () => {
  const world = existing(destroyPath);
  const { engine } = world.session;
  world.service.has("i-2", { status: "ERROR" });
  // The Diff has the new URN, and the Delete the old one.
  engine.check({ urn: urnOf("web2"), olds: inputsOf() });
  engine.diff({ urn: urnOf("web2"), news: inputsOf() }, { id: "i-1", isUnfinished: false });
  engine.hold(urnOf("web2"), { id: "i-2", isUnfinished: true, status: "ERROR" });
  const { message } = await errorOf(remove(world));
  expect(message).toContain(notReady("ERROR"));
  expect(world.service.count("destroy")).toBe(0);
});

// Another process of the run has the resource now.
test.each([
  ["destroy", "destroy", undefined],
  ["destroy", "retain", "retained"],
  ["destroy", "fail", "it still exists and is billed, and the service documents no call"],
  ["retain", "destroy", "retained"],
  ["fail", "destroy", 'and "fail" is the policy in the recorded settings of its old provider'],
] as const)(
  "if the old provider has the policy %s and the new one %s, a DELETE is sent only if both say so",
  async (recorded, deletePolicy, kept) => {
    const world = existing({ ...destroyPath, deletePolicy: recorded });
    const request = { urn, id: "i-1", oldInputs: inputsOf(), oldOutputs: acceptedOutputs(world) };
    const occasion = { is: "replaced", deletePolicy } as const;
    const removed = deleteInstance(world.session, { ...request, timeoutSeconds: 60 }, occasion);
    if (kept === undefined || kept === "retained") await removed;
    else {
      const { message } = await errorOf(removed);
      expect(message).toContain(kept);
      expect(message).toContain("`COMPUTE_DELETE_POLICY=retain pulumi up`");
    }
    expect(world.service.count("destroy")).toBe(kept === undefined ? 1 : 0);
  },
);

test("retain names a billed instance that the list lacks for a moment, with all others", async () => {
  const world = existing(retain);
  const nothing = { items: [], hasMore: false, unreadable: 0 };
  world.service.page = () => (world.clock.now() < 4000 ? nothing : undefined);
  await remove(world);
  expect(reported(world)).toEqual([dropped("i-1 (web)")]);
});

test("if the engine shows nothing after the last call, each Delete names the instance that it drops", async () => {
  const world = existing(retain);
  world.ctx.showsLastMessages = () => Promise.resolve(false);
  await remove(world);
  expect(world.messages.warnings).toEqual([dropped("i-1 (web)")]);
  expect(reported(world)).toEqual([]);
});

test("the engine is asked once what it shows after the last call, however many instances are dropped", async () => {
  const world = existing(retain);
  let asked = 0;
  world.ctx.showsLastMessages = async () => ++asked > 0;
  await remove(world);
  await remove(world);
  expect(asked).toBe(1);
});

test.each([
  [retain, true, "status dropped from the state, not destroyed, i-1"],
  [retain, false, "status gone, i-1"],
  [{}, false, "status gone, i-1"],
  [destroyPath, true, "status gone, i-1"],
])(
  "with %j, the Info column ends with the old instance (exists: %s), also in a replacement",
  async (args, exists, last) => {
    const world = exists ? existing(args) : scene(args);
    world.session.ctx.messages.status(urn, "i-2 PROVISIONING");
    await remove(world);
    expect(world.messages.all.at(-1)).toBe(last);
  },
);

const isRetain = ' (compute:deletePolicy is "retain"';
test.each([
  ["recorded", {}, {}, `${isRetain} in the settings that the last \`pulumi up\` recorded)`],
  ["the program's", {}, { isOfProgram: true }, `${isRetain})`],
  ["typed by a person", { deletePolicy: "COMPUTE_DELETE_POLICY" }, {}, ""],
])(
  "with recorded settings, the end of the run names a policy that is %s as such",
  (_, variables, more, why) => {
    const world = scene(retain, undefined, { kind: "recorded", variables });
    const left = { id: "i-1", urn: "", isBilled: true, isListed: true };
    void world.session.retained.note({ ...left, ...more });
    expect(reported(world).join("\n")).toContain(`these instances are not destroyed${why}. They`);
  },
);

test.each<[string, (world: Scene) => PropertyMap | void]>([
  [
    "the service can't be reached",
    ({ service }) => void service.listFaults.push(fail(failed("unreachable", "no route", "GET"))),
  ],
  [
    "the service does not answer",
    ({ service, clock }) => void service.listFaults.push(() => clock.sleep(3_600_000)),
  ],
  ["the listing is not complete", ({ service }) => void (service.unreadable = 1)],
  ["it was accepted a moment ago", (world) => justMade(world)],
  ["the listing may be another tenant's", outputsOfOtherToken],
  ["the run was canceled", (world) => world.cancel()],
])('retain works, and says "if it still exists", if %s', async (_what, prepare) => {
  const world = scene(retain);
  await remove(world, prepare(world) ?? acceptedOutputs(world));
  const line = "i-1 (web), if it still exists";
  expect(reported(world)).toEqual([dropped(line)]);
  expect(world.clock.now()).toBeLessThanOrEqual(10_000);
});

test("a hundred deletes with retain share one wait for a service that does not answer, and one list at the end", async () => {
  const world = scene(retain);
  world.service.listFaults.push(() => world.clock.sleep(3_600_000));
  const all = Array.from({ length: 100 }, (_, n) => () => remove(world, undefined, 60, `i-${n}`));
  // The deletes run eight at a time, as in the engine.
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = all.pop(); next; next = all.pop()) await next();
    }),
  );
  expect(world.messages.warnings).toEqual([]);
  const lines = Array.from({ length: 100 }, (_, n) => `i-${n} (web), if it still exists`);
  const [report = "", ...others] = reported(world);
  expect(others).toEqual([]);
  expect(report.split("\n").slice(1).sort()).toEqual(lines.map((line) => `  - ${line}`).sort());
  expect(world.clock.now()).toBeLessThanOrEqual(10_000);
});

test("the default policy of a test token never drops an instance of a live token (G3, G4)", async () => {
  const firstRun = existing();
  const world = firstRun.nextRun(sandbox);
  expect((await errorOf(remove(world, acceptedOutputs(firstRun)))).message).toContain(
    "made with a live token",
  );
});

test("a destroy call succeeds only once the instance is proven gone", async () => {
  const world = existing(destroyPath);
  world.service.destroys.push(() => undefined);
  // Longer than the settling time.
  void world.clock.sleep(100_000).then(() => world.service.instances.delete("i-1"));
  const shown: boolean[] = [];
  world.service.page = () => void shown.push(world.service.instances.has("i-1"));
  await remove(world, undefined, 300);
  // Two listings that lack the instance are the proof (G3).
  expect(shown.filter((isShown) => !isShown)).toHaveLength(2);
  expect(world.service.count("destroy")).toBe(1);
});

test.each<[string, (world: Scene) => void, string]>([
  [
    "is not gone in time",
    (world) => world.service.has("i-1", { status: "DELETED" }),
    "instance i-1 is still listed as DELETED after its DELETE, and the 60 s (customTimeouts.delete) are over.",
  ],
  [
    "is canceled after the DELETE",
    (world) => world.cancel(),
    "whether instance i-1 was destroyed is not known: it was canceled. The instance stays in the state. Run again",
  ],
  [
    "is canceled during the DELETE",
    (world) => {
      world.cancel();
      throw new Canceled();
    },
    "whether instance i-1 was destroyed is not known: it was canceled. The instance stays in the state. Run again",
  ],
  [
    "is acknowledged, and the next listing fails",
    ({ service }) => void service.listFaults.push(fail(answered(400, "GET"))),
    "whether instance i-1 was destroyed is not known: GET /v2/instances",
  ],
  [
    "is acknowledged, and the next listing is answered with a pause of an hour",
    ({ session, service }) => {
      service.listFaults.push(undefined, () => {
        const error = answered(429, "GET");
        const call = { method: "GET", path: "/v2/instances" } as const;
        session.operations.retrying({ ...call, error, inMs: 3_600_000, isAsked: true });
        return new Promise(() => undefined);
      });
    },
    "The instance stays in the state.",
  ],
])(
  "if a destroy call %s, the error never says that nothing was changed",
  async (_what, destroy, words) => {
    const world = existing(destroyPath);
    world.service.destroys.push(() => destroy(world));
    const error = await errorOf(remove(world));
    expect(isEnded(error)).toBe(false);
    expect(error.message).toContain(words);
  },
);

test.each([
  [answered(403, "DELETE"), "instance i-1 was not destroyed"],
  [failed("unreachable", "refused", "DELETE"), "instance i-1 was not destroyed"],
  [
    failed("unsendable", "this id can't be part of a path", "DELETE"),
    "instance i-1 was not destroyed: DELETE /v2/instances: this id can't be part of a path.\nNothing was sent.",
  ],
  [answered(500, "DELETE"), "whether instance i-1 was destroyed is not known"],
  [failed("unanswered", "cut", "DELETE"), "whether instance i-1 was destroyed is not known"],
  [
    failed("unreachable", "refused after a cut", "DELETE").with({ mayHaveActed: true }),
    "whether instance i-1 was destroyed is not known",
  ],
])(
  "the error of a failed destroy call says what is known of the instance: %#",
  async (error, words) => {
    const world = existing(destroyPath);
    world.service.destroys.push(fail(error));
    expect((await errorOf(remove(world))).message).toContain(words);
  },
);

test.each([404, 410])(
  "after a %d for an instance that is listed beyond the settling time, the error names its status and asks to check the path",
  async (status) => {
    const world = existing(destroyPath);
    world.service.destroys.push(fail(answered(status, "DELETE")));
    const { message } = await errorOf(remove(world, undefined, 300));
    expect(message).toMatch(
      /^instance i-1 is still listed as ACTIVE, but the destroy call did not find it/,
    );
    expect(message).not.toContain("are over");
    expect(message).toContain("`pulumi state delete");
    expect(message).toContain('check compute:destroyPath "/v2/instances/{id}"');
  },
);

test.each([
  ["of this run, whose answer was lost", true],
  ["of an earlier run, which was interrupted", false],
])("if a listing lags behind a DELETE %s, the Delete succeeds", async (_, mayHaveActed) => {
  const world = existing(destroyPath);
  world.service.destroys.push(fail(answered(404, "DELETE").with({ mayHaveActed })));
  // After an answer that was lost, longer than the settling time.
  const lagsMs = mayHaveActed ? 100_000 : 30_000;
  void world.clock.sleep(lagsMs).then(() => world.service.instances.delete("i-1"));
  expect(await remove(world, undefined, 300)).toBeUndefined();
});

test("a 404 just after the creation is no proof, since a replica of the service may lag (G3)", async () => {
  const world = existing(destroyPath);
  // What else is listed makes no listing better.
  world.service.has("i-2", { name: "db" });
  world.session.engine.ours.add("i-2");
  world.service.destroys.push(fail(answered(404, "DELETE")));
  world.service.listFaults.push(undefined, () => {
    world.service.instances.delete("i-1");
  });
  void world.clock.sleep(30_000).then(() => world.service.has("i-1", { name: "web" }));
  const { message } = await errorOf(remove(world, justMade(world), 300));
  expect(message).toContain("is still listed as ACTIVE, but");
});

test("after a DELETE that the service acknowledged, the Delete does not wait for the settling time", async () => {
  const world = scene(destroyPath);
  world.service.unreadable = 1;
  world.service.destroys.push(() => {
    world.service.unreadable = 0;
  });
  await remove(world, justMade(world));
  expect(world.clock.now()).toBeLessThan(10_000);
});

test("in a pause that an earlier DELETE has been asked for, nothing is sent, and nothing is left unknown", async () => {
  const world = existing(destroyPath);
  const error = answered(429, "DELETE");
  const call = { method: "DELETE", path: destroyPath.destroyPath } as const;
  world.session.operations.retrying({ ...call, error, inMs: 3_600_000, isAsked: true });
  expect((await errorOf(remove(world))).message).not.toContain("not known");
  expect(world.service.count("destroy")).toBe(0);
});

test("an instance that its resource keeps is not destroyed by the Delete of a second entry in the state", async () => {
  const world = existing(destroyPath);
  world.session.engine.hold(urn, { id: "i-1", isUnfinished: false });
  await remove(world);
  expect(world.service.count("destroy")).toBe(0);
  expect(world.messages.warnings).toEqual([expect.stringContaining("i-1 was not destroyed")]);
});

test("a 404 with another tenant's token never drops the instance (G3)", async () => {
  const firstRun = existing(destroyPath);
  const world = firstRun.nextRun({ ...destroyPath, apiToken: new Secret("sk_live_another1") });
  world.service.instances.clear();
  expect((await errorOf(remove(world, acceptedOutputs(firstRun)))).message).toContain(
    "instance i-1 is not proven gone after its DELETE",
  );
});

test("with a rotated token, the Delete of an instance that the new token lists and destroys succeeds", async () => {
  const firstRun = existing(destroyPath);
  const world = firstRun.nextRun({ ...destroyPath, apiToken: new Secret("sk_live_another1") });
  await remove(world, acceptedOutputs(firstRun));
  expect(world.service.instances.size).toBe(0);
});

test("without a complete listing, the error says that the proof is missing, and what to do", async () => {
  const world = existing(destroyPath);
  world.service.unreadable = 1;
  const { message } = await errorOf(remove(world));
  expect(message).toContain("instance i-1 is not proven gone after its DELETE");
  expect(message).toContain("pulumi state delete");
  expect(world.service.count("destroy")).toBe(1);
});

test("an instance that another resource of the program keeps is dropped, and nothing is sent", async () => {
  const world = existing(destroyPath);
  const { engine } = world.session;
  for (const holder of [urn, urnOf("other")])
    engine.hold(holder, { id: "i-1", isUnfinished: false });
  engine.check({ urn, olds: propertyMap({}) });
  await remove(world);
  expect(world.messages.all).toEqual([
    "warning web was dropped from the state, but its instance i-1 was not destroyed: other of this program manages it, too",
  ]);
  expect(world.service.calls).toEqual([]);
});

test("once the other resources of an instance are deleted or have another one, the last Delete destroys it", async () => {
  const world = existing(destroyPath);
  const { engine } = world.session;
  const hold = (name: string, id: string) => engine.hold(urnOf(name), { id, isUnfinished: false });
  const replace = (name: string) => engine.check({ urn: urnOf(name), olds: propertyMap({}) });
  for (const name of ["third", "web", "other"]) hold(name, "i-1");
  hold("third", "i-3");
  replace("other");
  const outputs = acceptedOutputs(world);
  const urn = urnOf("other");
  const request = {
    urn,
    id: "i-1",
    oldInputs: inputsOf(),
    oldOutputs: outputs,
    timeoutSeconds: 60,
  };
  await deleteInstance(world.session, request, engine.delete(request));
  expect(world.service.count("destroy")).toBe(0);
  replace("web");
  await remove(world);
  expect(world.service.count("destroy")).toBe(1);
});

test("without a stack, the Delete of an instance that exists says so, and names the option with the destroy call", async () => {
  const world = scene(retain, undefined, { kind: "stateless" });
  world.service.has("i-1", { name: "web" });
  const { message } = await errorOf(remove(world, propertyMap({})));
  expect(message).toMatch(/^instance i-1 was not deleted: it still exists and is billed, /);
  expect(message).toContain("--compute:destroy-path");
  expect(world.messages.warnings).toEqual([]);
});
