/** Tests `import-plan` against the emulator: which instances are in the plan, which are left out, and why. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { typed } from "../../provider/cli/testing/typed";
import { systemClock } from "../../provider/clock";
import { Ledger } from "../../provider/ledger/ledger";
import { leaveOpen, newRecord } from "../../provider/testing/ledgerRecord";
import { fakePulumi } from "./support/fakePulumi";
import { test, testToken, type World } from "./support/world";

/** Runs `import-plan` with the fake CLI in `path`. `plan` has each resource as `NAME=ID`. */
async function planIn({ home, service }: World, path: string, ...args: string[]) {
  const result = await typed(["import-plan", ...args], {
    PATH: `${path}:/usr/bin:/bin`,
    PULUMI_HOME: home,
    COMPUTE_BASE_URL: service.url,
    COMPUTE_API_TOKEN: testToken,
  });
  const { code } = result;
  const warnings = result.warnings.filter((line) => !line.startsWith("The settings come from"));
  const printed = result.lines.join("\n");
  expect(printed + warnings.join("\n")).not.toMatch(/Canary/);
  for (const call of Object.keys(service.counts())) expect(call).toMatch(/^GET /);
  if (printed === "") return { code, plan: [], warnings };
  const { resources } = JSON.parse(printed) as { resources: Record<string, string>[] };
  for (const { type } of resources) expect(type).toBe("compute:index:Instance");
  return { code, plan: resources.map(({ name, id }) => `${name}=${id}`), warnings };
}

/** Runs `import-plan` with a backend without stacks. */
const plan = (world: World, ...args: string[]) => planIn(world, fakePulumi(world, {}), ...args);

test("the plan is filtered by name and status, and has PROVISIONING instances only if the option names that status", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-1", name: "web-1" });
  control.insert({ id: "i-2", name: "Web-2", status: "OFFLINE" });
  control.insert({ id: "i-3", name: "web-3", status: "PROVISIONING" });
  control.insert({ id: "i-4", name: "worker.1" });
  control.insert({ id: "i-5", name: "web-10", status: "RESCUE" });

  const all = await plan(world);
  expect(all.plan).toEqual(["Web-2=i-2", "web-1=i-1", "web-10=i-5", "worker.1=i-4"]);
  expect(all.warnings).toEqual([
    expect.stringMatching(/^left out: i-3 "web-3": it is PROVISIONING.*--status PROVISIONING/),
    "4 instances are in the plan. Next: pulumi import --file FILE",
  ]);
  expect((await plan(world, "--name", "web-?")).plan).toEqual(["Web-2=i-2", "web-1=i-1"]);
  expect((await plan(world, "--name", "*.1")).plan).toEqual(["worker.1=i-4"]);
  const some = ["--status", "OFFLINE", "--status", "PROVISIONING"];
  expect((await plan(world, ...some)).plan).toEqual(["Web-2=i-2", "web-3=i-3"]);
  expect(await plan(world, "--name", "none*")).toMatchObject({
    code: 1,
    plan: [],
    warnings: [
      "there is no plan: no listed instance matches --name",
      expect.stringMatching(/^→ The service lists 5 instances\./),
    ],
  });
  expect((await plan(world, "--status", "offline")).plan).toEqual(["Web-2=i-2"]);
});

test("resource names are unique, even after generated code has replaced their punctuation", async (world) => {
  const { control } = world.service;
  const names = ["web-1", "web_1", "a b", "", "..", "x".repeat(300), "\u001b[31mred\u202e\n"];
  names.forEach((name, at) => control.insert({ id: `i-${at}`, name }));
  const { plan: made } = await plan(world);
  expect(made.sort()).toEqual(
    [
      ...["web-1=i-0", "web_1-i-1=i-1", "a-b=i-2", "i-3=i-3", "i-4=i-4"],
      ...[`${"x".repeat(100)}=i-5`, "31mred=i-6"],
    ].sort(),
  );
});

