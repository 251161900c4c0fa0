/** Tests that secrets stay secret in output, logs and state (G8), and that the search of these tests finds them. */
import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { createCipheriv, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { deriveKey, encryptionSalt, openLog } from "../support/engineLogs";
import { instances, oneInstance, userData } from "../support/programs";
import { canaries, forms, parts, refuseSecrets, refuseSecretsOnDisk } from "../support/secrets";
import { isOldest, plugin, recordsOf, Stack, tokens } from "../support/stack";
import { Fixture } from "../support/fixture";

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
  const folder = mkdtempSync(join(tmpdir(), "compute-planted-"));
  const log = join(folder, "logs", "pulumi.log");
  mkdirSync(dirname(log));
  const plant = (bytes: Buffer) => {
    writeFileSync(log, bytes);
    return () => refuseSecretsOnDisk(folder);
  };
  const record = (msg: string) =>
    `${JSON.stringify({ time: "2026-11-22T18:42:17Z", level: "INFO", msg, v: 7 })}\n`;
  try {
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
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the search finds secrets in what a command prints, and in what a stack leaves on disk", async () => {
  const leaky = `resources: {}\noutputs: {leak: "${tokens.live}"}\n`;
  const stack = await Stack.create({ program: leaky });

  await expect(stack.up()).rejects.toThrow("G8 broken: pulumi up");
  await expect(stack[Symbol.asyncDispose]()).rejects.toThrow("G8 broken");
});

/** Returns the content of the engine's logs of a stack. */
function engineLogs(stack: Stack): string {
  const folder = join(stack.home, "logs");
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const salts = [encryptionSalt];
  return paths.map((path) => openLog(path, readFileSync(path), salts).text.toString()).join("\n");
}

/** The highest verbosity at which the engine does not itself print the properties of resources, as the pages say. */
const debug = ["--debug", "--logtostderr", "--logflow", isOldest ? "-v=6" : "-v=8"];
/** With `--debug`, or from -v=3 on, Pulumi's Node.js SDK itself prints the properties of resources. */
const debugNode = ["--logtostderr", "--logflow", "-v=2"];
const secretName = { "fn::secret": canaries.name };

test("at the highest verbosity at which the engine prints no properties itself, no secret is printed or written to disk", async () => {
  const inputs = { userData, name: secretName };
  await using fixture = await Fixture.create({
    program: oneInstance(inputs, { customTimeouts: { create: "5s" } }),
    env: { COMPUTE_DEBUG: "1" },
    service: { provisioningSeconds: Infinity },
  });
  const { stack, service } = fixture;
  await stack.succeed("config", "set", "--secret", "compute:apiToken", tokens.live);

  // The instance is not finished, so the details of the error contain the user data too.
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
  // The engine's logs, which contain the provider's messages, are searched as well.
  if (!isOldest) expect(engineLogs(stack)).toContain("POST /v2/instances 202");
  // Every command's output has been searched. The disk is searched at the end of the test.
});

test("user data is secret even if no SDK marks it as a secret", async () => {
  await using fixture = await Fixture.create({ program: instances({}) });
  const inputs = { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", userData };
  fixture.stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    new CustomResource("compute:index:Instance", "web", ${JSON.stringify(inputs)});
  `);

  expect((await fixture.stack.preview("--diff")).code).toBe(0);
  expect((await fixture.stack.up("--diff", ...debugNode)).code).toBe(0);
  expect((await fixture.stack.refresh("--diff")).code).toBe(0);

  const { user_data } = fixture.service.control.instances()[0]?.request ?? {};
  expect(user_data).toBe(base64(userData));
});

test("a killed run leaves only a keyed hash of a secret name behind", async () => {
  const program = oneInstance({ userData, name: secretName });
  await using fixture = await Fixture.create({ program, env: { COMPUTE_DEBUG: "1" } });
  const { stack, service } = fixture;
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

  // The provider did not generate this name, so a person has to decide.
  const again = await stack.up(...debug);
  const [id] = fixture.ids();
  expect(again.output).toContain(
    `${id} of that name exists, but the provider did not generate the name`,
  );
  expect(again.code).not.toBe(0);
  expect(fixture.posts()).toBe(1);
});
