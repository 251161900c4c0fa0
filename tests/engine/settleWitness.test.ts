/**
 * Tests that `settle` forgets nothing without a witness, with the real engine: what a listing of another place lacks may run in its
 * own, an instance is known by its place and its id, and what a person decides takes one command.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { printedCommands } from "../support/printed";
import { Fixture, never } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";
import { live, onNewMachine, settle } from "./support/settling";
import { tokens } from "./support/stack";
import { expectAgreement, printed, urnOf } from "./support/typing";

const web = urnOf("web");

/** The creates that the state still calls pending. */
async function pendingIn({ stack }: Fixture): Promise<number> {
  const state = JSON.parse(await stack.succeed("stack", "export")) as {
    deployment: { pending_operations?: object[] };
  };
  return state.deployment.pending_operations?.length ?? 0;
}

test.each([
  ["a generated name", {}, 0],
  ["a chosen name", { name: "db-1" }, 1],
])(
  "with a test token, or at another address, settle forgets no live create of %s",
  async (_, inputs, exitCode) => {
    await using fixture = await Fixture.create({ ...live, program: oneInstance(inputs) });
    await using other = await startEmulator({ provisioningSeconds: 0 });
    const { stack, service } = fixture;
    await fixture.endUpInPost("both killed");
    await onNewMachine(stack);

    stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
    const withTestToken = await settle(stack, "--yes");
    stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
    await stack.configure({ baseUrl: other.url });
    const elsewhere = await settle(stack, "--yes");

    for (const { code, output } of [withTestToken, elsewhere]) {
      expect(output).toMatch(/nothing shows that this (test|live) token reaches its place/);
      if (exitCode === 0) expect(output).not.toContain("--forget");
      expect(output).toContain("Nothing was changed.");
      expect(code).toBe(exitCode);
    }
    expect(await pendingIn(fixture)).toBe(1);

    await stack.configure({ baseUrl: service.url });
    const { output } = await settle(stack, "--yes");
    if (exitCode > 0) await stack.type(printed(output, "--take"));
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(1);
  },
);

test("an instance of the stack in the listing vouches for the place, also with a new token, but not for a test token", async () => {
  await using fixture = await Fixture.create({ ...live, program: instances({ db: {} }) });
  const { stack } = fixture;
  await stack.up();
  stack.program(instances({ db: {}, web: { inputs: { name: "web-1" } } }));
  await fixture.endUpInPost("both killed");
  const [, id = ""] = fixture.ids();
  fixture.control.remove(id);
  await onNewMachine(stack);

  stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
  const withTestToken = await settle(stack, "--yes");
  expect(withTestToken.output).toContain("a live token, but the token given now is a test one");
  expect(withTestToken.output).toContain("run `settle` with the settings");
  expect(withTestToken.output).not.toContain("--forget");
  expect(withTestToken.code).toBe(3);
  expect(await pendingIn(fixture)).toBe(1);

  stack.setEnv("COMPUTE_API_TOKEN", `${tokens.live}2`);
  const { code, output } = await settle(stack, "--yes");
  expect(output).toContain("nothing left behind, as two complete listings show");
  expect(code).toBe(0);
  expect(await pendingIn(fixture)).toBe(0);
});

test("after `stack rename`, a create and its file are still one, and its instance comes into the state", async () => {
  await using fixture = await Fixture.create({ ...live, service: never });
  const { stack } = fixture;
  await (await fixture.upInWait()).end("both killed");
  await stack.succeed("cancel", "--yes");
  await stack.succeed("stack", "rename", "renamed");

  const { code, output } = await settle(stack, "--yes");

  expect(output).toContain("1 create in doubt");
  expect(code).toBe(0);
  fixture.control.finishProvisioning();
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

test("several creates that a person decides take one command", async () => {
  const program = instances({
    web: { inputs: { name: "web-1" } },
    "db=1": { inputs: { name: "db-1" } },
  });
  await using fixture = await Fixture.create({ ...live, service: never, program });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  while (fixture.ids().length < 2) await sleep(20);
  await up.end("both killed");
  await onNewMachine(stack);

  const { code, output } = await settle(stack, "--yes");

  expect(code).toBe(1);
  expect(output).toContain("Nothing was changed.");
  const [all = "", ...others] = printedCommands(output, "--take").filter(
    (command) => command.split("--take").length > 2,
  );
  expect(others).toEqual([]);
  const [id = ""] = fixture.ids();
  const twice = await settle(
    stack,
    ...["--yes", "--take", `${web}=${id}`, "--take", `${urnOf("db=1")}=${id}`],
  );
  expect(twice.output).toContain(`--take names ${id}, which another --take names`);
  expect(twice.code).toBe(1);
  await stack.type(all);
  control.finishProvisioning();
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(2);
});

test("what stops an up is named with the stack that has it, and with the way on, where nothing is in doubt", async () => {
  await using fixture = await Fixture.create(live);
  const { stack, service } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();

  await stack.succeed("state", "taint", web, "--yes");
  const stopped = await stack.fail("up");
  await stack.type(printed(stopped, "settle"));
  const tainted = await settle(stack, "--yes");
  expect(tainted.code).toBe(0);
  expect(tainted.output).toContain(id);
  const beside = "COMPUTE_LEFTOVERS=warn pulumi up`";
  expect(tainted.output).toContain(`\`COMPUTE_DELETE_POLICY=retain ${beside}`);
  await stack.succeed("state", "untaint", web, "--yes");
  await stack.expectNothingToDo();

  await stack.succeed("stack", "init", "staging");
  await stack.configure({ baseUrl: service.url, pollIntervalSeconds: "0.2", settlingSeconds: "1" });
  const [source, dest] = ["organization/proj/dev", "organization/proj/staging"];
  await stack.succeed("state", "move", web, "--yes", "--source", source, "--dest", dest);
  await stack.succeed("stack", "select", "dev");
  const moved = await stack.type(printed(await stack.fail("up"), "settle"));
  expect(moved).toContain(`organization/proj/staging has it`);
  expect(moved).toContain(`\`${beside}`);
  expect(fixture.posts()).toBe(1);
});
