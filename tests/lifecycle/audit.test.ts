/**
 * Tests `audit` against the emulator and a stand-in for the Pulumi CLI: what the command finds, and what it can't
 * decide.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, jest } from "@jest/globals";
import { typed } from "../../cli/testing/typed";
import { redactionMark } from "../../provider/redaction";
import { timeouts as defaultTimeouts } from "../../provider/session/operations";
import { beginCreate, leaveInDoubt } from "../../provider/testing/ledgerRecord";
import { fakePulumi, urnOf } from "./support/fakePulumi";
import { test, testToken, type World } from "./support/world";

afterEach(() => void jest.restoreAllMocks());

const timeouts: { look: number } = defaultTimeouts;

/** Types `audit`, which may send only GET requests. */
async function audit(world: World, path: string, ...options: string[]) {
  const env = world.env({ PATH: `${path}:/usr/bin:/bin` });
  const { code, lines, warnings } = await typed(["audit", ...options], env);
  for (const call of Object.keys(world.service.control.counts())) expect(call).toMatch(/^GET /);
  return { code, text: lines.join("\n"), warnings };
}

/** Runs `audit --json`, and returns the exit code with the parsed output. */
async function auditData(world: World, path: string, ...args: string[]) {
  const options = ["--json", "--poll-interval-seconds", "0.2", ...args];
  const { code, text } = await audit(world, path, ...options);
  return { code, ...(JSON.parse(text) as object) } as Record<string, unknown>;
}

test("if every instance is managed and exists, audit ends with 0 after one listing", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const path = fakePulumi(world, { a: { held: [{ name: "web", id: "i-1" }] }, b: {} });
  const { code, text } = await audit(world, path);
  expect(text).toMatch(/^stacks +2 read, 1 with instances$/m);
  expect(text).toMatch(/^managed +1 instance$/m);
  expect(code).toBe(0);
  expect(world.listings).toBe(1);
});

