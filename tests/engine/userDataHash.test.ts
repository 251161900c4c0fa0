/**
 * Tests `compute:userDataInState: hash` with the real engine: no state holds user data (G8), each server has its script, and
 * the setting itself replaces nothing. At the end of each test, every secret in every file of the state is decrypted and
 * searched.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { installPlugin } from "../../tools/build";
import { testUnless } from "../../tools/support/unless";
import { Fixture, type FixtureOptions } from "./support/fixture";
import { emptyProgram, instances, oneInstance, userData, type Inputs } from "./support/programs";
import { refuseSecretsOnDisk } from "./support/secrets";
import { isOldest, recordsOf, type Stack } from "./support/stack";

const config = { userDataInState: "hash" };
const other = `${userData}# another\n`;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const withHash = (options: FixtureOptions = {}) =>
  Fixture.create({ program: oneInstance({ userData }), ...options, config });

/** The scripts that the servers got, oldest first. */
const scripts = ({ control }: Fixture) =>
  control.instances().map(({ request }) => {
    return Buffer.from(request?.user_data ?? "", "base64").toString();
  });

/** Returns the instance `web` as the state has it, decrypted. */
async function decrypted(stack: Stack, name = "web"): Promise<{ inputs: Inputs; outputs: Inputs }> {
  const file = join(stack.folder, "decrypted.json");
  await stack.succeed("stack", "export", "--show-secrets", "--file", file);
  const { deployment } = JSON.parse(readFileSync(file, "utf8")) as {
    deployment: { resources: { urn: string; inputs: Inputs; outputs: Inputs }[] };
  };
  // The disk is searched at the end, and the state of `secret` may be in this file.
  writeFileSync(file, "");
  const found = deployment.resources.find(({ urn }) => urn.endsWith(`Instance::${name}`));
  if (!found) throw new Error(`the state has no ${name}`);
  const plain = (properties: Inputs): Inputs =>
    Object.fromEntries(
      Object.entries(properties).map(([key, value]) => {
        const { plaintext } = Object(value) as { plaintext?: string };
        return [key, plaintext === undefined ? value : (JSON.parse(plaintext) as unknown)];
      }),
    );
  return { inputs: plain(found.inputs), outputs: plain(found.outputs) };
}

const hash: unknown = expect.stringMatching(/^sha256:[0-9a-f]{32}:[0-9a-f]{64}$/);
const inBoth = (value: unknown) => ({
  inputs: expect.objectContaining({ userData: value }) as unknown,
  outputs: expect.objectContaining({ userData: value }) as unknown,
});

test("an up keeps the hash. A second up, a refresh, an export and import, and another line ending change nothing; the other input is recorded; another text replaces", async () => {
  await using fixture = await withHash();
  const { stack } = fixture;
  await stack.up();
  const kept = await decrypted(stack);
  expect(kept).toEqual(inBoth(hash));

  await stack.expectNothingToDo();
  await stack.refresh("--expect-no-changes");
  const file = join(stack.folder, "export.json");
  await stack.succeed("stack", "export", "--file", file);
  await stack.succeed("stack", "import", "--file", file);
  stack.program(oneInstance({ userData: userData.replaceAll("\n", "\r\n") }));
  await stack.expectNothingToDo();
  stack.program(oneInstance({ userDataBase64: base64(userData) }));
  expect(await stack.up()).toContain("1 updated");
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);

  stack.program(oneInstance({ userData: other }));
  expect(await stack.preview("--diff")).toMatch(/\(replace\)[^]*\+ userData *: \[secret\]/);
  await stack.up();
  expect(scripts(fixture)).toEqual([userData, other]);
  const replaced = await decrypted(stack);
  expect(replaced).toEqual(inBoth(hash));
  expect(replaced.inputs["userData"]).not.toBe(kept.inputs["userData"]);
});

test("switching the setting replaces nothing, and one up takes the text out of inputs and outputs, or puts it back", async () => {
  // Where any change replaces, this one must not.
  const program = oneInstance({ userData }, { replaceOnChanges: ["*"] });
  await using fixture = await Fixture.create({ program });
  const { stack } = fixture;
  await stack.up();
  const text = (await decrypted(stack)).inputs["userData"];
  expect(text).toBe(userData);

  for (const [mode, expected] of [
    ["hash", hash],
    ["secret", userData],
  ] as const) {
    await stack.configure({ userDataInState: mode });
    expect(await stack.preview()).toMatch(/~ 1 to update/);
    expect(await stack.up()).toMatch(/~ 1 updated/);
    expect(await decrypted(stack)).toEqual(inBoth(expected));
    await stack.expectNothingToDo();
  }
  expect(fixture.posts()).toBe(1);
});

