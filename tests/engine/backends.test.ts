/**
 * Tests the state backends that teams share, with real servers and runners that are killed. What depends on the
 * backend is tested with each kind, the rest with a folder. No created instance is lost (G1), none is created twice
 * (G2), and no password is shown (G8).
 */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pluginRun } from "../../provider/advice";
import { commandsIn } from "../../tools/docs/commandLines";
import { blocksOf } from "../../tools/docs/markdown";
import { readPage } from "../../tools/docs/pages";
import { describeUnless } from "../../tools/support/unless";
import { type BackendServer, file, postgres, s3 } from "./support/backends/servers";
import { Fixture, hangs } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";
import { canaries } from "./support/secrets";
import { plugin } from "./support/stack";

const two = instances({ web: {}, db: { options: { dependsOn: ["${web}"] } } });

/** Goes on as on another machine: it has the project and the credentials, but no Pulumi home of an earlier run. */
async function moveToFreshRunner({ stack, service }: Fixture): Promise<void> {
  stack.setEnv("PULUMI_HOME", mkdtempSync(join(stack.folder, "home-")));
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await stack.succeed("stack", "select", "dev");
}

const typed = ({ stack }: Fixture, line: string, { isRefused = false } = {}) => {
  const command = line.replace(pluginRun, `'${plugin}'`);
  return isRefused ? stack.typeFailing(command) : stack.type(command);
};

/**
 * Expects that the stack has exactly the instances of the service, each created once, and that `up` changes nothing.
 */
async function expectWhole(fixture: Fixture, count: number): Promise<void> {
  expect(fixture.ids()).toHaveLength(count);
  expect(await fixture.stack.ids()).toEqual(fixture.ids().sort());
  expect(fixture.posts()).toBe(count);
  await fixture.stack.expectNothingToDo();
}

/** Expects that `audit` finds all instances of the service managed. */
async function expectAuditedWhole(fixture: Fixture): Promise<void> {
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  const output = await typed(fixture, `${pluginRun} audit --json`);
  const { managed } = JSON.parse(output) as { managed: { id: string }[] };
  expect(managed.map(({ id }) => id).sort()).toEqual(fixture.ids().sort());
}

/** Types what docs/recover.md says, the same on each machine, and expects that it recovers both instances. */
async function expectRecovered(fixture: Fixture): Promise<void> {
  const blocks = blocksOf(readPage("docs/recover.md")).map(({ text }) => text);
  const [block = "", ...others] = blocks.filter((text) =>
    text.startsWith("# after a run was killed\n"),
  );
  expect(others).toEqual([]);
  const lines = commandsIn(block).map(({ text }) => text);
  expect(lines).toHaveLength(3);
  for (const line of lines) await typed(fixture, line);
  await expectWhole(fixture, 2);
  await expectAuditedWhole(fixture);
}

/** Kills the engine and the plugin during the second POST. The service still creates the instance. */
async function killedDuringCreate(server: BackendServer): Promise<Fixture> {
  const fixture = await Fixture.create({ program: two, env: server.empty() });
  await fixture.endUpInPost("both killed", 1);
  expect(fixture.ids()).toHaveLength(2);
  expect(await fixture.stack.instances()).toHaveLength(1);
  return fixture;
}

