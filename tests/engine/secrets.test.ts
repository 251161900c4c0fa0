/** Secrets stay secret in what the plugin writes and the state holds (G8), and the search finds them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { instances, oneInstance, userData } from "./support/programs";
import { recordsOf } from "./support/records";
import { canaries, forms, parts, refuseSecrets, refuseSecretsOnDisk } from "./support/secrets";
import { plugin, Stack, tokens } from "./support/stack";
import { World } from "./support/world";

const base64 = (text: string) => Buffer.from(text).toString("base64");

test.each(Object.entries(forms))(
  "the search of these tests finds any part of a planted secret: %s",
  async (_, form) => {
    for (const canary of Object.values(canaries)) {
      for (const part of [canary, ...parts(canary)]) {
        for (const text of form(part)) {
          const planted = () => refuseSecrets("here", `before ${text} after`);
          expect(planted).toThrow("G8 broken: here");
        }
      }
    }
    refuseSecrets("here", "nothing of the kind");
  },
);

test("the search finds a secret inside what was Base64 as a whole, and on disk, byte by byte", () => {
  const wholes = ["", "a", "ab"].map((start) => base64(`${start}${userData}`));
  for (const text of [...wholes, base64(base64(userData) + canaries.token)]) {
    expect(() => refuseSecrets("here", text)).toThrow("G8 broken: here");
  }

  const folder = mkdtempSync(join(tmpdir(), "compute-planted-"));
  try {
    for (const text of [tokens.live, userData]) {
      writeFileSync(join(folder, "log"), text);
      expect(() => refuseSecretsOnDisk(folder)).toThrow("G8 broken");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the search looks at what commands print, and at what a stack leaves behind", async () => {
  const leaky = `resources: {}\noutputs: {leak: "${tokens.live}"}\n`;
  const stack = await Stack.create({ program: leaky });

  await expect(stack.up()).rejects.toThrow("G8 broken: pulumi up");
  await expect(stack[Symbol.asyncDispose]()).rejects.toThrow("G8 broken");
});

/** README.md says so: at 9 the engine itself prints a provider's configuration in clear. */
const debug = ["--debug", "--logtostderr", "--logflow", "-v=8"];
/** With `--debug`, or at 3, Pulumi's Node.js SDK itself prints what a program's resources got. */
const debugNode = ["--logtostderr", "--logflow", "-v=2"];
const secretName = { "fn::secret": canaries.name };

test("as verbose as the engine can be without printing them itself, no secret is written or kept", async () => {
  const inputs = { userData, name: secretName };
  await using world = await World.create({
    program: oneInstance(inputs, { customTimeouts: { create: "5s" } }),
    env: { COMPUTE_DEBUG: "1" },
    service: { provisioningSeconds: Infinity },
  });
  const { stack, service } = world;
  await stack.succeed("config", "set", "--secret", "compute:apiToken", tokens.live);

  // Unfinished, so that user data goes through the error's details too.
  const unfinished = await stack.up(...debug);
  service.control.settle();
  const finished = await stack.up(...debug);
  service.control.fault({ method: "GET", times: "always", kind: "status", status: 400 });
  const failed = await stack.refresh(...debug);

  for (const { code } of [unfinished, failed]) expect(code).not.toBe(0);
  expect(finished.code).toBe(0);
  expect(unfinished.output).toMatch(/POST \/v2\/instances 202 \d+ bytes/);
  const state = await stack.succeed("stack", "export", "--show-secrets=false");
  expect(state).toContain("1b47061264138c4ac30d75fd1eb44270");
  expect(state).toContain("standard-2");
  // Every command's output has been searched by now; the disk is searched at the end.
});

