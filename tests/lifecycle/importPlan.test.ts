/** Tests `audit --plan` against the emulator: which instances are in the plan, which are left out, and why. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { typed } from "../../cli/testing/typed";
import { beginCreate, leaveInDoubt } from "../../provider/testing/ledgerRecord";
import { fakePulumi } from "./support/fakePulumi";
import { test, testToken, type World } from "./support/world";

const planFile = (world: World) => join(world.home, "plan.json");

/**
 * Runs `audit --plan` with the fake CLI in `path`. `plan` has each resource as `NAME=ID`. `text` is what went to stdout,
 * `said` what went to stderr.
 */
async function planIn(world: World, path: string, ...args: string[]) {
  const { home, service } = world;
  const file = planFile(world);
  rmSync(file, { force: true });
  const result = await typed(["audit", "--plan", file, ...args], {
    PATH: `${path}:/usr/bin:/bin`,
    PULUMI_HOME: home,
    COMPUTE_BASE_URL: service.url,
    COMPUTE_API_TOKEN: testToken,
  });
  const { code, lines, warnings } = result;
  const text = lines.join("\n");
  const said = [...warnings, ...lines.filter((line) => /^\d+ instances? in the plan/.test(line))];
  const written = existsSync(file) ? readFileSync(file, "utf8") : "";
  expect(written + text + said.join("\n")).not.toMatch(/Canary/);
  for (const call of Object.keys(service.control.counts())) expect(call).toMatch(/^GET /);
  if (written === "") return { code, plan: undefined, text, said };
  const { resources } = JSON.parse(written) as { resources: Record<string, string>[] };
  for (const { type } of resources) expect(type).toBe("compute:index:Instance");
  return { code, plan: resources.map(({ name, id }) => `${name}=${id}`), text, said };
}

/** Runs `audit --plan` with a backend without stacks. */
const plan = (world: World, ...args: string[]) => planIn(world, fakePulumi(world, {}), ...args);

test("the plan has the instances in no stack whose name matches, but none that is PROVISIONING", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-1", name: "web-1" });
  control.insert({ id: "i-2", name: "Web-2", status: "OFFLINE" });
  control.insert({ id: "i-3", name: "web-3", status: "PROVISIONING" });
  control.insert({ id: "i-4", name: "worker.1" });
  control.insert({ id: "i-5", name: "web-10", status: "RESCUE" });

  const all = await plan(world);
  expect(all.plan).toEqual(["Web-2=i-2", "web-1=i-1", "web-10=i-5", "worker.1=i-4"]);
  expect(all.text).toMatch(
    /^Not decided \(1\):\n {2}instance i-3 "web-3": in no stack, but PROVISIONING/m,
  );
  expect(all.said).toEqual([
    `4 instances in the plan. Next: pulumi import --file ${planFile(world)}`,
  ]);
  expect(all.code).toBe(0);
  const some = await plan(world, "--name", "web-?");
  expect(some.plan).toEqual(["Web-2=i-2", "web-1=i-1"]);
  expect(some.text.match(/(?<=^ {2})\S+(?= .* {2}in the plan$)/gm)).toEqual(["i-2", "i-1"]);
  expect((await plan(world, "--name", "*.1")).plan).toEqual(["worker.1=i-4"]);
  expect((await plan(world, "--name", "none*")).plan).toEqual([]);
});

test("a resource has the name of its instance, with the id if two have it, and the id if Pulumi can't use the name", async (world) => {
  const { control } = world.service;
  const names = ["web-1.dc", "web-1.dc", "a b", "", "..", "x".repeat(300), "\u001b[31mred\u202e\n"];
  names.forEach((name, at) => control.insert({ id: `i-${at}`, name }));
  const { plan: made, text } = await plan(world);
  expect(text).toMatch(/^ {2}i-1 {2}"web-1\.dc" .* {2}in the plan as web-1\.dc-i-1$/m);
  const ids = ["i-2", "i-3", "i-4", "i-5", "i-6"].map((id) => `${id}=${id}`);
  expect(made?.sort()).toEqual([...ids, "web-1.dc-i-1=i-1", "web-1.dc=i-0"]);
});

test("with an incomplete listing, the plan has the instances that are listed, and the report says so", async (world) => {
  world.crowd(130);
  world.service.control.insert({ id: "i-off", name: "off", status: "OFFLINE" });
  const { code, plan: made, text } = await plan(world);
  expect(made).toHaveLength(101);
  expect(text).toMatch(/: there may be instances that it does not show: .* is not complete/);
  expect(code).toBe(0);
});

