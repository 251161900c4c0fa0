/**
 * Tests `settle` with states of the real engine, for runs that were killed at different moments: the state and the service agree
 * afterwards, no server is made a second time (G2), and none that serves is destroyed.
 */
import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture, hangs, never } from "./support/fixture";
import { instances, oneInstance, required, type Inputs } from "./support/programs";
import { editState, live, marksOf, onNewMachine, settle, stateFile } from "./support/settling";
import { plugin, recordsOf, tokens, type Stack } from "./support/stack";
import { expectAgreement, printed, urnOf } from "./support/typing";

const web = urnOf("web");

/** Kills a run between the reply to its create and the engine's save. */
async function killBeforeSave({ stack, control }: Fixture): Promise<void> {
  const hanging = control.fault(hangs);
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  up.child.kill("SIGSTOP");
  hanging.release();
  while (recordsOf(stack)[0]?.givenBy === undefined) await sleep(20);
  await up.end("both killed");
}

const machines = ["a new machine", "the same machine"] as const;

/** Lets the stack be used again, where the killed run's ledger is gone, or is there. */
const goOn = (stack: Stack, where: (typeof machines)[number]) =>
  where === "a new machine" ? onNewMachine(stack) : stack.succeed("cancel", "--yes");

test.each(machines)(
  "after a kill in the POST, on %s, the next up has nothing to do",
  async (where) => {
    await using fixture = await Fixture.create(live);
    const { stack } = fixture;
    await fixture.endUpInPost("both killed");
    await goOn(stack, where);

    expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });

    expect(await stack.up()).not.toMatch(/warning|pending/);
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(1);
  },
);

test.each(machines)(
  "after a kill between the reply and the save, on %s, preview warns or stops, and up stops until the settle that it prints",
  async (where) => {
    await using fixture = await Fixture.create(live);
    const { stack } = fixture;
    await killBeforeSave(fixture);
    await goOn(stack, where);

    // Without the file, a run may be under way on another machine.
    if (where === "a new machine") expect(await stack.preview()).toContain("will stop here");
    else expect(await stack.fail("preview")).toContain(" settle`");
    const stopped = await stack.fail("up");
    expect(fixture.posts()).toBe(1);
    await stack.type(`${printed(stopped, "settle")} --yes`);

    expect(await stack.up()).not.toMatch(/warning|pending/);
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(1);
  },
);

test("a create that left nothing stops no up, and is forgotten once an instance shows the place", async () => {
  await using fixture = await Fixture.create(live);
  const { stack, control } = fixture;
  const hanging = control.fault({ ...hangs, acted: false });
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  await up.end("both killed");
  await onNewMachine(stack);

  // Only the settings say that this is the place where it was sent.
  const { code, output } = await settle(stack, "--yes");
  expect(output).toContain("The rest is left to `pulumi up`");
  expect(code).toBe(0);
  expect(await stack.up()).toContain("1 created");
  expect(fixture.ids()).toHaveLength(1);

  const known = await settle(stack, "--yes");
  expect(known.output).toContain("nothing left behind, as two complete listings show");
  expect(known.code).toBe(0);
  expect(await stack.expectNothingToDo()).not.toContain("pending");
});

