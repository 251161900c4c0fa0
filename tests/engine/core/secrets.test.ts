/** Tests that secrets stay secret in output, logs and state (G8), and that the search of these tests finds them. */
import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { encryptionSalt, openLog } from "../support/engineLogs";
import { creates, Fixture, never } from "../support/fixture";
import { oneInstance, required, userData } from "../support/programs";
import { canaries, refuseSecretsOnDisk } from "../support/secrets";
import { isOldest, plugin, recordsOf, Stack, tokens } from "../support/stack";

test("with hashes in the state, the search also finds user data in its secrets", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ userData }) });
  const { folder, up } = fixture.stack;
  await up();
  expect(() => refuseSecretsOnDisk(folder)).not.toThrow();
  expect(() => refuseSecretsOnDisk(folder, "hash")).toThrow("G8 broken: a secret in");
});

test("the search finds secrets in what a command prints, and in what a stack leaves on disk", async () => {
  const leaky = `resources: {}\noutputs: {leak: "${tokens.live}"}\n`;
  const stack = await Stack.create({ program: leaky });

  await expect(stack.up()).rejects.toThrow("G8 broken: pulumi up");
  await expect(stack[Symbol.asyncDispose]()).rejects.toThrow("G8 broken");
});

/** The highest verbosity at which the engine does not itself print the properties of resources, as the pages say. */
const debug = ["--debug", "--logtostderr", "--logflow", isOldest ? "-v=6" : "-v=8"];
/** With `--debug`, or from -v=3 on, Pulumi's Node.js SDK itself prints the properties of resources. */
const debugNode = ["--logtostderr", "--logflow", "-v=2"];
const secretName = { "fn::secret": canaries.name };

test.each(["secret", "hash"])(
  "at the highest verbosity at which the engine prints no properties itself, no secret is printed or written to disk (compute:userDataInState: %s)",
  async (userDataInState) => {
    const inputs = { userData, name: secretName };
    await using fixture = await Fixture.create({
      program: oneInstance(inputs, { customTimeouts: { create: "5s" } }),
      env: { COMPUTE_DEBUG: "1" },
      config: { userDataInState },
      service: never,
    });
    const { stack, control } = fixture;
    await stack.succeed("config", "set", "--secret", "compute:apiToken", tokens.live);

    // The instance is not finished, so the details of the error contain the user data too.
    const unfinished = await stack.fail("up", ...debug);
    control.finishProvisioning();
    await stack.up(...debug);
    control.fault({ method: "GET", times: "always", kind: "status", status: 400 });
    await stack.fail("refresh", ...debug);

    expect(unfinished).toMatch(/POST \/v2\/instances 202 \d+ bytes/);
    const state = await stack.succeed("stack", "export", "--show-secrets=false");
    expect(state).toContain("1b47061264138c4ac30d75fd1eb44270");
    expect(state).toContain("standard-2");
    // Every output has been searched. The disk, with the engine's logs of the provider's messages, is searched at the end.
    if (isOldest) return;
    const logs = readdirSync(join(stack.home, "logs")).map((name) =>
      join(stack.home, "logs", name),
    );
    const opened = logs.map((path) => openLog(path, readFileSync(path), [encryptionSalt]).text);
    expect(opened.join("\n")).toContain("POST /v2/instances 202");
  },
);

test("user data is secret even if no SDK marks it as a secret", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    const inputs = ${JSON.stringify({ ...required, userData })};
    new CustomResource("compute:index:Instance", "web", inputs);
  `);

  await stack.preview("--diff");
  await stack.up("--diff", ...debugNode);
  await stack.refresh("--diff");

  const { user_data } = fixture.control.instances()[0]?.request ?? {};
  expect(user_data).toBe(Buffer.from(userData).toString("base64"));
});

test("what the service says of a create with user data is shown, except for what it repeats of the script (G9)", async () => {
  const script = `${userData}runcmd: [curl https://acme.test/setup]\n`;
  const packed = gzipSync(script).toString("base64");
  await using fixture = await Fixture.create({
    program: oneInstance({ userData: script }),
    config: { userDataInState: "hash" },
  });
  const { stack, control } = fixture;
  const refuseWith = (code: string, message: string) =>
    control.fault({ ...creates, kind: "status", status: 400, code, message });

  refuseWith("unknown_image", "The image debian-12 has no cloud-init: see https://docs.example.");
  const refused = await stack.fail("up");
  expect(refused).toContain(
    "The image debian-12 has no cloud-init: see https://docs.example. (HTTP 400, code unknown_image, request_id req_",
  );
  expect(refused).toContain("Change what the message names, or run again later.");

  const echo = Buffer.from(script).toString("base64");
  refuseWith("bad_script", `user_data is not valid: ${JSON.stringify(script)}, sent as ${echo}.`);
  expect(await stack.fail("up")).toMatch(
    /user_data is not valid: "?\[secret\].*, sent as \[secret\]/,
  );

  stack.program(oneInstance({ userDataBase64: packed }));
  refuseWith("bad_script", `user_data is not valid: ${packed.slice(0, 12)}… is too long.`);
  expect(await stack.fail("up")).toContain("user_data is not valid: [secret]… is too long.");
  expect(fixture.posts()).toBe(3);
});

test("a killed run leaves nothing of a secret name behind", async () => {
  const program = oneInstance({ userData, name: secretName });
  await using fixture = await Fixture.create({ program, env: { COMPUTE_DEBUG: "1" } });
  const { stack } = fixture;
  await fixture.endUpInPost("plugin killed");

  const [record] = recordsOf(stack);
  expect(record).toBeDefined();
  expect(record).not.toHaveProperty("name");
  refuseSecretsOnDisk(stack.folder);
  expect(await stack.typeFailing(`'${plugin}' settle --json`)).toContain("::web");

  // The name proves nothing, so a person has to decide.
  expect(await stack.fail("up", ...debug)).toContain(fixture.ids()[0]);
  expect(fixture.posts()).toBe(1);
});