test("no command shows a secret, also not one that the program exports", async () => {
  const outputs = { script: "${web.userData}", name: "${web.name}", all: "${web}" };
  const named = (flavorId: string) =>
    instances({ web: { inputs: { userData, name: secretName, flavorId } } }, { outputs });
  const env = { PULUMI_DEBUG_COMMANDS: "true" };
  await using world = await World.create({ program: named("standard-2"), env });
  const { stack, service } = world;
  const events = join(stack.project, "events.json");

  expect((await stack.preview("--json")).code).toBe(0);
  const up = await stack.up("--diff", "--event-log", events);
  expect(up.code).toBe(0);
  expect(readFileSync(events, "utf8")).toContain("standard-2");
  stack.program(named("standard-4"));
  for (const format of ["--diff", "--json", "--show-sames"]) {
    expect((await stack.preview(format)).code).toBe(0);
  }
  service.control.rename(world.ids()[0] ?? "", canaries.name.toUpperCase());
  expect((await stack.refresh("--diff")).code).toBe(0);

  expect(await stack.outputs()).toMatchObject({ script: "[secret]", name: "[secret]" });
  for (const command of [
    ["stack"],
    ["stack", "--show-urns", "--show-ids"],
    ["stack", "output", "--json"],
    ["stack", "export"],
    ["stack", "history", "--json"],
    ["stack", "history", "--full-dates"],
    ["config", "--json"],
  ]) {
    expect(await stack.succeed(...command)).not.toBe("");
  }
});

test("user data is sealed also where no SDK says that it is a secret", async () => {
  await using world = await World.create({ program: instances({}) });
  const inputs = { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", userData };
  world.stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    new CustomResource("compute:index:Instance", "web", ${JSON.stringify(inputs)});
  `);

  expect((await world.stack.preview("--diff")).code).toBe(0);
  expect((await world.stack.up("--diff", ...debugNode)).code).toBe(0);
  expect((await world.stack.refresh("--diff")).code).toBe(0);

  const { user_data } = world.service.control.instances()[0]?.request ?? {};
  expect(user_data).toBe(base64(userData));
});

test("what a killed run leaves behind tells of a secret name by a keyed hash alone", async () => {
  const program = oneInstance({ userData, name: secretName });
  await using world = await World.create({ program, env: { COMPUTE_DEBUG: "1" } });
  const { stack, service } = world;
  const post = { method: "POST", path: "/v2/instances", kind: "hang", acted: true } as const;
  const hanging = service.control.fault(post);
  const up = stack.start("up", "--yes", "--skip-preview", ...debug);
  await up.reached(hanging.firstHit);
  up.killPlugin();
  await up.ended;

  expect(recordsOf(stack)).toEqual([
    expect.objectContaining({ name: expect.stringMatching(/^secret:[0-9a-f]{32}$/) }),
  ]);
  refuseSecretsOnDisk(stack.folder);
  const env = { ...process.env, PULUMI_HOME: stack.home };
  const listed = execFileSync(plugin, ["discard"], { env, encoding: "utf8" });
  expect(listed).toContain("::web");
  refuseSecrets("discard", listed);

  // It is not a name that the provider made up, so a person decides.
  const again = await stack.up(...debug);
  const [id] = world.ids();
  expect(again.output).toContain(`${id} is there, but the name is not one`);
  expect(again.code).not.toBe(0);
  expect(world.posts()).toBe(1);
});

// Only a POST carries user data, so only its answer may hold a part of it that was cut.
const maskedToken = `sk_test_…${tokens.test.slice(-9)}`;
const whole = `${tokens.test} ${userData} ${base64(userData)}`;
const asJson = JSON.stringify({ authorization: `Bearer ${tokens.test}`, userData });
test.each([
  { how: "whole", post: whole, get: whole },
  { how: "in a JSON text", post: asJson, get: asJson },
  { how: "cut", post: `${maskedToken} ${base64(userData).slice(0, -9)}`, get: maskedToken },
])("a service that echoes secrets, $how, does not get them printed", async ({ post, get }) => {
  await using world = await World.create({
    program: oneInstance({ userData }),
    env: { COMPUTE_DEBUG: "1" },
  });
  const echo = (method: "GET" | "POST", text: string) => {
    const message = `Bad: ${text} \u001b[2J`;
    world.service.control.fault({
      ...{ method, path: "/v2/instances", kind: "status", status: 400, message },
    });
  };

  echo("POST", post);
  const create = await world.stack.up();
  expect((await world.stack.up()).code).toBe(0);
  echo("GET", get);
  const refresh = await world.stack.refresh();

  for (const { code, output } of [create, refresh]) {
    expect(output).toContain("HTTP 400");
    expect(output).not.toContain("\u001b[2J");
    expect(code).not.toBe(0);
  }
});