test("an explicit name proves nothing: a person takes the instance with the printed command, also after a slip", async () => {
  const program = oneInstance({ name: "db-1" });
  await using fixture = await Fixture.create({ ...live, program });
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);
  const before = readFileSync(stateFile(stack), "utf8");

  const { code, output } = await settle(stack, "--yes");

  expect(code).toBe(1);
  expect(readFileSync(stateFile(stack), "utf8")).toBe(before);
  expect(output).toContain(fixture.ids()[0]);
  const slip = await settle(stack, "--yes", "--take", `${web}=i-slip`);
  expect(slip.output).toContain("--take names i-slip, which the service does not list");
  expect(printed(slip.output, "--take")).toBe(printed(output, "--take"));
  await stack.type(printed(slip.output, "--take"));
  expect(await stack.up()).not.toContain("warning");
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

/** An instance in a component, with a provider that the program makes. */
const inComponent = (url: string, token: string) => `
const pulumi = require("@pulumi/pulumi");
class Group extends pulumi.ComponentResource {}
class Provider extends pulumi.ProviderResource {}
class Instance extends pulumi.CustomResource {}
const provider = new Provider("compute", "own", { baseUrl: "${url}", apiToken: ${token}, requestTimeoutSeconds: 1, settlingSeconds: 1, pollIntervalSeconds: 0.2 });
const parent = new Group("my:mod:Group", "group");
new Instance("compute:index:Instance", "web", ${JSON.stringify(required)}, { parent, provider });
`;

test("an instance in a component, of a provider that the program makes, comes into the state", async () => {
  await using fixture = await Fixture.create(live);
  const { stack, service } = fixture;
  stack.javascript(inComponent(service.url, "process.env.COMPUTE_API_TOKEN"));
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);

  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

test("what the token at hand can't prove is a person's to decide", async () => {
  await using fixture = await Fixture.create({ ...live, token: null });
  const { stack, service } = fixture;
  stack.setEnv("OTHER_TOKEN", tokens.live);
  stack.javascript(inComponent(service.url, "process.env.OTHER_TOKEN"));
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);

  const { code, output } = await settle(stack, "--yes");

  expect(code).toBe(1);
  expect(output).toContain("the service can't be asked (token: ");
  const forgetting = printed(output, "--forget web");
  expect(await stack.type(forgetting)).toContain("Nothing is in doubt any more.");
});

/** The pending create of another provider. */
const othersCreate = {
  resource: {
    urn: "urn:pulumi:dev::proj::other:index:Thing::x",
    custom: true,
    type: "other:index:Thing",
  },
  type: "creating",
};

test("the state keeps another provider's pending create, unless --drop-others lets it go", async () => {
  await using fixture = await Fixture.create(live);
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);
  editState(stack, ({ pending_operations: operations }) => operations.push(othersCreate));
  const before = readFileSync(stateFile(stack), "utf8");

  const kept = await settle(stack, "--yes");
  expect(kept.output).toContain(othersCreate.resource.urn);
  expect(kept.code).toBe(1);
  expect(readFileSync(stateFile(stack), "utf8")).toBe(before);

  expect(await settle(stack, "--yes", "--drop-others")).toMatchObject({ code: 0 });
  await expectAgreement(fixture);
});

test("the settle that settle prints has the options that were typed: it asks the same service, and loses the same creates", async () => {
  await using fixture = await Fixture.create(live);
  const { stack, service, control } = fixture;
  await stack.up();
  const [name = ""] = control.instances().map((one) => one.name);
  control.insert({ id: "i-left", name: name.replace(/.{4}$/, "aaaa"), tokenKind: "live" });
  editState(stack, (latest) => Object.assign(latest, { pending_operations: [othersCreate] }));
  await stack.succeed("config", "rm", "compute:baseUrl");
  const options = ["--drop-others", "--base-url", service.url, "--settling-seconds", "1"];

  const { output } = await settle(stack, "--yes", ...options);

  expect(await stack.type(printed(output, "--forget web"))).toContain("1 instance let run");
});

test("a pending create that is older than the server in the state never takes its place", async () => {
  const options = { config: { ...live.config, destroyPath }, service: { destroyPath } };
  await using fixture = await Fixture.create({ ...live, ...options });
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);
  await stack.up();
  const [older = "", serving] = fixture.ids();
  expect(await stack.ids()).toEqual([serving]);

  const { code, output } = await settle(stack, "--yes");

  expect(code).toBe(1);
  expect(output).toContain(older);
  expect(output).toContain(`the state has ${serving} there`);
  expect(output.indexOf("--forget")).toBeLessThan(output.indexOf("--take"));
  expect(output).toContain(`then deletes ${serving}`);
  await stack.up();
  expect(await stack.ids()).toEqual([serving]);
  expect(fixture.ids()).toEqual([older, serving]);

  // What is given up runs on, and nobody is asked again.
  expect(await stack.type(printed(output, "--forget"))).toContain("1 instance let run");
  const after = await settle(stack, "--yes");
  expect(after.output).not.toContain(older);
  expect(after.code).toBe(0);
  await stack.expectNothingToDo();
  expect(fixture.ids()).toEqual([older, serving]);
});

