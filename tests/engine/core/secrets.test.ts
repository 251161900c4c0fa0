/** Tests that secrets stay secret in output, logs and state (G8), and that the search of these tests finds them. */
import { expect, test } from "@jest/globals";
import { createCipheriv, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../../provider/testing/temporaryFolder";
import { deriveKey, encryptionSalt, openLog } from "../support/engineLogs";
import { Fixture, never } from "../support/fixture";
import { oneInstance, required, userData } from "../support/programs";
import { canaries, forms, parts, refuseSecrets, refuseSecretsOnDisk } from "../support/secrets";
import { isOldest, plugin, recordsOf, Stack, tokens } from "../support/stack";

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

test("the search finds a secret inside a longer string in Base64, and in a file", () => {
  const encoded = ["", "a", "ab"].map((start) => base64(`${start}${userData}`));
  for (const text of [...encoded, base64(base64(userData) + canaries.token)]) {
    expect(() => refuseSecrets("here", text)).toThrow("G8 broken: here");
  }

  const folder = temporaryFolder();
  for (const text of [tokens.live, userData]) {
    writeFileSync(join(folder, "log"), text);
    expect(() => refuseSecretsOnDisk(folder)).toThrow("G8 broken");
  }
});

test("with hashes in the state, the search also finds user data in its secrets", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ userData }) });
  const { folder, up } = fixture.stack;
  await up();
  expect(() => refuseSecretsOnDisk(folder)).not.toThrow();
  expect(() => refuseSecretsOnDisk(folder, "hash")).toThrow("G8 broken: a secret in");
});

/** Encrypts a log as the engine does, in one chunk. */
function encryptLog(text: string, stackKey = deriveKey(encryptionSalt)): Buffer {
  const encrypt = (key: Buffer, nonce: Buffer, bytes: Buffer) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  };
  const [key, nonce] = [randomBytes(32), randomBytes(12)];
  const sealedKey = encrypt(stackKey, nonce, key).toString("base64");
  const header = Buffer.from(`v1:${nonce.toString("base64")}:${sealedKey}`);
  const chunk = Buffer.concat([nonce, encrypt(key, nonce, gzipSync(text))]);
  const [keyLength, chunkLength] = [Buffer.alloc(2), Buffer.alloc(4)];
  keyLength.writeUInt16BE(header.length);
  chunkLength.writeUInt32BE(chunk.length);
  return Buffer.concat([Buffer.from("PLOG\u0001"), keyLength, header, chunkLength, chunk]);
}

test("the search opens the engine's logs, even if they are encrypted or end too early", () => {
  const folder = temporaryFolder();
  const log = join(folder, "logs", "pulumi.log");
  mkdirSync(dirname(log));
  const plant = (bytes: Buffer) => {
    writeFileSync(log, bytes);
    return () => refuseSecretsOnDisk(folder);
  };
  const record = (msg: string) =>
    `${JSON.stringify({ time: "2026-11-22T18:42:17Z", level: "INFO", msg, v: 7 })}\n`;
  for (const seal of [gzipSync, (text: string) => encryptLog(text)]) {
    const secret = seal(`${record("nothing")}${record(`<{%reset%}>${userData}`)}`);
    expect(plant(secret)).toThrow(`G8 broken: ${log}`);
    expect(plant(secret.subarray(0, -3))).not.toThrow("can't be opened");
    expect(plant(seal(record("nothing of the kind")))).not.toThrow();
  }
  const propertyLine = record(`Marshaling property for RPC[%s]: userData=${userData}`);
  expect(plant(encryptLog(propertyLine))).not.toThrow();
  expect(plant(gzipSync(propertyLine))).toThrow("G8 broken");
  expect(plant(Buffer.from("in clear"))).toThrow(`${log} can't be opened`);
  expect(plant(encryptLog("x", randomBytes(32)))).toThrow(`${log} can't be opened`);
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
    control.settle();
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
  expect(user_data).toBe(base64(userData));
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