test("with an incomplete listing, the plan has the instances that are listed, and a warning says so", async (world) => {
  world.crowd(130);
  world.service.control.insert({ id: "i-off", name: "off", status: "OFFLINE" });
  const { code, plan: made, warnings } = await plan(world);
  expect(made).toHaveLength(101);
  expect(warnings.join("\n")).toMatch(/warning: .*the service's listing is not complete/);
  expect(code).toBe(0);
  // The listing of that status is complete.
  const offline = await plan(world, "--status", "OFFLINE");
  expect(offline.plan).toEqual(["off=i-off"]);
  expect(offline.warnings).toHaveLength(1);
});

test("an instance that the next `pulumi up` takes over, and an id that can't be printed, are left out with the reason", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-open", name: "open" });
  control.insert({ id: "i-\u001b[2Jevil", name: "a\nFAILED" });
  control.insert({ id: `i-${testToken}`, name: `n-${testToken}` });
  control.insert({ id: "i-free", name: "free" });
  control.insert({ id: "i-running", name: "running" });
  const { url: baseUrl } = world.service;
  await leaveOpen(world.ledger, "open", { baseUrl, stage: "accepted", id: "i-open" });
  const running = new Ledger(world.ledger, "running", () => undefined, systemClock);
  await running.begin(newRecord("running", { baseUrl }));
  const { plan: planned, warnings } = await plan(world);
  await running.close();
  expect(planned).toEqual(["free=i-free"]);
  // The instance whose id has control characters is not even read, so the listing is not complete.
  expect(warnings.join("\n")).toMatch(/not complete/);
  const [token, open, underWay, ...rest] = warnings.filter((line) => !/not complete/.test(line));
  expect(token).toMatch(/^left out: i-.*\[secret\]/);
  expect(open).toMatch(/^left out: i-open "open": an earlier run created it for urn:pulumi:dev/);
  expect(underWay).toMatch(/^left out: i-running "running": a run may be creating it right now/);
  expect(rest).toEqual(["1 instance is in the plan. Next: pulumi import --file FILE"]);
});

test("the plan does not show the token, even if an instance has the token as its name (G8)", async (world) => {
  world.service.control.insert({ id: "i-1", name: testToken });
  const file = join(world.home, "the plan.json");
  const { warnings } = await plan(world, "--out", file);
  expect(warnings).toEqual([`1 instance is in the plan. Next: pulumi import --file '${file}'`]);
  expect(readFileSync(file, "utf8")).toContain('"name": "secret"');
});

test("--input adds the inputs that the listing lacks to each instance of the plan", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const file = join(world.home, "plan.json");
  const given = ["flavorId=standard-2", "imageId=a=b", "sshKeys=one", "sshKeys=two"];
  const options = given.flatMap((input) => ["--input", input]);
  await plan(world, "--out", file, ...options);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    resources: [
      {
        type: "compute:index:Instance",
        name: "web",
        id: "i-1",
        inputs: { flavorId: "standard-2", imageId: "a=b", sshKeys: ["one", "two"] },
      },
    ],
  });
});

const unknownInput = "one of the names is not an input of an instance; did you mean flavorId?";
const secretInput = "userData is a secret, which the plan would hold in clear text";

test("a wrong --input is refused without its value, before anything is asked (G8, G9)", async (world) => {
  for (const [given, why] of [
    ["flavour_id=CanaryToken", unknownInput],
    ["CanaryToken", "one of them has no ="],
    ["vpcId=CanaryToken", "vpcId is given more than once"],
    ["imageId=", "imageId must not be empty"],
    ["name=CanaryToken", "name: the name comes from the listing"],
    ["userData=CanaryToken", secretInput],
  ] as const) {
    const { code, warnings } = await plan(world, "--input", "vpcId=v", "--input", given);
    expect(code).toBe(1);
    expect(warnings).toEqual([
      expect.stringContaining(`--input: ${why}`),
      expect.stringMatching(/^→ Give each as NAME=VALUE, .* flavorId, imageId, vpcId, sshKeys\./),
    ]);
  }
  expect(world.service.counts()).toEqual({});
});

test("--out writes the file, and each error is printed with the next step and exit code 1", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-1", name: "web" });
  const file = join(world.home, "plan.json");
  const fleet = { type: "team:index:Fleet", urn: "urn:pulumi:dev::p::team:index:Fleet::fleet" };
  const type = "pulumi:providers:compute";
  const own = { type, urn: `urn:pulumi:dev::p::${type}::own`, id: "0-1" };
  const path = fakePulumi(world, { dev: { others: [fleet, own] }, prod: {} }, { selected: "dev" });
  // In the state, the id of the provider resource follows its URN.
  for (const provider of [own.urn, `${own.urn}::${own.id}`]) {
    const references = ["--parent", fleet.urn, "--provider", provider];
    const { warnings } = await planIn(world, path, "--out", file, ...references);
    expect(warnings).toEqual([`1 instance is in the plan. Next: pulumi import --file ${file}`]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      nameTable: { parent: fleet.urn, provider: own.urn },
      resources: [
        {
          type: "compute:index:Instance",
          name: "web",
          id: "i-1",
          parent: "parent",
          provider: "provider",
        },
      ],
    });
  }
  for (const [option, value, problem] of [
    ["--parent", "CanaryToken", "no resource of dev has this URN"],
    ["--parent", `${fleet.urn}2`, "no resource of dev has this URN"],
    ["--provider", `${own.urn}::0-2`, "no resource of dev has this URN"],
    ["--provider", fleet.urn, `its resource is not a provider of the type ${type}`],
  ] as const) {
    const wrong = await planIn(world, path, option, value);
    expect(wrong).toEqual({
      code: 1,
      plan: [],
      warnings: [`${option}: ${problem}`, expect.stringMatching(/^→ .*--show-urns/)],
    });
  }
  const nowhere = await plan(world, "--out", join(world.home, "no", "folder"));
  expect(nowhere).toMatchObject({
    code: 1,
    warnings: [expect.stringMatching(/the plan can't be written/), expect.stringMatching(/^→/)],
  });

  const noStack = await planIn(world, "/nonexistent", "--stack", "dev");
  expect(noStack.warnings[0]).toMatch(/^stack: there is no pulumi on PATH/);
  expect(noStack.code).toBe(1);

  control.declareToken(testToken, { state: "revoked" });
  const revoked = await plan(world);
  expect(revoked.warnings.join("\n")).toMatch(/HTTP 401.*give a valid one/);
  expect(revoked.code).toBe(1);
});