test("an instance that the next `pulumi up` takes over, and an id that can't be printed, are left out with the reason", async (world) => {
  const { control } = world.service;
  control.insert({ id: "i-open", name: "open" });
  control.insert({ id: "i-\u001b[2Jevil", name: "a\nFAILED" });
  const part = testToken.slice(-12);
  control.insert({ id: `i-${part}`, name: `n-${part}` });
  control.insert({ id: "i-free", name: "free" });
  control.insert({ id: "i-running", name: "running" });
  const { url: baseUrl } = world.service;
  await leaveInDoubt(world.ledger, "open", { baseUrl, id: "i-open" });
  await using _running = beginCreate(world.ledger, "running", { baseUrl });
  const { plan: planned, text, said } = await plan(world);
  expect(planned).toEqual(["free=i-free"]);
  // The instance whose id has control characters is not even read, so the listing is not complete.
  expect(text).toMatch(/not complete/);
  expect(text).toMatch(/^ {2}i-open {2}"open" .* of urn:pulumi:dev/m);
  expect(text).toMatch(/^ {2}instance i-running "running": a run may be creating it right now/m);
  expect(said).toEqual([
    expect.stringMatching(/^left out: i-.*\[secret\]/),
    expect.stringMatching(/^1 instance in the plan\. Next: /),
  ]);
});

test("the plan does not show the token, even if an instance has the token as its name (G8)", async (world) => {
  world.service.control.insert({ id: "i-1", name: testToken });
  expect((await plan(world)).plan).toEqual(["i-1=i-1"]);
  const file = join(world.home, "the plan.json");
  const { said } = await plan(world, "--plan", file);
  expect(said).toEqual([`1 instance in the plan. Next: pulumi import --file '${file}'`]);
  expect(readFileSync(file, "utf8")).toContain('"name": "i-1"');
});

