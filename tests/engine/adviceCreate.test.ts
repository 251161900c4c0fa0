/**
 * Types what the messages of a create advise about earlier and unclear creates. In the end, the state and the service agree,
 * no instance was created twice (G2), and none is lost (G1).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Fixture, hangs, never, type FixtureOptions } from "./support/fixture";
import { instances, oneInstance, type Inputs } from "./support/programs";
import { plugin, Stack, tokens } from "./support/stack";
import { expectAgreement, typePrinted, urnOf } from "./support/typing";

const creates = { method: "POST", path: "/v2/instances" } as const;
const lists = { method: "GET", path: "/v2/instances" } as const;
const destroyPath = "/v2/instances/{id}";

// ── Creates of earlier runs ──────────────────────────────────────────────────────────────────────

test("after `pulumi cancel`, a second run waits for the first one in vain. Run again as it says, and what is printed then works", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  const hanging = control.fault(hangs);
  const first = stack.start("up");
  await first.reached(hanging.firstHit);
  await stack.succeed("cancel", "--yes");
  expect(await stack.fail("up")).toContain("Run again once that run has ended");
  hanging.release();
  await first.ended;

  const again = stack.start("up");
  // Whether the second engine saved its state over the first one's decides whether there is something to look at.
  if ((await again.ended) !== 0) await lookFirst(fixture, again.output);

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

/** Looks whether the stack has the instance, as a message says, and types the command that it prints for that case. */
async function lookFirst(fixture: Fixture, output: string): Promise<void> {
  const [id = ""] = fixture.ids();
  const shown = await typePrinted(fixture, output, "pulumi stack --show-ids");
  await typePrinted(fixture, output, shown.includes(id) ? "discard" : "pulumi import");
}

/**
 * Kills engine and plugin while they wait for the instance of `web`. A person then removes the instance at the service, and
 * renames the resource to `www`, with an alias.
 */
async function renamedAfterKill(options: FixtureOptions): Promise<Fixture> {
  const fixture = await Fixture.create({ token: tokens.live, service: never, ...options });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  await up.end("both killed");
  await stack.succeed("cancel", "--yes");
  control.settle();
  control.remove(fixture.ids()[0] ?? "");
  stack.program(instances({ www: { options: { aliases: [urnOf("web")] } } }));
  return fixture;
}

test("a run is killed, the resource renamed and the instance removed: with leftovers fail, the printed discard lets up create it", async () => {
  await using fixture = await renamedAfterKill({ config: { leftovers: "fail" } });
  const { stack, control } = fixture;
  const stopped = await stack.fail("up");
  expect(fixture.posts()).toBe(1);

  await typePrinted(fixture, stopped, "discard");
  const up = stack.start("up");
  await up.printed("PROVISIONING");
  control.settle();
  await up.succeeded();

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(2);
});

test("a run is killed, the resource renamed and the instance removed: with leftovers warn, the printed discard ends the warnings", async () => {
  await using fixture = await renamedAfterKill({});
  const { stack, control } = fixture;
  const up = stack.start("up");
  await up.printed("PROVISIONING");
  control.settle();
  const output = await up.succeeded();
  expect(output).toContain("A new instance is created nevertheless");

  await typePrinted(fixture, output, "discard");

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(2);
  expect(await stack.type(`'${plugin}' discard`)).toContain("There is no pending create.");
});

test("a run is killed and the service gets another address: the printed commands bring the first instance back", async () => {
  await using fixture = await Fixture.create({ token: tokens.live, service: never });
  const { stack, control, service } = fixture;
  const killed = await fixture.upInWait();
  await killed.end("both killed");
  const [id = ""] = fixture.ids();
  control.settle();
  await stack.succeed("cancel", "--yes");
  await stack.configure({ baseUrl: service.url.replace("127.0.0.1", "localhost") });
  const up = stack.start("up");
  await up.printed("PROVISIONING");
  control.settle();
  const output = await up.succeeded();
  expect(output).toContain(`at ${service.url}, and this run uses`);

  const second = fixture.ids().find((other) => other !== id) ?? "";
  await typePrinted(fixture, output, "pulumi state delete");
  await typePrinted(fixture, output, `pulumi import compute:index:Instance web ${id}`);
  control.remove(second);

  await expectAgreement(fixture, [id]);
});

