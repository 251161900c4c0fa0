/**
 * Tests the state backends that teams share, with real servers and runners that are killed. What depends on the
 * backend is tested with each kind, the rest with a folder. No created instance is lost (G1), none is created twice
 * (G2), and no password is shown (G8).
 */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandsIn } from "../../tools/docs/commandLines";
import { blocksOf } from "../../tools/docs/markdown";
import { readPage } from "../../tools/docs/pages";
import { describeUnless } from "../../tools/support/unless";
import { type Backend, type BackendServer, file, postgres, s3 } from "./support/backends/servers";
import { instances, oneInstance } from "./support/programs";
import type { Outcome } from "./support/running";
import { canaries } from "./support/secrets";
import { plugin } from "./support/stack";
import { Fixture } from "./support/fixture";

/** The service creates the instance, but does not answer the POST until the fault is released. */
const hangs = { method: "POST", path: "/v2/instances", kind: "hang", acted: true } as const;
const secondHangs = { ...hangs, after: 1 };
const yes = ["--yes", "--skip-preview"];
const two = instances({ web: {}, db: { options: { dependsOn: ["${web}"] } } });

const fixtureIn = ({ env }: Backend, program: string) => Fixture.create({ program, env });

/** Returns the commands of the block in docs/recover.md that begins with this comment. */
function documentedCommands(comment: string): string[] {
  const blocks = blocksOf(readPage("docs/recover.md")).map(({ text }) => text);
  const [block = "", ...others] = blocks.filter((text) => text.startsWith(`# ${comment}\n`));
  expect([block === "", others]).toEqual([false, []]);
  return commandsIn(block).map(({ text }) => text);
}

/** Goes on as on another machine: it has the project and the credentials, but no Pulumi home of an earlier run. */
async function moveToFreshRunner({ stack, service }: Fixture): Promise<void> {
  stack.setEnv("PULUMI_HOME", mkdtempSync(join(stack.folder, "home-")));
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await stack.succeed("stack", "select", "dev");
}

const type = ({ stack }: Fixture, line: string) =>
  stack.type(line.replace(/^pulumi-resource-compute/, `'${plugin}'`));

async function typed(fixture: Fixture, line: string): Promise<string> {
  const { code, output } = await type(fixture, line);
  if (code !== 0) throw new Error(`${line} ended with ${code}:\n${output}`);
  return output;
}

interface Audited {
  result: string;
  managed: { id: string }[];
  inNoStack: { id: string }[];
}

async function audited(fixture: Fixture): Promise<Audited> {
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  const { output } = await type(fixture, "pulumi-resource-compute audit --json");
  return JSON.parse(output) as Audited;
}

/**
 * Expects that the stack has exactly the instances of the service, each created once, and that `up` changes nothing.
 */
async function expectWhole(fixture: Fixture, count: number): Promise<void> {
  const held = (await fixture.stack.instances()).map(({ id }) => id).sort();
  expect(held).toEqual(fixture.ids().sort());
  expect(held).toHaveLength(count);
  expect(fixture.posts()).toBe(count);
  await fixture.stack.succeed("up", ...yes, "--expect-no-changes");
}

async function expectAuditedWhole(fixture: Fixture): Promise<void> {
  const { result, managed } = await audited(fixture);
  expect(managed.map(({ id }) => id).sort()).toEqual(fixture.ids().sort());
  expect(result).toBe("ok");
}

/** Types what docs/recover.md says for a machine whose ledger does not have the second create. */
async function expectRecoveredByAudit(fixture: Fixture): Promise<void> {
  const [, lost = ""] = fixture.ids();
  const audits: Outcome[] = [];
  for (const line of documentedCommands("on another machine")) {
    if (line.endsWith(" audit")) audits.push(await type(fixture, line));
    else await typed(fixture, line.replace("<name>", "db").replace("<id>", lost));
  }
  expect(audits.map(({ code }) => code)).toEqual([1, 0]);
  const firstAudit = audits[0]?.output;
  expect(firstAudit).toContain(`\`pulumi import compute:index:Instance db ${lost}\``);
  expect(firstAudit).toMatch(
    /that the ledger of this machine does not have \(1\):\n +urn:\S+::db /,
  );
  await expectWhole(fixture, 2);
  await expectAuditedWhole(fixture);
}