for (const kind of [file, postgres, s3]) {
  describeUnless(kind.skipReason?.(), kind.title, () => {
    let server: BackendServer;
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(async () => server?.[Symbol.asyncDispose]());

    test("after a login, up, a second up, refresh, audit and destroy work", async () => {
      const env = server.empty();
      await using fixture = await Fixture.create({ program: two, env });
      const { stack } = fixture;
      stack.setEnv("PULUMI_BACKEND_URL", undefined);
      await typed(fixture, `pulumi login '${env.PULUMI_BACKEND_URL}'`);
      await stack.up();
      await expectWhole(fixture, 2);
      await stack.refresh("--expect-no-changes");
      await expectAuditedWhole(fixture);

      expect(await stack.destroy()).toContain("3 deleted");
      expect(await stack.resources()).toEqual([]);
      await stack.succeed("stack", "rm", "--yes", "dev");
    });

    test("during an update, other updates of the stack are refused with the process id of the first one", async () => {
      await using fixture = await Fixture.create({ env: server.empty() });
      const { stack } = fixture;
      const hanging = fixture.control.fault(hangs);
      const first = stack.start("up");
      await first.reached(hanging.firstHit);

      for (const command of ["up", "refresh", "destroy"]) {
        const refused = await stack.fail(command);
        expect(refused).toContain("the stack is currently locked by 1 lock(s)");
        expect(refused).toMatch(new RegExp(`/proj/dev/.*\\(pid ${first.child.pid}\\)`));
      }
      expect(fixture.posts()).toBe(1);
      hanging.release();
      await first.succeeded();
      await expectWhole(fixture, 1);
    });

    test("concurrent updates of several stacks succeed", async () => {
      await using fixture = await Fixture.create({ env: server.empty() });
      const { stack, control } = fixture;
      const others = ["pr-1", "pr-2"];
      for (const name of others) {
        await stack.succeed("stack", "init", name, "--no-select", "--copy-config-from", "dev");
      }
      // The creates are released when all of them are under way.
      const hanging = ["dev", ...others].map(() => control.fault(hangs));
      const runs = ["dev", ...others].map((name) => stack.start("up", "--stack", name));
      for (const fault of hanging)
        await Promise.race([fault.firstHit, ...runs.map((run) => run.ended)]);
      expect(hanging.map(({ hits }) => hits)).toEqual([1, 1, 1]);
      for (const fault of hanging) fault.release();
      for (const run of runs) await run.succeeded();

      expect(fixture.posts()).toBe(3);
      await expectAuditedWhole(fixture);
    });

    test("after a runner was killed during a create, the documented commands recover everything on another machine", async () => {
      await using fixture = await killedDuringCreate(server);
      await moveToFreshRunner(fixture);
      expect(await fixture.stack.fail("up")).toContain("the stack is currently locked");

      await expectRecovered(fixture);
    });
  });
}

test("after a runner was killed during a create, the documented commands recover everything on the same machine", async () => {
  await using server = await file.start();
  await using fixture = await killedDuringCreate(server);
  expect(await fixture.stack.fail("up")).toContain("the stack is currently locked by 1 lock(s)");

  await expectRecovered(fixture);
});

test("two clones whose backend only Pulumi.yaml names have a ledger each", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  stack.setEnv("PULUMI_BACKEND_URL", undefined);
  /** Works on as in a clone of its own, whose backend is in its folder. */
  const goTo = async (clone: string) => {
    mkdirSync(join(stack.project, clone), { recursive: true });
    stack.program(oneInstance() + `backend:\n  url: file://./${clone}\n`);
    await stack.succeed("stack", "select", "--create", "dev");
  };
  const expectDoneAfter = async (posts: number) => {
    expect(fixture.posts()).toBe(posts);
    await stack.expectNothingToDo();
  };
  await goTo("one");
  await fixture.endUpInPost("both killed");

  await goTo("two");
  await stack.up();
  await expectDoneAfter(2);
  await goTo("one");
  await stack.succeed("cancel", "--yes");
  await stack.up();
  await expectDoneAfter(2);
});

// An engine that can't save leaves such a state. It gives up only after a minute, so the test restores an old state.
test("if the saved state is older than a create, the documented commands recover everything", async () => {
  await using server = await file.start();
  const env = server.empty();
  await using fixture = await Fixture.create({ program: two, env });
  const { stack } = fixture;
  const hanging = fixture.control.fault({ ...hangs, after: 1 });
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  const state = join(fileURLToPath(env.PULUMI_BACKEND_URL), ".pulumi/stacks/proj/dev.json");
  const before = readFileSync(state);
  hanging.release();
  await up.succeeded();
  writeFileSync(state, before);

  await expectRecovered(fixture);
});

test("the commands of the plugin never print the password in the address of a backend", async () => {
  await using fixture = await Fixture.create();
  const { stack, service } = fixture;
  // Only root may listen on this port, so nothing does.
  const address = (who: string) => `postgres://${who}@127.0.0.1:1/postgres?sslmode=disable`;
  stack.setEnv("PULUMI_BACKEND_URL", address(`runner:${canaries.password}`));
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  for (const command of ["doctor --stack dev", "audit --plan plan.json --stack dev", "audit"]) {
    const line = `${pluginRun} ${command}`;
    expect(await typed(fixture, line, { isRefused: true })).toContain(address("runner"));
  }
});