test.each(["discard", "pulumi refresh"])(
  "if an engine was given the instance and the state shows it, %s lets the run go on",
  async (way) => {
    await using fixture = await Fixture.create({
      program: instances({ web: {}, slow: { options: { dependsOn: ["${web}"] } } }),
      config: { destroyPath },
      service: {
        provisioningSeconds: (name) => (name.startsWith("slow") ? Infinity : 0),
        destroyPath,
      },
    });
    const { stack, control } = fixture;
    const up = stack.start("up");
    while (fixture.ids().length < 2) await sleep(20);
    const [web = "", slow = ""] = fixture.ids();
    await up.printed(`${slow} PROVISIONING`);
    await up.end("both killed");
    control.settle();
    await stack.succeed("cancel", "--yes");
    const stopped = await stack.fail("up", "--replace", urnOf("web"));
    expect(await typePrinted(fixture, stopped, "pulumi stack --show-ids")).toContain(web);

    // The end of the run also names the create of `slow`, which the next run continues.
    const shown = stopped.slice(stopped.lastIndexOf(`Pulumi was told that its instance is ${web}`));
    const [error = ""] = shown.split("earlier runs left pending creates");
    await typePrinted(fixture, error, way);
    await stack.up("--replace", urnOf("web"));

    expect(fixture.posts()).toBe(3);
    expect(fixture.ids()).not.toContain(web);
    expect(fixture.ids()).toContain(slow);
    await expectAgreement(fixture);
  },
);

// ── Pending creates that a run names at its end ──────────────────────────────────────────────────

test.each(["pulumi import", "discard"])(
  "after a kill during the create of a resource that the program then lacks, the printed %s works",
  async (way) => {
    const two = { web: {}, db: { options: { dependsOn: ["${web}"] } } };
    // If it asked for the same as `db`, it might be `db` under a new name.
    const third = { inputs: { flavorId: "premium-8" } };
    await using fixture = await Fixture.create({ program: instances(two) });
    const { stack, control } = fixture;
    await fixture.endUpInPost("both killed", 1);
    await stack.succeed("cancel", "--yes");
    const [web = "", db = ""] = fixture.ids();
    stack.program(instances({ web: {}, third }));
    const output = await stack.up();
    expect(output).toContain("earlier runs left pending creates");

    if (way === "discard") {
      control.remove(db);
      await typePrinted(fixture, output, way);
    } else {
      await typePrinted(fixture, output, way, { "<id>": db });
      stack.program(instances({ ...two, third }));
    }

    await expectAgreement(fixture);
    expect(await stack.ids()).toContain(web);
    expect(fixture.posts()).toBe(3);
    expect(await stack.type(`'${plugin}' discard`)).toContain("There is no pending create.");
  },
);