/** Makes `web`, then kills the run that replaces it by a resource of this name while the POST is under way. */
async function interruptReplacement(options: Inputs = {}, name = "web"): Promise<Fixture> {
  const fixture = await Fixture.create({
    ...live,
    config: { ...live.config, destroyPath },
    service: { destroyPath },
  });
  const { stack } = fixture;
  await stack.up();
  stack.program(instances({ [name]: { inputs: { flavorId: "standard-4" }, options } }));
  await fixture.endUpInPost("both killed");
  return fixture;
}

test("an interrupted replacement with a file is left to `up`, which goes on with it if the program still asks for it", async () => {
  await using fixture = await interruptReplacement();
  const { stack } = fixture;
  await stack.succeed("cancel", "--yes");
  const [old = "", made = ""] = fixture.ids();

  const { code, output } = await settle(stack, "--yes");

  expect(output).toContain(`instance ${made}`);
  expect(code).toBe(0);
  expect(await stack.ids()).toEqual([old]);
  await stack.up();
  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
  await expectAgreement(fixture, [made]);
  expect(fixture.ids()).toEqual([made]);
  expect(fixture.posts()).toBe(2);
});

test.each(machines)(
  "a replacement that was interrupted on %s, while an alias renamed its resource, takes the place of the old server",
  async (where) => {
    await using fixture = await interruptReplacement({ aliases: [{ name: "web" }] }, "web2");
    const { stack } = fixture;
    await goOn(stack, where);
    const [old = "", made = ""] = fixture.ids();

    const { output } = await settle(stack, "--yes");
    expect(output).toContain(`the state has ${old} there`);
    expect(await stack.ids()).toEqual([old]);
    if (where === "a new machine") await stack.type(printed(output, "--take"));
    await stack.up();

    expect(fixture.ids()).toEqual([made]);
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(2);
  },
);

test("under the policy fail, the command that settle names for an interrupted replacement lets the old server run", async () => {
  await using fixture = await Fixture.create(live);
  const { stack } = fixture;
  await stack.up();
  stack.program(oneInstance({ flavorId: "standard-4" }));
  stack.setEnv("COMPUTE_DELETE_POLICY", "retain");
  await fixture.endUpInPost("both killed");
  stack.setEnv("COMPUTE_DELETE_POLICY", "");
  await stack.succeed("cancel", "--yes");
  const [old = "", made = ""] = fixture.ids();

  const { code, output } = await settle(stack, "--yes");
  expect(code).toBe(0);
  expect(output).toContain(`drops ${old} from the state`);
  await stack.type(printed(output, "COMPUTE_"));

  await expectAgreement(fixture, [made]);
  expect(fixture.ids()).toEqual([old, made]);
});

test("after a reverted commit, settle and up keep the server that serves, and the printed --forget ends the doubt", async () => {
  await using fixture = await interruptReplacement();
  const { stack } = fixture;
  await stack.succeed("cancel", "--yes");
  const [old = "", made = ""] = fixture.ids();
  stack.program(oneInstance());

  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
  const reverted = await stack.up();

  expect(fixture.ids()).toEqual([old, made]);
  expect(await stack.ids()).toEqual([old]);
  const again = await stack.type(`${printed(reverted, "settle")} --yes`);
  expect(again).toContain(made);
  expect(await stack.type(printed(again, "--forget"))).toContain("Nothing is in doubt any more.");
  expect(await stack.up()).not.toContain("in doubt");
  expect(fixture.ids()).toEqual([old, made]);
  expect(await stack.ids()).toEqual([old]);
});

test("a create that stops because the program has changed prints the --forget that ends it", async () => {
  await using fixture = await interruptReplacement();
  const { stack } = fixture;
  await stack.succeed("cancel", "--yes");
  const [, made = ""] = fixture.ids();
  stack.program(oneInstance({ flavorId: "standard-8" }));

  const stopped = await stack.fail("up");

  expect(stopped).toContain("the program, the token or the provider resource has changed since");
  await stack.type(printed(stopped, "--forget"));
  // What was given up runs on, and is asked about no more.
  expect(await stack.up()).not.toContain(made);
  expect(fixture.posts()).toBe(3);
  expect(fixture.ids()).toEqual([made, ...(await stack.ids())]);
});