test("ignoreChanges: without another change nothing is done, a replacement is refused in the preview, and no server is made without its script", async () => {
  const options = { ignoreChanges: ["userData"] };
  await using fixture = await withHash({ program: oneInstance({ userData }, options) });
  const { stack } = fixture;
  await stack.up();
  stack.program(oneInstance({ userData: other }, options));
  await stack.expectNothingToDo();

  stack.program(oneInstance({ userData: other, flavorId: "premium-8" }, options));
  for (const command of ["preview", "up"]) {
    const output = await stack.fail(command);
    expect(output).toContain("can't be replaced with the script that it has");
    expect(output).toContain("take userData and userDataBase64 out of ignoreChanges");
  }
  expect(fixture.posts()).toBe(1);

  stack.program(oneInstance({ userData: other, flavorId: "premium-8" }));
  await stack.up();
  expect(scripts(fixture)).toEqual([userData, other]);
});

test("a plan of a new stack passes, and so does one without changes and of a replacement. No plan has the user data", async () => {
  const env = { PULUMI_EXPERIMENTAL: "true" };
  await using fixture = await withHash({ env });
  const { stack } = fixture;
  const upAsPlanned = async () => {
    await stack.preview("--save-plan", "plan.json");
    await stack.up("--plan", "plan.json");
  };
  await upAsPlanned();
  await upAsPlanned();
  stack.program(oneInstance({ userData: other }));
  await upAsPlanned();
  expect(scripts(fixture)).toEqual([userData, other]);
  expect(await decrypted(stack)).toEqual(inBoth(hash));
});

test.each([{}, { deleteBeforeReplace: true }])(
  "a text that the preview does not know yet is known to the up, and a change of it replaces (%j)",
  async (options) => {
    const web = { inputs: { userData: `${userData}# \${db.ipv4}\n` } };
    const program = (flavorId: string) => instances({ db: { inputs: { flavorId }, options }, web });
    await using fixture = await withHash({ program: program("standard-2") });
    const { stack } = fixture;
    await stack.preview();
    await stack.up();
    await stack.expectNothingToDo();
    stack.program(program("standard-4"));
    await stack.preview();
    await stack.up();
    const [, first, , second] = scripts(fixture);
    for (const script of [first, second]) expect(script).toMatch(/^#cloud-config[^]*\d+\.\d+\n$/);
    expect(first).not.toBe(second);
    expect(await decrypted(stack)).toEqual(inBoth(hash));
  },
);

test("after a kill during the POST, the next up goes on with the same instance, and keeps the hash", async () => {
  await using fixture = await withHash();
  const { stack } = fixture;
  await fixture.endUpInPost("engine killed");
  expect(recordsOf(stack)).toHaveLength(1);
  const [file = ""] = globSync("state/.pulumi/stacks/**/dev.json", { cwd: stack.folder });
  expect(readFileSync(join(stack.folder, file), "utf8")).toMatch(/"type": *"creating"/);
  refuseSecretsOnDisk(stack.folder, "hash");
  await stack.succeed("cancel", "--yes");

  expect(await stack.up()).toContain(`an earlier run created ${fixture.ids()[0]}`);
  expect(await decrypted(stack)).toEqual(inBoth(hash));
  await stack.expectNothingToDo();
  expect(scripts(fixture)).toEqual([userData]);
});

testUnless(
  isOldest ? "the oldest engine has no `state taint`" : undefined,
  "a server that is replaced by hand, or made again since it is gone, has its script",
  async () => {
    await using fixture = await withHash();
    const { stack, control } = fixture;
    await stack.up();
    const { urn = "" } = await stack.instance();
    await stack.up("--replace", urn);
    await stack.succeed("state", "taint", urn, "--yes");
    await stack.up();
    await stack.configure({ refreshBeforeUpdate: "true" });
    await stack.refresh("--run-program");
    for (const id of fixture.ids()) control.remove(id);
    await stack.up();
    expect(fixture.posts()).toBe(4);
    expect(scripts(fixture)).toEqual([userData]);
    expect(await decrypted(stack)).toEqual(inBoth(hash));
  },
);

const noDo = isOldest ? "the oldest engine has no `do`" : undefined;
testUnless(
  noDo,
  "`pulumi do` with a stack: each server has its script, and the instance's part of the state only the hash",
  async () => {
    // As do.md says, the engine itself keeps what was typed. So this script has no canary.
    const script = "#!/bin/sh\n";
    await using fixture = await withHash({ program: emptyProgram });
    const { stack } = fixture;
    installPlugin(stack.home);
    const run = (...args: string[]) =>
      stack.succeed("do", "compute:index:Instance", ...args, "--yes");
    const flags = ["--flavor-id=f", "--image-id=i", "--vpc-id=v", `--user-data=${script}`];

    await run("create", "web", ...flags);
    expect(await decrypted(stack)).toEqual(inBoth(hash));
    await run("upsert", "web", ...flags);
    await run("patch", "web", "--flavor-id=g");

    expect(scripts(fixture)).toEqual([script, script]);
    expect(await decrypted(stack)).toEqual(inBoth(hash));
  },
);