test("finds instances in no stack, gone, in several stacks and elsewhere, creates in doubt, and undecided instances", async (world) => {
  const { control } = world.service;
  for (const id of ["i-1", "i-hand", "i-read", "i-left", "i-lost", "i-given", "i-ben"])
    control.insert({ id, name: id });
  control.insert({ id: "i-now", name: "now", status: "PROVISIONING" });
  const { url: baseUrl } = world.service;
  await leaveInDoubt(world.ledger, "left", { baseUrl, id: "i-left" });
  await leaveInDoubt(world.ledger, "web", { baseUrl, id: "i-given", urn: urnOf("web", "a") });
  const path = fakePulumi(world, {
    a: {
      held: [
        { name: "web", id: "i-1" },
        { name: "db", id: "i-gone" },
        { name: "reader", id: "i-read", external: true },
        { name: "paid", id: "i-paid", origin: { tokenKind: "live" } },
        { name: "old", id: "i-old", origin: null },
        { name: "ben", id: "i-ben", origin: { account: "ben" } },
        { name: "user", id: "i-user", origin: { tokenHash: "another" } },
      ],
      pending: ["i-lost"],
    },
    b: { held: [{ name: "again", id: "i-1" }] },
  });
  const found = await auditData(world, path);
  const place = { baseUrl: world.service.url, tokenKind: "test" };
  expect(found).toEqual({
    code: 1,
    result: "found",
    services: [
      {
        ...place,
        account: expect.any(String),
        listed: 8,
        complete: true,
        settings: "COMPUTE_BASE_URL, COMPUTE_API_TOKEN",
      },
    ],
    stacks: { read: 2, withInstances: 2 },
    managed: [expect.objectContaining({ id: "i-1" })],
    inSeveral: [
      expect.objectContaining({
        resources: [
          { stack: "a", urn: urnOf("web", "a") },
          { stack: "b", urn: urnOf("again", "b") },
        ],
      }),
    ],
    inNoStack: [
      expect.objectContaining({ id: "i-hand" }),
      expect.objectContaining({ id: "i-read", note: "a reads it, but does not manage it" }),
    ],
    explained: expect.any(Array),
    gone: [{ id: "i-gone", stack: "a", urn: urnOf("db", "a") }],
    undecided: [
      { what: 'instance i-ben "i-ben"', why: expect.stringMatching(/^stack a has an instance/) },
      { what: 'instance i-now "now"', why: expect.stringMatching(/^in no stack, but PROV/) },
      { what: "instance i-user of a", why: expect.stringMatching(/another tenant's/) },
    ],
    createsInDoubt: [
      { stack: "a", tokenKind: "test", creates: 2 },
      { stack: undefined, tokenKind: "test", creates: 1 },
    ],
    notCompared: [
      {
        id: "i-paid",
        stack: "a",
        urn: urnOf("paid", "a"),
        why: expect.stringMatching(/live token/),
      },
      {
        id: "i-old",
        stack: "a",
        urn: urnOf("old", "a"),
        why: expect.stringMatching(/does not say/),
      },
      {
        id: "i-ben",
        stack: "a",
        urn: urnOf("ben", "a"),
        why: expect.stringMatching(/account ben/),
      },
    ],
  });
  const explained = found["explained"] as Record<string, string>[];
  expect(Object.fromEntries(explained.map(({ id, createInDoubt }) => [id, createInDoubt]))).toEqual(
    {
      "i-left": expect.stringMatching(/::left$/),
      "i-lost": urnOf("i-lost", "a"),
      "i-given": urnOf("web", "a"),
    },
  );
  const { code, text } = await audit(world, path, "--poll-interval-seconds", "0.2");
  expect(text).toMatch(
    /^In no stack \(2\):\n( {2}i-(hand|read) .*\n){2} {2}→ Take them .* --plan FILE --poll-interval-seconds 0\.2`/m,
  );
  expect(text).toMatch(
    /^In no stack, but explained by a create in doubt \(3\):\n( {2}i-\S+ .* of urn:\S+\n){3} {2}→ Put/m,
  );
  expect(text).toMatch(
    /^Creates in doubt \(2\):\n {2}2 creates of a: `\S+ settle --stack a` in .*\n {2}1 create of a stack that/m,
  );
  expect(text).toMatch(
    /\nManaged by more than one resource \(1\):\n {2}i-1 .*\n {4}`pulumi state delete \S+ --force --yes --stack a`\n {4}`.* --stack b`\n/,
  );
  expect(code).toBe(1);
});

test("an instance that a resource has let run is unmanaged, and named with that resource", async (world) => {
  for (const id of ["i-1", "i-old"]) world.service.control.insert({ id, name: "web" });
  const elsewhere = { tokenKind: "live" };
  const held = [
    { name: "web", id: "i-1", known: ["i-old"] },
    { name: "db", id: "i-2", known: ["i-1"], origin: elsewhere },
  ];
  const path = fakePulumi(world, { a: { held } });
  const { code, inNoStack } = await auditData(world, path);
  expect({ code, inNoStack }).toEqual({
    code: 1,
    inNoStack: [expect.objectContaining({ id: "i-old", note: "let run by web of a" })],
  });
});

test("a create in doubt that a later run has continued is not reported, if its generated name shows that", async (world) => {
  const name = "web-abcdefgh";
  world.service.control.insert({ id: "i-1", name });
  const audited = async (resource: string, inputs: object) => {
    const pending = [{ name: resource, inputs }];
    const held = [{ name: "web", id: "i-1" }];
    const { code, createsInDoubt } = await auditData(
      world,
      fakePulumi(world, { a: { held, pending } }),
    );
    return { code, createsInDoubt };
  };
  const generated = { name, __generated: name };
  expect(await audited("web", generated)).toEqual({ code: 0, createsInDoubt: [] });
  const upperCase = { name: "WEB-ABCDEFGH", __generated: "WEB-ABCDEFGH" };
  expect(await audited("web", upperCase)).toEqual({ code: 0, createsInDoubt: [] });
  // The create of a replacement asks for the explicit name that the instance to be replaced has.
  const one = [{ stack: "a", tokenKind: "test", creates: 1 }];
  expect(await audited("web", { name })).toEqual({ code: 1, createsInDoubt: one });
});

test("the new instance of a replacement that was killed has its line, and is not in the plan, although it has the name of the old one", async (world) => {
  for (const id of ["i-old", "i-new"]) world.service.control.insert({ id, name: "web" });
  const state = { held: [{ name: "web", id: "i-old" }], pending: ["web"] };
  const path = fakePulumi(world, { a: state });
  expect(await auditData(world, path)).toMatchObject({
    code: 1,
    inNoStack: [],
    explained: [{ id: "i-new", createInDoubt: urnOf("web", "a") }],
  });
});

test("a create in doubt explains an instance whose name the service lists in another case", async (world) => {
  world.service.control.insert({ id: "i-1", name: "db1" });
  const pending = [{ name: "db", inputs: { name: "DB1" } }];
  expect(await auditData(world, fakePulumi(world, { a: { pending } }))).toMatchObject({
    inNoStack: [],
    explained: [{ id: "i-1" }],
  });
  // The state's provider has no id here.
  const record = { baseUrl: world.service.url, name: "DB1", urn: urnOf("db", "a"), scope: "" };
  await leaveInDoubt(world.ledger, "db", record);
  expect(await auditData(world, fakePulumi(world, { a: { pending } }))).toMatchObject({
    inNoStack: [],
    explained: [{ id: "i-1" }],
    createsInDoubt: [{ stack: "a", creates: 1 }],
  });
});

test("of two organizations whose stacks have the same URNs, the commands name the one whose create was pending", async (world) => {
  for (const id of ["i-alice", "i-acme"]) world.service.control.insert({ id, name: "web" });
  const [alice, acme] = ["alice/p/dev", "acme/p/dev"];
  const held = [{ name: "web", id: "i-alice" }];
  const urn = urnOf("web");
  const stacks = {
    [alice]: { held, providers: ["scope-alice"] },
    [acme]: { pending: ["web"], providers: ["scope-acme"] },
  };
  expect(await auditData(world, fakePulumi(world, stacks))).toMatchObject({
    explained: [{ id: "i-acme", createInDoubt: urn }],
    createsInDoubt: [{ stack: acme, creates: 1 }],
  });

  // The record is about the other stack's resource of this URN.
  const recorded = { baseUrl: world.service.url, urn };
  await leaveInDoubt(world.ledger, "web", { ...recorded, name: "other", scope: "scope-alice" });
  expect((await auditData(world, fakePulumi(world, stacks)))["createsInDoubt"]).toEqual([
    { stack: acme, creates: 1 },
    { stack: alice, tokenKind: "test", creates: 1 },
  ]);

  rmSync(world.ledger, { recursive: true });
  await leaveInDoubt(world.ledger, "web", { ...recorded, id: "i-acme", scope: "scope-acme" });
  expect(await auditData(world, fakePulumi(world, stacks))).toMatchObject({
    explained: [{ id: "i-acme" }],
    createsInDoubt: [{ stack: acme }],
  });
});

test("a name that the program made secret is not printed (G8)", async (world) => {
  for (const id of ["i-1", "i-2"]) world.service.control.insert({ id, name: `canary-${id}` });
  const name = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
  const held = [{ name: "web", id: "i-1", inputs: { name } }];
  const { url: baseUrl } = world.service;
  const record = { baseUrl, urn: urnOf("db", "a"), name: undefined, id: "i-2" };
  await leaveInDoubt(world.ledger, "db", record);
  const path = fakePulumi(world, { a: { held }, b: { held } });
  const found = await auditData(world, path);
  expect(found).toMatchObject({
    managed: [{ id: "i-1", name: redactionMark }],
    inNoStack: [],
    explained: [{ id: "i-2", name: redactionMark }],
  });
  const { text, warnings } = await audit(world, path, "--poll-interval-seconds", "0.2");
  expect([JSON.stringify(found), text, ...warnings].join("\n")).not.toContain("canary");
});

test("for creates in doubt that only states have, audit names the settle of each stack", async (world) => {
  const a = { pending: ["web", "db"] };
  const { text } = await audit(world, fakePulumi(world, { a, b: a }));
  expect(text).toMatch(
    /^Creates in doubt \(2\):\n {2}2 creates of a: `\S+ settle --stack a` in .*\n {2}2 creates of b: `\S+ settle --stack b`/m,
  );
});

test("an instance that the settings of its own stack do not reach is not decided, unless the program makes its provider", async (world) => {
  const held = [{ name: "paid", id: "i-paid", origin: { tokenKind: "live" } }] as const;
  for (const selected of ["a", "b"]) {
    const path = fakePulumi(world, { a: { held: [...held] }, b: {} }, { selected });
    const { code, undecided, notCompared } = await auditData(world, path);
    const why = expect.stringMatching(/made with a live token/);
    expect({ code, undecided, notCompared }).toEqual(
      selected === "a"
        ? { code: 3, undecided: [{ what: "instance i-paid of a", why }], notCompared: [] }
        : { code: 0, undecided: [], notCompared: [expect.objectContaining({ id: "i-paid", why })] },
    );
  }
  const own = "urn:pulumi:a::p::pulumi:providers:compute::own::id";
  const path = fakePulumi(
    world,
    { a: { held: held.map((one) => ({ ...one, provider: own })) } },
    { selected: "a" },
  );
  expect(await auditData(world, path)).toMatchObject({ code: 0, notCompared: [{ id: "i-paid" }] });
});

test("a reason that is true of many instances is printed once", async (world) => {
  const ids = Array.from({ length: 20 }, (_, n) => `i-${n}`);
  const held = ids.map((id) => ({ name: id, id, origin: { tokenKind: "live" } }) as const);
  const { text } = await audit(world, fakePulumi(world, { a: { held }, b: { held } }));
  const section = text.split("\n\n").find((one) => one.startsWith("Not compared (40)"));
  expect(section?.match(/made with a live token/g)).toHaveLength(1);
  expect(section).toMatch(/:\n {4}a \(20 instances\)\n {4}b \(20 instances\)\n {2}→ /);
});

test("an unreadable stack means that no instance counts as in no stack, an incomplete listing that none counts as gone", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const db = { held: [{ name: "db", id: "i-gone" }] };
  const lasting = world.service.control.fault({ kind: "hasMoreForever", times: "always" });
  const path = fakePulumi(world, { a: db, b: "broken" }, { selected: "a" });
  const found = await auditData(world, path, "--stack=a", "--stack=b");
  expect(found).toMatchObject({ code: 3, result: "undecided", inNoStack: [], gone: [] });
  const undecided = found["undecided" as keyof typeof found] as { what: string }[];
  expect(undecided.map(({ what }) => what)).toEqual([
    ...["stack b", world.service.url, 'instance i-1 "web"', "instance i-gone of a"],
  ]);

  // Audit advises to run it again later.
  lasting.remove();
  world.service.control.insert({ id: "i-gone", name: "db" });
  fakePulumi(world, { a: db, b: { held: [{ name: "web", id: "i-1" }] } }, { selected: "a" });
  expect(await auditData(world, path)).toMatchObject({ code: 0, undecided: [] });
});

for (const [pause, retryAfter, said] of [
  [
    "",
    undefined,
    /^the command timed out after 3 s, .*HTTP 429.*\n→ Run the command again later\./m,
  ],
  [" that asks for a pause of an hour", 3600, /^→ Run the command again after that time\.$/m],
] as const)
  test(`if every request is answered with a 429${pause}, audit and audit --plan say to run them again, and then work`, async (world) => {
    const { control } = world.service;
    control.insert({ id: "i-1", name: "web" });
    for (const [options, code, found] of [
      [[], 3, "Every listed instance is managed"],
      [["--plan", join(world.home, "plan.json")], 1, "1 instance in the plan"],
    ] as const) {
      const held = options.length === 0 ? [{ name: "web", id: "i-1" }] : [];
      const path = fakePulumi(world, { a: { held } });
      const refused = { kind: "status", status: 429, times: "always" } as const;
      control.fault({ ...refused, ...(retryAfter !== undefined && { retryAfter }) });
      // Each of these is answered with a 429, also on a busy machine.
      const timeOut = jest.replaceProperty(timeouts, "look", 3);
      const failed = await audit(world, path, ...options);
      timeOut.restore();
      expect(failed.warnings.join("\n")).toMatch(said);
      expect(failed.code).toBe(code);

      control.clearFaults();
      const again = await audit(world, path, ...options);
      expect(again.code).toBe(0);
      expect([again.text, ...again.warnings].join("\n")).toContain(found);
    }
  });

test("if nothing can be compared, audit ends with 3 and says why", async (world) => {
  // Without a stack, there is no address either.
  const none = await audit(world, "/nonexistent", "--base-url", "no");
  expect(none.code).toBe(3);
  expect(none.warnings).toEqual([
    "there is no pulumi on PATH",
    expect.stringMatching(/^→ Install Pulumi/),
  ]);
  const wrong = ["--json", "--base-url=no", "--settling-seconds=no"];
  const path = fakePulumi(world, {});
  expect(JSON.parse((await audit(world, path, ...wrong)).text)).toMatchObject({
    undecided: [{ why: expect.stringMatching(/^base URL: .+ → .+; settings: .+ → \S+/) }],
  });
  world.service.control.declareToken(testToken, { state: "revoked" });
  const revoked = await auditData(world, path);
  expect(revoked).toEqual({
    code: 3,
    result: "undecided",
    undecided: [{ what: "the service", why: expect.stringMatching(/HTTP 401/) }],
  });
});

test("what changes while audit runs is not reported", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-1", name: "web" });
  const both = [
    { name: "web", id: "i-1" },
    { name: "db", id: "i-2" },
  ];
  const path = fakePulumi(world, { a: { held: both, pending: ["new"] } });
  const second = { kind: "delay", milliseconds: 0, path: "/v2/instances", after: 1 } as const;
  const changed = control.fault(second).firstHit.then(() => {
    control.insert({ id: "i-3", name: "other" });
    fakePulumi(world, { a: { held: both.slice(0, 1) } });
  });
  const found = await auditData(world, path);
  await changed;
  expect(found).toMatchObject({
    code: 0,
    managed: [{ id: "i-1" }],
    gone: [],
    createsInDoubt: [],
  });
});

test("with a new token, an instance is gone only if the listing shows another one of the recorded token (G3)", async (world) => {
  const origin = { tokenHash: "before" };
  const held = [
    { name: "web", id: "i-1", origin },
    { name: "db", id: "i-2", origin },
  ];
  const path = fakePulumi(world, { a: { held } });
  expect(await auditData(world, path)).toMatchObject({ code: 3, gone: [] });
  world.service.control.insert({ id: "i-1", name: "web" });
  expect(await auditData(world, path)).toMatchObject({ code: 1, gone: [{ id: "i-2" }] });
});

test("a create of a run that is under way on this machine is not reported as pending", async (world) => {
  const path = fakePulumi(world, { a: { pending: ["web"] } });
  {
    await using _running = beginCreate(world.ledger, "web", {
      urn: urnOf("web", "a"),
      scope: "",
    });
    expect(await auditData(world, path)).toMatchObject({ code: 0, createsInDoubt: [] });
  }
  expect(await auditData(world, path)).toMatchObject({
    code: 1,
    createsInDoubt: [{ stack: "a", creates: 1 }],
  });
});
