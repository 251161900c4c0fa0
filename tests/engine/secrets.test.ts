/** Secrets stay secret in what the plugin writes and the state holds (G8), and the search finds them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { oneInstance, userData } from "./support/programs";
import { canaries, refuseSecrets, refuseSecretsOnDisk } from "./support/secrets";
import { Stack, tokens } from "./support/stack";
import { World } from "./support/world";

jest.setTimeout(120_000);

const base64 = (text: string) => Buffer.from(text).toString("base64");

test("the search of these tests finds a planted secret, in text, in Base64 and on disk", async () => {
  const planted = [
    tokens.live,
    tokens.test.toUpperCase(),
    userData,
    ...["", "a", "ab"].map((start) => base64(`${start}${userData}`)),
    base64(base64(userData) + canaries.token),
  ];
  for (const text of planted) {
    expect(() => refuseSecrets("here", `before ${text} after`)).toThrow("G8 broken: here");
  }
  refuseSecrets("here", "nothing of the kind");

  const folder = mkdtempSync(join(tmpdir(), "compute-planted-"));
  try {
    writeFileSync(join(folder, "log"), tokens.live);
    expect(() => refuseSecretsOnDisk(folder)).toThrow("G8 broken");
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

test("with debugging on, neither token nor user data is in anything written or kept", async () => {
  const program = oneInstance({ userData }, { customTimeouts: { create: "1s" } });
  await using world = await World.create({
    ...{ program, env: { COMPUTE_DEBUG: "1" } },
    service: { provisioningSeconds: Infinity },
  });
  const { stack, service } = world;
  await stack.succeed("config", "set", "--secret", "compute:apiToken", tokens.live);
  const debug = ["--debug", "--logtostderr", "--logflow", "-v=3"];

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

test("a service that echoes secrets in its errors does not get them printed", async () => {
  await using world = await World.create({ program: oneInstance({ userData }) });
  world.service.control.fault({
    ...{ method: "POST", path: "/v2/instances", kind: "status", status: 400 },
    message: `Bad: ${tokens.test} ${userData} ${base64(userData)} \u001b[2J`,
  });

  const { code, output } = await world.stack.up();

  expect(output).toContain("HTTP 400");
  expect(output).not.toContain("\u001b[2J");
  expect(code).not.toBe(0);
});
