/** Tests `import-plan` against the emulator: which instances are in the plan, which are left out, and why. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { typed } from "../../provider/cli/testing/typed";
import { leaveOpen } from "../../provider/testing/ledgerRecord";
import { testToken, withWorld, type World } from "./support/world";

interface Planned {
  /** The exit code. */
  code: number;
  /** The resources of the plan, each as `NAME=ID`. */
  plan: string[];
  warnings: string[];
}

async function plan({ home, service }: World, ...args: string[]): Promise<Planned> {
  const { code, lines, warnings } = await typed(["import-plan", ...args], {
    ...{ PATH: "", PULUMI_HOME: home },
    ...{ COMPUTE_BASE_URL: service.url, COMPUTE_API_TOKEN: testToken },
  });
  const printed = lines.join("\n");
  expect(printed + warnings.join("\n")).not.toMatch(/Canary/);
  for (const call of Object.keys(service.counts())) expect(call).toMatch(/^GET /);
  if (printed === "") return { code, plan: [], warnings };
  const { resources } = JSON.parse(printed) as { resources: Record<string, string>[] };
  for (const { type } of resources) expect(type).toBe("compute:index:Instance");
  return { code, plan: resources.map(({ name, id }) => `${name}=${id}`), warnings };
}

test("the plan is filtered by name and status, and has PROVISIONING instances only if the option names that status", async () => {
  await withWorld({}, async (world) => {
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
      warnings: ["0 instances are in the plan.", "No listed instance matches --name."],
    });
    expect((await plan(world, "--status", "offline")).plan).toEqual(["Web-2=i-2"]);
  });
});

test("resource names are unique, even after generated code has replaced their punctuation", async () => {
  await withWorld({}, async (world) => {
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
});

test("with an incomplete listing, the plan has the instances that are listed, and a warning says so", async () => {
  await withWorld({}, async (world) => {
    world.crowd(130);
    world.service.control.insert({ id: "i-off", name: "off", status: "OFFLINE" });
    const { code, plan: made, warnings } = await plan(world);
    expect(made).toHaveLength(101);
    expect(warnings.join("\n")).toMatch(/warning: the service's listing is not complete/);
    expect(code).toBe(0);
    // The listing of that status is complete.
    const offline = await plan(world, "--status", "OFFLINE");
    expect(offline.plan).toEqual(["off=i-off"]);
    expect(offline.warnings).toHaveLength(1);
  });
});

test("an instance that the next `pulumi up` takes over, and an id that can't be printed, are left out with the reason", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.insert({ id: "i-open", name: "open" });
    control.insert({ id: "i-\u001b[2Jevil", name: "a\nFAILED" });
    control.insert({ id: `i-${testToken}`, name: `n-${testToken}` });
    const made = { baseUrl: world.service.url, stage: "accepted", id: "i-open" } as const;
    await leaveOpen(world.ledger, "open", made);
    const { plan: planned, warnings } = await plan(world);
    expect(planned).toEqual([]);
    // The instance whose id has control characters is not even read, so the listing is not complete.
    expect(warnings.join("\n")).toMatch(/not complete/);
    const [token, open, ...rest] = warnings.filter((line) => !/not complete/.test(line));
    expect(token).toMatch(/^left out: i-.*\[secret\]/);
    expect(open).toMatch(/^left out: i-open "open": an earlier run created it for urn:pulumi:dev/);
    expect(rest).toEqual(["0 instances are in the plan."]);
  });
});

test("the plan does not show the token, even if an instance has the token as its name (G8)", async () => {
  await withWorld({}, async (world) => {
    world.service.control.insert({ id: "i-1", name: testToken });
    const file = join(world.home, "the plan.json");
    const { warnings } = await plan(world, "--out", file);
    expect(warnings).toEqual([`1 instance is in the plan. Next: pulumi import --file '${file}'`]);
    expect(readFileSync(file, "utf8")).toContain('"name": "secret"');
  });
});

test("--input adds the inputs that the listing lacks to each instance of the plan", async () => {
  await withWorld({}, async (world) => {
    world.service.control.insert({ id: "i-1", name: "web" });
    const file = join(world.home, "plan.json");
    const given = ["flavorId=standard-2", "imageId=a=b", "sshKeys=one", "sshKeys=two"];
    const options = given.flatMap((it) => ["--input", it]);
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
});

test.each([
  [
    "flavour_id=CanaryToken",
    "--input: one of the names is not an input of an instance; did you mean flavorId?",
  ],
  ["CanaryToken", "--input: one of them has no ="],
  ["imageId=", "--input: imageId must not be empty"],
  ["sshKeys=", "--input: sshKeys must not be empty"],
  ["name=CanaryToken", "--input: name: the name comes from the listing"],
  [
    "userData=CanaryToken",
    "--input: userData is a secret, which the plan would hold in clear text",
  ],
])(
  "--input %s is refused without its value, before anything is asked (G8, G9)",
  async (given, why) => {
    await withWorld({}, async (world) => {
      const { code, warnings } = await plan(world, "--input", "vpcId=v", "--input", given);
      expect(code).toBe(1);
      expect(warnings).toEqual([
        expect.stringContaining(why),
        expect.stringMatching(/^→ Give each as NAME=VALUE, .* flavorId, imageId, vpcId, sshKeys\./),
      ]);
      expect(world.service.counts()).toEqual({});
    });
  },
);

test("an input that is given twice is refused", async () => {
  await withWorld({}, async (world) => {
    const twice = await plan(world, "--input", "vpcId=a", "--input", "vpcId=b");
    expect(twice).toMatchObject({
      code: 1,
      warnings: ["--input: vpcId is given more than once", expect.stringMatching(/^→/)],
    });
  });
});

test("--out writes the file, and each error is printed with the next step and exit code 1", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.insert({ id: "i-1", name: "web" });
    const file = join(world.home, "plan.json");
    const { warnings } = await plan(
      world,
      "--out",
      file,
      "--parent",
      "urn:1",
      "--provider",
      "urn:2",
    );
    expect(warnings).toEqual([`1 instance is in the plan. Next: pulumi import --file ${file}`]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      nameTable: { parent: "urn:1", provider: "urn:2" },
      resources: [
        ...[{ type: "compute:index:Instance", name: "web", id: "i-1" }].map((it) => ({
          ...it,
          ...{ parent: "parent", provider: "provider" },
        })),
      ],
    });
    const nowhere = await plan(world, "--out", join(world.home, "no", "folder"));
    expect(nowhere).toMatchObject({
      code: 1,
      warnings: [expect.stringMatching(/the plan can't be written/), expect.stringMatching(/^→/)],
    });

    const noStack = await plan(world, "--stack", "dev");
    expect(noStack.warnings[0]).toMatch(/^stack: there is no pulumi on PATH/);
    expect(noStack.code).toBe(1);

    control.declareToken(testToken, { state: "revoked" });
    const revoked = await plan(world);
    expect(revoked.warnings.join("\n")).toMatch(/HTTP 401.*give a valid one/);
    expect(revoked.code).toBe(1);
  });
});