test("--input adds the inputs that the listing lacks to each instance of the plan", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const given = ["flavorId=standard-2", "imageId=a=b", "sshKeys=one", "sshKeys=two"];
  await plan(world, ...given.flatMap((input) => ["--input", input]));
  expect(JSON.parse(readFileSync(planFile(world), "utf8"))).toEqual({
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

test("with --json, the report is data, and the plan is the same", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const { code, plan: made, text, said } = await plan(world, "--json");
  const inNoStack = [{ id: "i-1", plannedAs: "web" }];
  expect(JSON.parse(text)).toMatchObject({ result: "found", inNoStack });
  expect({ code, made, lines: said.length }).toEqual({ code: 0, made: ["web=i-1"], lines: 1 });
});

test("a wrong --input is refused without its value, before anything is asked (G8, G9)", async (world) => {
  for (const [given, why] of [
    [
      "flavour_id=CanaryToken",
      "one of them names no input that a plan can have; did you mean flavorId?",
    ],
    ["CanaryToken", "one of them names no input that a plan can have"],
    ["vpcId=CanaryToken", "vpcId is given more than once"],
    ["imageId=", "imageId must not be empty"],
    ["name=CanaryToken", "one of them names no input that a plan can have"],
    ["userData=CanaryToken", "one of them names no input that a plan can have"],
  ] as const) {
    const { code, said } = await plan(world, "--input", "vpcId=v", "--input", given);
    expect(code).toBe(1);
    expect(said).toEqual([
      expect.stringContaining(`--input: ${why}`),
      expect.stringMatching(/^→ Give each as NAME=VALUE, .* flavorId, imageId, vpcId, /),
    ]);
  }
  expect(world.service.control.counts()).toEqual({});
});

test("each error is printed with the next step and exit code 1, and there is no plan", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  for (const file of [join(world.home, "no", "folder"), world.home])
    expect(await plan(world, "--plan", file)).toMatchObject({
      code: 1,
      said: [expect.stringMatching(/the plan can't be written/), expect.stringMatching(/^→/)],
    });

  const noStack = await planIn(world, "/nonexistent", "--stack", "dev");
  expect(noStack.said[0]).toMatch(/^there is no pulumi on PATH$/);
  expect(noStack.said.at(-1)).toBe("there is no plan: see above");
  expect(noStack).toMatchObject({ code: 1, plan: undefined, text: "" });

  world.service.control.declareToken(testToken, { state: "revoked" });
  const revoked = await plan(world);
  expect(revoked.said.join("\n")).toMatch(
    /HTTP 401.*\n→ The token is .* put a valid one in COMPUTE_API_TOKEN/,
  );
  expect(revoked).toMatchObject({ code: 1, plan: undefined });
});

test("the resource names of the plan are not in use in the stack to import into, which the next command names", async (world) => {
  for (const id of ["i-1", "i-2"]) world.service.control.insert({ id, name: "web" });
  const path = fakePulumi(
    world,
    { dev: { held: [{ name: "web", id: "i-1" }] } },
    { selected: "dev" },
  );
  const { plan: made, said } = await planIn(world, path, "--stack", "dev");
  expect(made).toEqual(["web-i-2=i-2"]);
  expect(said.at(-1)).toMatch(/Next: pulumi import --file \S+plan\.json --stack dev$/);
});

test("the plan leaves out what any stack of the backend manages", async (world) => {
  const { control } = world.service;
  for (const id of ["i-a", "i-b", "i-read", "i-live", "i-lost", "i-hand", "i-ben", "i-moved"]) {
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
          { name: "moved", id: "i-moved", origin: { baseUrl: "https://b.example/v2" } },
        ],
        pending: ["i-lost"],
      },
      big: { held: many },
    },
    { selected: "dev" },
  );
  const { code, plan: planned, text, said } = await planIn(world, path);
  expect(planned).toEqual(["i-hand=i-hand", "i-live=i-live", "i-read=i-read"]);
  expect(text).toMatch(/^managed +9 instances$/m);
  expect(text).toMatch(
    /^ {2}i-a {2}"i-a" .*\n {4}.*::a .* --stack dev`\n {4}.*::a .* --stack prod`$/m,
  );
  expect(text).toMatch(/^ {2}instance i-ben "i-ben": stack prod has an instance with this id: it/m);
  expect(text).toMatch(
    /^ {2}instance i-moved "i-moved": stack prod has .* lives at https:\/\/b\./m,
  );
  expect(text).toMatch(
    /^Creates in doubt \(1\):\n {2}1 create of prod: `\S+ settle --stack prod` in/m,
  );
  expect(said).toEqual([expect.stringMatching(/^3 instances in the plan\. Next: /)]);
  expect(code).toBe(0);
  const none = await planIn(world, path, "--name", "web-*");
  expect(none).toMatchObject({ code: 0, plan: [] });
  expect(none.said.at(-1)).toBe("0 instances in the plan");
});

test("a create in doubt that a later run has continued explains no other instance of its name", async (world) => {
  for (const id of ["i-1", "i-2"]) world.service.control.insert({ id, name: "web" });
  const inputs = { name: "web", __generated: "web" };
  const dev = { held: [{ name: "web", id: "i-1" }], pending: [{ name: "web", inputs }] };
  const path = fakePulumi(world, { dev }, { selected: "dev" });
  expect((await planIn(world, path)).plan).toEqual(["web-i-2=i-2"]);
});

test("if a stack can't be read, or there is no pulumi, there is no plan, and the message says why", async (world) => {
  world.service.control.insert({ id: "i-1", name: "web" });
  const broken = await planIn(world, fakePulumi(world, { dev: "broken" }));
  expect(broken).toMatchObject({ code: 1, plan: undefined });
  expect(broken.text).toMatch(/^ {2}stack dev: the output of `pulumi stack export`/m);
  expect(broken.text).toMatch(/^ {2}→ Run `audit` again .* mend the cause/m);
  expect(broken.said).toEqual(["there is no plan: see above"]);
  const missing = await planIn(world, "/nonexistent");
  expect(missing).toMatchObject({ code: 1, plan: undefined });
  expect(missing.said).toEqual([
    "there is no pulumi on PATH",
    expect.stringMatching(/^→ Install Pulumi/),
    "there is no plan: see above",
  ]);
  const readable = await planIn(world, fakePulumi(world, { dev: {} }));
  expect(readable).toMatchObject({ code: 0, plan: ["web=i-1"] });
});

test("with an empty listing, there is nothing to import", async (world) => {
  expect(await plan(world)).toMatchObject({
    code: 0,
    plan: [],
    said: ["0 instances in the plan"],
  });
});