test("the command that names the pending creates of other projects lists them with the commands that settle them", async () => {
  await using fixture = await Fixture.create();
  const { stack, control, service } = fixture;
  await using other = await Stack.create({
    project: "other",
    program: oneInstance(),
    baseUrl: service.url,
    config: { pollIntervalSeconds: "0.2", settlingSeconds: "1" },
    env: { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend },
  });
  for (const { program, name } of [
    { program: other, name: "other" },
    { program: stack, name: "proj" },
  ]) {
    const hanging = control.fault(hangs);
    const up = program.start("up");
    await up.reached(hanging.firstHit);
    await up.end("both killed", () => hanging.release());
    await program.succeed("cancel", "--yes", "--stack", `organization/${name}/dev`);
  }
  // If it asked for the same as `web`, it might be `web` under a new name.
  const third = { inputs: { flavorId: "premium-8" } };
  stack.program(instances({ third }));
  const [, command = ""] = /`([^`]+ discard)` lists them/.exec(await stack.up()) ?? [];

  const listed = await stack.type(command);
  for (const name of ["other", "proj"]) {
    expect(listed).toMatch(
      new RegExp(`^urn:pulumi:dev::${name}::.*\\n.*\\n  take it over: pulumi up, unless`, "m"),
    );
  }
  expect(await other.up()).toContain("an earlier run created");
  await other.expectNothingToDo();
  stack.program(instances({ web: {}, third }));
  const [theirs, ...ours] = fixture.ids();
  expect(await other.ids()).toEqual([theirs]);
  await expectAgreement(fixture, ours);
  expect(fixture.posts()).toBe(3);
});

// ── Leftovers ────────────────────────────────────────────────────────────────────────────────────

/** Kills an `up` during its POST, and removes the ledger. Returns the id of the instance, which is then a leftover. */
async function leftBehind(fixture: Fixture): Promise<string> {
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  rmSync(join(stack.home, "compute"), { recursive: true });
  await stack.succeed("cancel", "--yes");
  return fixture.ids()[0] ?? "";
}

test.each(["pulumi import", "removed at the service", "compute:leftovers fail"])(
  "after a warning about a leftover, what it advises works: %s",
  async (way) => {
    const config = { deletePolicy: "retain" };
    await using fixture = await Fixture.create({ token: tokens.live, config });
    const { stack, control } = fixture;
    const leftover = await leftBehind(fixture);
    const output = await stack.up();
    expect(output).toContain("new instances are created although the service has instances");

    if (way === "pulumi import") {
      await typePrinted(fixture, output, way, { "<name>": "web-2" });
      stack.program(instances({ web: {}, "web-2": {} }));
    }
    if (way === "compute:leftovers fail") {
      await typePrinted(fixture, output, "pulumi config set compute:leftovers fail");
      expect(await stack.fail("up", "--replace", urnOf("web"))).toContain(leftover);
    }
    if (way !== "pulumi import") control.remove(leftover);

    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(2);
  },
);

test.each(["pulumi import", "removed at the service"])(
  "after a leftover stopped the create, what the message advises works: %s",
  async (way) => {
    await using fixture = await Fixture.create({ config: { leftovers: "fail" } });
    const { stack, control } = fixture;
    const leftover = await leftBehind(fixture);
    const stopped = await stack.fail("up");

    if (way === "pulumi import") {
      await typePrinted(fixture, stopped, "pulumi import compute:index:Instance web ");
    } else {
      control.remove(leftover);
      await stack.up();
    }

    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(way === "pulumi import" ? 1 : 2);
  },
);

test("if another stack's create made the leftover, the `pulumi up` that the message names takes it over there, and nothing is left to do", async () => {
  // The next run waits for this time-out before a listing proves anything.
  const config = { requestTimeoutSeconds: "2" };
  await using fixture = await Fixture.create({ program: oneInstance(named), config });
  const { stack, control, service } = fixture;
  await using other = await Stack.create({
    project: "other",
    program: oneInstance(named),
    baseUrl: service.url,
    config: { pollIntervalSeconds: "0.2", settlingSeconds: "1", leftovers: "fail", ...config },
    env: { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend },
  });
  const waiting = control.fault({ ...lists, kind: "hang", after: 1, times: "always" });
  const up = stack.start("up");
  await up.reached(waiting.firstHit);
  await up.end("both killed", () => waiting.remove());
  await stack.succeed("cancel", "--yes", "--stack", "organization/proj/dev");
  const [id = ""] = fixture.ids();

  const stopped = await other.fail("up");

  expect(stopped).toContain(`${id}: it has the same name, and a run on this machine created it`);
  expect(stopped).toContain("`pulumi up` with stack dev of project proj selected");
  await expectAgreement(fixture, [id]);
  other.program(oneInstance({ name: "other-main" }));
  await other.up();
  expect(fixture.posts()).toBe(2);
});

test.each(["a replacement", "a new name without an alias"])(
  "if the leftover that stopped %s is in the stack, the printed command lets the run go on",
  async (run) => {
    await using fixture = await Fixture.create({
      config: { leftovers: "fail", destroyPath },
      service: { destroyPath },
    });
    const { stack } = fixture;
    await stack.up();
    const [id = ""] = fixture.ids();
    const isReplacement = run === "a replacement";
    const options = isReplacement ? ["--replace", urnOf("web")] : [];
    if (!isReplacement) stack.program(instances({ www: {} }));
    const stopped = await stack.fail("up", ...options);
    expect(await typePrinted(fixture, stopped, "pulumi stack --show-ids")).toContain(id);

    const way = isReplacement ? "pulumi config set compute:leftovers warn" : "pulumi up --refresh";
    await typePrinted(fixture, stopped, way);
    await stack.up(...options);

    expect(fixture.ids()).not.toContain(id);
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(2);
  },
);

test.each(["removed at the service", "compute:deletePolicy retain", "compute:leftovers warn"])(
  "after a replacement was refused because its delete would fail, what the message advises works: %s",
  async (way) => {
    const areLeftoversRefused = way === "compute:leftovers warn";
    const config = areLeftoversRefused ? { leftovers: "fail" } : {};
    await using fixture = await Fixture.create({ token: tokens.live, config });
    const { stack, control } = fixture;
    await stack.up();
    const [id = ""] = fixture.ids();
    const refused = await stack.fail("up", "--replace", urnOf("web"));
    expect(refused).toContain(`nothing was created: instance ${id}`);

    if (way === "removed at the service") control.remove(id);
    else await typePrinted(fixture, refused, "compute:deletePolicy retain");
    if (areLeftoversRefused) await typePrinted(fixture, refused, way);
    await stack.up("--replace", urnOf("web"));

    await expectAgreement(
      fixture,
      fixture.ids().filter((other) => other !== id),
    );
    expect(fixture.posts()).toBe(2);
  },
);

test.each(["pulumi import", "discard"])(
  "after a create was refused because the instance that left the state still runs, the printed %s works",
  async (way) => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await stack.up();
    const [id = ""] = fixture.ids();
    await stack.succeed("state", "delete", urnOf("web"), "--yes");
    const refused = await stack.fail("up");
    expect(refused).toContain(`nothing was created: instance ${id}`);

    await typePrinted(fixture, refused, way);
    if (way === "discard") await stack.up();

    await expectAgreement(
      fixture,
      way === "discard" ? fixture.ids().filter((other) => other !== id) : [id],
    );
    expect(fixture.posts()).toBe(way === "discard" ? 2 : 1);
  },
);

// ── A POST whose outcome is not known ────────────────────────────────────────────────────────────

const named: Inputs = { name: "web-main" };

test("after a create that no listing showed, the next up takes its instance over", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  control.fault({ ...creates, kind: "reset", acted: true });
  const hidden = control.fault({ ...lists, kind: "omitItem", times: "always" });
  expect(await stack.fail("up")).toContain("on this machine searches for it before it creates");
  hidden.remove();

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

test.each(["pulumi import", "discard"])(
  "after an unclear create with a name that the program gave, the printed %s works",
  async (way) => {
    await using fixture = await Fixture.create({ program: oneInstance(named) });
    const { stack, control } = fixture;
    control.fault({ ...creates, kind: "status", status: 503, acted: true });
    const output = await stack.fail("up");
    const [id = ""] = fixture.ids();
    expect(output).toContain(`has turned up since, ${id}`);

    if (way === "discard") control.remove(id);
    await typePrinted(fixture, output, way);
    if (way === "discard") await stack.up();

    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(way === "discard" ? 2 : 1);
  },
);

test.each(["pulumi import", "discard"])(
  "after a replacement without a clear answer, the printed %s works",
  async (way) => {
    await using fixture = await Fixture.create({ program: oneInstance(named) });
    const { stack, control } = fixture;
    await stack.up();
    const [old = ""] = fixture.ids();
    stack.program(oneInstance({ ...named, flavorId: "premium-8" }));
    control.fault({ ...creates, kind: "status", status: 503, acted: true });
    const output = await stack.fail("up");
    const [id = ""] = fixture.ids().filter((other) => other !== old);
    expect(output).toContain(`has turned up since, ${id}`);

    if (way === "discard") control.remove(id);
    else await typePrinted(fixture, output, "pulumi state delete");
    await typePrinted(fixture, output, way);
    if (way === "discard") await stack.up();
    else control.remove(old);

    await expectAgreement(
      fixture,
      fixture.ids().filter((other) => other !== old),
    );
    expect(fixture.posts()).toBe(way === "discard" ? 3 : 2);
  },
);

test("after an unclear create with several instances of its name, the printed import takes the right one over", async () => {
  // The next run waits for this time-out before a listing proves anything.
  const config = { requestTimeoutSeconds: "2" };
  await using fixture = await Fixture.create({ program: oneInstance(named), config });
  const { stack, control } = fixture;
  const hanging = control.fault(hangs);
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  const [id = ""] = fixture.ids();
  control.insert({ id: "i-other", name: "web-main" });
  await up.end("plugin killed");
  hanging.release();
  const output = await stack.fail("up");
  expect(output).toContain("Several instances of that name exist");

  control.remove("i-other");
  await typePrinted(fixture, output, "pulumi import", { "<id>": id });

  await expectAgreement(fixture, [id]);
  expect(fixture.posts()).toBe(1);
});

test("a further instance that an unclear create may have made is removed at the service, and nothing is left to do", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(named), service: never });
  const { control } = fixture;
  control.fault({ ...creates, kind: "status", status: 503, acted: true });
  const hidden = control.fault({ ...lists, kind: "omitItem", times: "always" });
  const up = await fixture.upInWait();
  hidden.remove();
  control.settle();
  const output = await up.succeeded();
  const [extra = "", kept = ""] = fixture.ids();
  expect(output).toContain(`there is another instance named "web-main", ${extra}`);

  control.remove(extra);

  await expectAgreement(fixture, [kept]);
});
