/**
 * Sequences of commands that once broke a guarantee with the real engine: an instance was lost (G1) or created twice
 * (G2), or a delete did not tell the truth (G4). Each test counts the instances at the end and checks the messages.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { instances, oneInstance, required, type Inputs } from "./support/programs";
import { tokens } from "./support/stack";
import { Fixture } from "./support/fixture";

const never = { provisioningSeconds: Infinity };
const destroyPath = "/v2/instances/{id}";
const urnOf = (name: string) => `urn:pulumi:dev::proj::compute:index:Instance::${name}`;
const importing = (name: string, id: string) => ["import", "compute:index:Instance", name, id];

/** Starts `up`, and returns it when it has printed these strings. */
async function upThatPrinted(fixture: Fixture, ...texts: string[]) {
  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  for (const text of texts) await up.printed(text);
  return up;
}

/** Kills the plugin while it waits for its only instance, and returns the id of the instance. */
async function killPluginInWait(fixture: Fixture): Promise<string> {
  const up = await upThatPrinted(fixture, "PROVISIONING");
  up.killPlugin();
  expect((await up.ended).code).not.toBe(0);
  fixture.service.control.settle();
  const [id = ""] = fixture.ids();
  return id;
}

/** Expects that this is the only instance, that one POST was sent, and that `up` changes nothing. */
async function expectOnly(fixture: Fixture, id: string): Promise<void> {
  await fixture.stack.expectNothingToDo();
  expect(fixture.ids()).toEqual([id]);
  expect(fixture.posts()).toBe(1);
}

test("after a plugin was killed and an import only previewed, up creates nothing, and the import that it prints works", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(), service: never });
  const { stack } = fixture;
  const id = await killPluginInWait(fixture);

  const previewed = await stack.run(...importing("web", id), "--preview-only");
  expect(previewed.code).toBe(0);
  stack.program(oneInstance({}, { import: id }));
  await stack.preview();
  stack.program(oneInstance());

  // The plugin can't tell a preview of an import from an import.
  const stopped = await stack.up();
  expect(stopped.output).toContain(`the engine received instance ${id}`);
  expect(stopped.code).not.toBe(0);
  const [command = ""] = printedCommands(stopped.output, "pulumi import");
  await stack.type(command);
  expect((await stack.up()).code).toBe(0);
  expect((await stack.instance()).id).toBe(id);
  await expectOnly(fixture, id);
});

test("after a plugin was killed and the resource renamed with an alias, up names the instance, and the import that it prints works", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(), service: never });
  const { stack, service } = fixture;
  const id = await killPluginInWait(fixture);
  stack.program(instances({ site: { options: { aliases: [{ name: "web" }] } } }));

  // The fault ends the run before it creates a second instance, which only a person can decide.
  service.control.fault({ method: "POST", path: "/v2/instances", kind: "reset" });
  const { code, output } = await stack.up();

  expect(code).not.toBe(0);
  expect(output).toContain(
    "earlier runs left pending creates, whose instances no state is known to hold",
  );
  const [command = ""] = printedCommands(output, "pulumi import");
  expect(command).toContain(id);
  expect(fixture.ids()).toEqual([id]);

  await stack.type(command);
  const imported = await stack.up();
  expect(imported.output).not.toContain("replaced");
  expect(imported.code).toBe(0);
  await stack.expectNothingToDo();
  expect((await stack.instance()).id).toBe(id);
  expect(fixture.ids()).toEqual([id]);
});

/** A program with an explicit provider in test mode, whose instance depends on the live instance `web`. */
const withDependent = (url: string, inputs: Inputs) =>
  instances(
    {},
    {
      resources: {
        web: { type: "compute:Instance", properties: { ...required, ...inputs } },
        own: {
          type: "pulumi:providers:compute",
          properties: { baseUrl: url, apiToken: "${token}", pollIntervalSeconds: 0.2 },
        },
        dependent: {
          type: "compute:Instance",
          properties: { ...required, vpcId: "${web.id}" },
          options: { provider: "${own}" },
        },
      },
      config: { token: { type: "string", secret: true } },
    },
  );

test("with a live token and the delete policy fail, a changed input and `--replace` are refused before any instance is touched", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(), token: tokens.live });
  const { stack, service } = fixture;
  stack.setEnv("TOKEN_TO_SET", tokens.test);
  await stack.type('printf %s "$TOKEN_TO_SET" | pulumi config set --secret token');
  stack.program(withDependent(service.url, {}));
  expect((await stack.up()).code).toBe(0);
  const before = await stack.instances();
  const id = before.find(({ urn }) => urn === urnOf("web"))?.id ?? "";
  const expectUntouched = async () => {
    expect((await stack.instances()).map((it) => it.id)).toEqual(before.map((it) => it.id));
    expect(fixture.ids()).toHaveLength(2);
    expect(fixture.posts()).toBe(2);
  };

  stack.program(withDependent(service.url, { flavorId: "premium-8" }));
  for (const refused of [await stack.preview(), await stack.up()]) {
    expect(refused.output).toContain(
      `replacing instance ${id} will fail, before a second server is created`,
    );
    expect(refused.output).not.toContain("dropped from the state");
    expect(refused.code).not.toBe(0);
    await expectUntouched();
  }

  stack.program(withDependent(service.url, {}));
  const replacing = await stack.up("--replace", urnOf("web"), "--target", urnOf("web"));
  expect(replacing.output).toContain(`nothing was created: instance ${id}`);
  expect(replacing.code).not.toBe(0);
  await expectUntouched();
  // This command would be the way out if no state held the instance any more.
  const [discard = ""] = printedCommands(replacing.output, "discard");
  expect((await stack.type(discard)).output).toContain(`instance ${id}.`);
});

/** A program with the instance `web`, and with `slow`, which depends on it. */
const withSlow = instances({ web: {}, slow: { options: { dependsOn: ["${web}"] } } });

test.each(["Ctrl-C", "engine killed"] as const)(
  "%s while another instance is not ready, then `up --replace` of the finished one, which does not become its own replacement",
  async (end) => {
    await using fixture = await Fixture.create({
      ...{ program: withSlow, config: { destroyPath } },
      service: {
        provisioningSeconds: (name) => (name.startsWith("slow") ? Infinity : 0),
        destroyPath,
      },
    });
    const { stack, service } = fixture;
    const up = await upThatPrinted(fixture, "Instance slow creating");
    while (fixture.ids().length < 2) await sleep(20);
    const [web = "", slow = ""] = fixture.ids();
    await up.printed(`${slow} PROVISIONING`);
    await up.end(end);
    service.control.settle();
    if (end === "engine killed") await stack.succeed("cancel", "--yes");

    const replacing = await stack.up("--replace", urnOf("web"));

    expect(replacing.output).toContain(`the engine received instance ${web}`);
    expect(replacing.code).not.toBe(0);
    expect(fixture.ids()).toEqual([web, slow]);
    expect(fixture.posts()).toBe(2);

    // After an `up` the provider knows that the state holds the instance, so a replacement creates another one.
    expect((await stack.up()).code).toBe(0);
    const replaced = await stack.up("--replace", urnOf("web"), "--target", urnOf("web"));
    expect(replaced.code).toBe(0);
    expect(fixture.posts()).toBe(3);
    expect(fixture.ids()).toHaveLength(2);
    expect(fixture.ids()).not.toContain(web);
    await stack.expectNothingToDo();
  },
);