test("settle goes on with a replacement that was interrupted after its delete", async () => {
  await using fixture = await interruptReplacement({ deleteBeforeReplace: true });
  const { stack } = fixture;
  await onNewMachine(stack);
  const [made = ""] = fixture.ids();
  expect(await marksOf(stack)).toEqual([expect.stringContaining("pendingReplacement")]);

  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });

  expect(await marksOf(stack)).toEqual([made]);
  await expectAgreement(fixture, [made]);
  expect(fixture.posts()).toBe(2);
});

test("a server whose resource has left the state is named, with the import that takes it back", async () => {
  await using fixture = await Fixture.create(live);
  const { stack } = fixture;
  await stack.up();
  await stack.succeed("state", "delete", web, "--yes");
  await onNewMachine(stack);

  const { code, output } = await settle(stack, "--yes");

  // The program may no longer have it.
  expect(code).toBe(0);
  await stack.type(`${printed(output, "pulumi import")} --yes`);
  expect(await stack.ids()).toEqual(fixture.ids());
  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
});

test("the up that settle prints beside a leftover makes a second server, and the printed audit finds the first", async () => {
  await using fixture = await Fixture.create(live);
  const { stack } = fixture;
  await stack.up();
  const [first] = fixture.ids();
  await stack.succeed("state", "delete", web, "--yes");
  expect(await stack.fail("up")).toContain("may have an instance already");
  const settled = await settle(stack, "--yes");
  const output = await stack.type(printed(settled.output, "COMPUTE_LEFTOVERS"));

  expect(fixture.ids()).toHaveLength(2);
  const found = await stack.typeFailing(printed(output, "audit"));
  expect(found).toMatch(new RegExp(`^In no stack .*\n.*${first}`, "m"));
});

test("a stack that a killed run has left locked stays as it is", async () => {
  await using fixture = await Fixture.create({ ...live, service: never });
  const { stack } = fixture;
  await (await fixture.upInWait()).end("both killed");
  const before = readFileSync(stateFile(stack), "utf8");

  const { code, output } = await settle(stack, "--yes");

  expect(output).toContain("the stack is currently locked");
  expect(output).toContain("`pulumi cancel --yes`");
  expect(code).toBe(3);
  expect(readFileSync(stateFile(stack), "utf8")).toBe(before);
  expect(recordsOf(stack)).toMatchObject([{ id: fixture.ids()[0] }]);

  await stack.succeed("cancel", "--yes");
  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
  expect(await stack.ids()).toEqual(fixture.ids());
});

test("while a run is under way, settle changes nothing", async () => {
  await using fixture = await Fixture.create({ ...live, service: never });
  const { stack } = fixture;
  const up = await fixture.upInWait();

  const { code, output } = await settle(stack, "--yes");

  expect(output).toMatch(/another run \(process \d+\) is under way on this machine/);
  expect(code).toBe(3);
  fixture.control.finishProvisioning();
  await up.succeeded();
  await stack.expectNothingToDo();
});

test("without a terminal, settle shows what it would do, and as JSON", async () => {
  await using fixture = await Fixture.create({ ...live, service: never });
  const { stack, service } = fixture;
  await (await fixture.upInWait()).end("both killed");
  await onNewMachine(stack);
  const before = readFileSync(stateFile(stack), "utf8");

  // A session of its own has no terminal.
  const line = `setsid '${plugin}' settle`;
  expect(await stack.typeFailing(line)).toContain("Nobody can be asked here: --yes does it.");
  const shown = JSON.parse(await stack.typeFailing(`${line} --json 2> /dev/null`)) as unknown;

  const [id] = fixture.ids();
  expect(shown).toEqual({
    result: "declined",
    stack: "organization/proj/dev",
    service: { baseUrl: service.url, tokenKind: "live" },
    inDoubt: [
      {
        urn: web,
        name: fixture.control.instances()[0]?.name,
        id,
        found: expect.any(String),
        does: expect.any(String),
        ways: [],
      },
    ],
    otherPendingCreates: [],
    stateBefore: null,
    problems: expect.any(Array),
  });
  expect(readFileSync(stateFile(stack), "utf8")).toBe(before);

  const done = JSON.parse(await stack.type(`${line} --json --yes`)) as { stateBefore: string };
  const kept = JSON.parse(readFileSync(done.stateBefore, "utf8")) as { deployment: object };
  expect(kept.deployment).toMatchObject({ pending_operations: [{ type: "creating" }] });
  expect(statSync(done.stateBefore).mode & 0o777).toBe(0o600);
});