test("the plan leaves out what any stack of the backend manages, and names the stack", async (world) => {
  const { control } = world.service;
  for (const id of ["i-a", "i-b", "i-read", "i-live", "i-lost", "i-hand", "i-ben"]) {
    control.insert({ id, name: id });
  }
  for (let n = 0; n < 7; n++) control.insert({ id: `i-${n}`, name: `web-${n}` });
  const many = Array.from({ length: 7 }, (_, n) => ({ name: `web-${n}`, id: `i-${n}` }));
  const path = fakePulumi(
    world,
    {
      dev: { held: [{ name: "a", id: "i-a" }] },
      prod: {
        held: [
          { name: "a", id: "i-a" },
          { name: "b", id: "i-b" },
          { name: "read", id: "i-read", external: true },
          { name: "live", id: "i-live", origin: { tokenKind: "live" } },
          { name: "ben", id: "i-ben", origin: { account: "ben" } },
        ],
        pending: ["i-lost"],
      },
      big: { held: many },
    },
    { selected: "dev" },
  );
  const { code, plan: planned, warnings } = await planIn(world, path);
  expect(planned).toEqual(["i-hand=i-hand", "i-live=i-live", "i-read=i-read"]);
  expect(warnings).toEqual([
    'left out: 1 instance managed by stack dev and stack prod: i-a "i-a"',
    'left out: 1 instance managed by stack prod: i-b "i-b"',
    expect.stringMatching(
      /^left out: 7 instances managed by stack big: i-0 "web-0", .* i-4 "web-4" and 2 more$/,
    ),
    expect.stringMatching(
      /^left out: i-ben "i-ben": stack prod has an instance with this id: it belongs to account ben/,
    ),
    expect.stringMatching(/^left out: i-lost "i-lost": it has the name of a pending create; if/),
    "3 instances are in the plan. Next: pulumi import --file FILE",
  ]);
  expect(code).toBe(0);
  const none = await planIn(world, path, "--name", "web-*");
  expect(none).toMatchObject({ code: 0, plan: [] });
  expect(none.warnings.at(-1)).toMatch(/^There is nothing to import: see above/);
});

test("a pending create that a later run has continued explains no other instance of its name", async (world) => {
  for (const id of ["i-1", "i-2"]) world.service.control.insert({ id, name: "web" });
  const dev = { held: [{ name: "web", id: "i-1" }], pending: ["web"] };
  const path = fakePulumi(world, { dev }, { selected: "dev" });
  expect((await planIn(world, path)).plan).toEqual(["web-i-2=i-2"]);
});

test("if a stack can't be read, or there is no pulumi, there is no plan, and the message says why", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  for (const [path, problem] of [
    [fakePulumi(world, { dev: "broken" }), /^ {2}dev: the output of `pulumi stack export`/],
    ["/nonexistent", /^there is no plan, because .*: there is no pulumi on PATH$/],
  ] as const) {
    const { code, plan: planned, warnings } = await planIn(world, path);
    expect({ code, planned }).toEqual({ code: 1, planned: [] });
    expect(warnings.at(-2)).toMatch(problem);
    expect(warnings.at(-1)).toMatch(/^→ /);
  }
  const readable = await planIn(world, fakePulumi(world, { dev: {} }));
  expect(readable).toMatchObject({ code: 0, plan: ["web=i-1"] });
});

test("with an empty listing, there is nothing to import", async (world) => {
  expect(await plan(world)).toEqual({
    code: 0,
    plan: [],
    warnings: ["There is nothing to import: the service lists no instance. The plan is empty."],
  });
});
