/**
 * Tests `audit` with the real engine and orphans made on purpose. It names each of them and nothing else, and reports
 * an instance as gone only if a refresh would drop it too, so nothing is forgotten on weak evidence (G3).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ledgerFolder } from "../../provider/ledger/folder";
import { acceptedKey } from "../../provider/instance/state";
import { leaveOpen } from "../../provider/testing/ledgerRecord";
import { instances, oneInstance, userData } from "./support/programs";
import { plugin, Stack, tokens } from "./support/stack";
import { Fixture } from "./support/fixture";

interface Data {
  result: string;
  services: { listed: number; complete: boolean }[];
  stacks: { read: number; withInstances: number };
  managed: { id: string; resources: { stack: string }[] }[];
  inNoStack: { id: string; name: string; note?: string }[];
  inSeveral: { id: string }[];
  gone: { id: string; stack: string }[];
  openCreates: { urn: string; stack?: string; at?: string }[];
  undecided: { what: string; why: string }[];
  notComparable: { id: string; why: string }[];
}

const audit = ({ stack }: Fixture, line = "") => stack.type(`'${plugin}' audit ${line}`);

async function data(fixture: Fixture): Promise<Data & { code: number | null }> {
  const { code, output } = await audit(fixture, "--json");
  return { ...(JSON.parse(output) as Data), code };
}

const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id).sort();

/** Creates a stack of another project in the same backend, and runs `up`. */
async function otherProject(
  fixture: Fixture,
  options: Partial<Parameters<typeof Stack.create>[0]>,
) {
  const { stack, service } = fixture;
  const other = await Stack.create({
    ...{ program: oneInstance(), baseUrl: service.url },
    config: { pollIntervalSeconds: "0.2" },
    ...options,
    env: { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend, ...options.env },
  });
  await other.succeed("up", "--yes", "--skip-preview");
  return other;
}

async function prepared(program: string): Promise<Fixture> {
  const fixture = await Fixture.create({ program });
  const { stack, service } = fixture;
  await stack.succeed("up", "--yes", "--skip-preview");
  // A scheduled job has the address and the token, but no passphrase.
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
  return fixture;
}

const idOf = (all: readonly { urn: string; id?: string }[], name: string) =>
  all.find(({ urn }) => urn.endsWith(`::${name}`))?.id ?? "";

async function recordForOtherBackend({ stack, service }: Fixture, id: string): Promise<void> {
  const env = { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: "file:///another" };
  await leaveOpen(ledgerFolder(env), "other", { baseUrl: service.url, id, stage: "accepted" });
}

function stateFile({ backend }: Stack, project: string): string {
  return join(backend.replace("file://", ""), ".pulumi", "stacks", project, "dev.json");
}

/** Backdates the creates by an hour, because audit does not report an instance as gone shortly after its create. */
function ageCreates(file: string): void {
  const acceptedAt = new RegExp(`("${acceptedKey}": *)"[^"]*"`, "g");
  const earlier = new Date(Date.now() - 3_600_000).toISOString();
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(acceptedAt, `$1"${earlier}"`));
}

test("audit finds managed, unmanaged, gone and incomparable instances in all projects of the backend, as text and as JSON", async () => {
  await using fixture = await prepared(
    instances({ web: { inputs: { userData } }, db: {}, left: {}, coming: {} }),
  );
  const { stack, service } = fixture;
  await using other = await otherProject(fixture, { project: "other" });
  await using _ = await otherProject(fixture, { project: "foreign", program: "resources: {}\n" });
  await using live = await otherProject(fixture, { project: "paid", token: tokens.live });

  const well = await audit(fixture);
  expect(well.output).toMatch(/^managed +5 instances$/m);
  expect(well.output).toMatch(/^stacks +4 read, 3 with instances$/m);
  expect(well.output).toMatch(/\nNot compared \(1\):\n.*it was made with a live token.*test one/);
  expect(well.output).toMatch(
    /Every listed instance is managed, and every managed instance that could be compared exists\.\n$/,
  );
  expect(well.code).toBe(0);

  const made = await stack.instances();
  const paid = (await live.instance()).id ?? "";
  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", "test");
  const left = made.find(({ urn }) => urn.endsWith("::left"));
  await stack.succeed("state", "delete", left?.urn ?? "", "--yes");
  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
  service.control.remove(idOf(made, "db"));
  ageCreates(stateFile(stack, "proj"));
  service.control.insert({ id: "i-hand", name: "by\nhand \u001b[2J\u202e" });
  service.control.insert({ id: "i-now", name: "now", status: "PROVISIONING" });

  const found = await data(fixture);
  expect(found).toMatchObject({ result: "found", code: 1, inSeveral: [], openCreates: [] });
  expect(found.services).toEqual([expect.objectContaining({ listed: 6, complete: true })]);
  expect(ids(found.inNoStack)).toEqual(["i-hand", left?.id].sort());
  expect(found.inNoStack.map(({ name }) => name)).toContain("by hand [2J");
  expect(found.gone).toEqual([
    { id: idOf(made, "db"), stack: "organization/proj/dev", urn: expect.stringMatching(/::db$/) },
  ]);
  expect(ids(found.managed)).toEqual(
    [idOf(made, "web"), idOf(made, "coming"), (await other.instance()).id].sort(),
  );
  expect(found.undecided).toEqual([
    { what: 'instance i-now "now"', why: expect.stringMatching(/^in no stack, but PROVISIONING/) },
  ]);
  expect(ids(found.notComparable)).toEqual([paid]);

  const text = await audit(fixture);
  expect(text.output).toMatch(/^In no stack \(2\):\n( {2}i-\S+ .*\n){2} {2}→ Take them/m);
  expect(text.output).toContain('  i-hand  "by hand [2J"  ACTIVE');
  expect(text.output).toMatch(/^In a stack but gone \(1\):\n.*organization\/proj\/dev {2}urn:/m);
  expect(text.code).toBe(1);

  // No audit created or removed an instance.
  expect(fixture.posts()).toBe(6);
  expect(Object.keys(service.counts()).filter((it) => it.startsWith("DELETE"))).toEqual([]);
});

test("after a kill during a POST, audit finds the pending create and its instance", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  const hanging = service.control.fault({ method: "POST", kind: "hang", acted: true });
  const up = stack.start("up", "--yes", "--skip-preview");
  await up.reached(hanging.firstHit);
  await up.end("both killed");

  const found = await data(fixture);
  expect(found.code).toBe(1);
  expect(found.openCreates).toEqual([
    {
      urn: expect.stringMatching(/compute:index:Instance::web$/),
      name: expect.stringMatching(/^web-/),
      at: expect.any(String),
      stack: "organization/proj/dev",
    },
  ]);
  expect(ids(found.inNoStack)).toEqual(fixture.ids());

  service.control.clearFaults();
  expect((await stack.upAfterKill()).code).toBe(0);
  await stack.succeed("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
  expect(await data(fixture)).toMatchObject({ result: "ok", code: 0, openCreates: [] });

  // Only a run with the other backend takes over its pending create.
  service.control.insert({ id: "i-other", name: "other" });
  await recordForOtherBackend(fixture, "i-other");
  const other = await data(fixture);
  expect(other.openCreates).toEqual([]);
  expect(other.inNoStack).toEqual([
    expect.objectContaining({
      id: "i-other",
      note: expect.stringMatching(
        /^an earlier run created it for urn:\S+; the next `pulumi up` with another state backend takes/,
      ),
    }),
  ]);
});