/** Kills the engine and the plugin during the second POST. The service still creates the instance. */
async function killedDuringCreate(backend: Backend): Promise<Fixture> {
  const fixture = await fixtureIn(backend, two);
  const hanging = fixture.service.control.fault(secondHangs);
  const up = fixture.stack.start("up", ...yes);
  await up.reached(hanging.firstHit);
  await up.end("both killed", () => hanging.release());
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
      const backend = server.empty();
      await using fixture = await fixtureIn(backend, two);
      const { stack, service } = fixture;
      stack.setEnv("PULUMI_BACKEND_URL", undefined);
      await typed(fixture, `pulumi login '${backend.url}'`);
      await stack.succeed("up", ...yes);
      await stack.succeed("up", ...yes, "--expect-no-changes");
      await stack.succeed("refresh", ...yes, "--expect-no-changes");
      expect(fixture.posts()).toBe(2);

      service.control.insert({ id: "i-hand", name: "by-hand" });
      const found = await audited(fixture);
      expect(found.result).toBe("found");
      expect(found.managed.map(({ id }) => id).sort()).toEqual(
        (await stack.instances()).map(({ id }) => id).sort(),
      );
      expect(found.inNoStack).toEqual([expect.objectContaining({ id: "i-hand" })]);

      expect(await stack.succeed("destroy", ...yes)).toContain("3 deleted");
      expect(await stack.resources()).toEqual([]);
      await stack.succeed("stack", "rm", "--yes", "dev");
    });

    test("during an update, other updates of the stack are refused with the process id of the first one", async () => {
      await using fixture = await fixtureIn(server.empty(), oneInstance());
      const { stack, service } = fixture;
      const hanging = service.control.fault(hangs);
      const first = stack.start("up", ...yes);
      await first.reached(hanging.firstHit);

      for (const command of [stack.up, stack.refresh, stack.destroy]) {
        const { code, output } = await command();
        expect(output).toContain("the stack is currently locked by 1 lock(s)");
        expect(output).toMatch(new RegExp(`/proj/dev/.*\\(pid ${first.child.pid}\\)`));
        expect(code).not.toBe(0);
      }
      expect(fixture.posts()).toBe(1);
      hanging.release();
      expect((await first.ended).code).toBe(0);
      await expectWhole(fixture, 1);
    });

    test("concurrent updates of several stacks succeed", async () => {
      await using fixture = await fixtureIn(server.empty(), oneInstance());
      const { stack, service } = fixture;
      const others = ["pr-1", "pr-2"];
      for (const name of others) {
        await stack.succeed("stack", "init", name, "--no-select", "--copy-config-from", "dev");
      }
      // The creates are released when all of them are under way.
      const hanging = ["dev", ...others].map(() => service.control.fault(hangs));
      const runs = ["dev", ...others].map((name) => stack.start("up", ...yes, "--stack", name));
      for (const fault of hanging)
        await Promise.race([fault.firstHit, ...runs.map((it) => it.ended)]);
      expect(hanging.map(({ hits }) => hits)).toEqual([1, 1, 1]);
      for (const fault of hanging) fault.release();
      for (const run of runs) expect((await run.ended).code).toBe(0);

      expect(fixture.posts()).toBe(3);
      await expectAuditedWhole(fixture);
    });

    test("after a runner was killed during a create, the documented commands recover everything on another machine", async () => {
      await using fixture = await killedDuringCreate(server.empty());
      await moveToFreshRunner(fixture);
      expect((await fixture.stack.up()).output).toContain("the stack is currently locked");

      await expectRecoveredByAudit(fixture);
    });
  });
}

test("after a runner was killed during a create, the documented commands recover everything on the same machine", async () => {
  await using server = await file.start();
  await using fixture = await killedDuringCreate(server.empty());
  const refused = await fixture.stack.up();
  expect(refused.output).toContain("the stack is currently locked by 1 lock(s)");
  expect(refused.code).not.toBe(0);

  let output = "";
  for (const line of documentedCommands("on the machine that was killed")) {
    output += await typed(fixture, line);
  }
  expect(output).toContain(`an earlier run created ${fixture.ids()[1]}`);
  await expectWhole(fixture, 2);
  await expectAuditedWhole(fixture);
});

// An engine that can't save leaves such a state. It gives up only after a minute, so the test restores an old state.
test("if the saved state is older than a create, the documented commands recover everything", async () => {
  await using server = await file.start();
  const backend = server.empty();
  await using fixture = await fixtureIn(backend, two);
  const { stack, service } = fixture;
  const hanging = service.control.fault(secondHangs);
  const up = stack.start("up", ...yes);
  await up.reached(hanging.firstHit);
  const state = join(fileURLToPath(backend.url), ".pulumi", "stacks", "proj", "dev.json");
  const before = readFileSync(state);
  hanging.release();
  expect((await up.ended).code).toBe(0);
  writeFileSync(state, before);

  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await expectRecoveredByAudit(fixture);
});

test("the commands of the plugin never print the password in the address of a backend", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const { stack, service } = fixture;
  // Only root may listen on this port, so nothing does.
  const address = (who: string) => `postgres://${who}@127.0.0.1:1/postgres?sslmode=disable`;
  stack.setEnv("PULUMI_BACKEND_URL", address(`runner:${canaries.password}`));
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  for (const command of ["doctor --stack dev", "import-plan --stack dev", "audit"]) {
    const { code, output } = await type(fixture, `pulumi-resource-compute ${command}`);
    expect(output).toContain(address("runner"));
    expect(code).not.toBe(0);
  }
});
