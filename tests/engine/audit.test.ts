/**
 * Tests `audit` with states of the real engine and orphans made on purpose. It names each of them and nothing else, and
 * reports an instance as gone only if a refresh would drop it too, so nothing is forgotten on weak evidence (G3).
 */
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { instances, userData } from "./support/programs";
import { ageCreates, plugin, tokens } from "./support/stack";

interface Data {
  managed: { id: string }[];
  inNoStack: { id: string }[];
  gone: { id: string }[];
  notCompared: { id: string }[];
}

const audit = `'${plugin}' audit`;
const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id).sort();

test("audit finds managed, unmanaged, gone and incomparable instances in all projects of the backend, as text and as JSON", async () => {
  const program = instances({ web: { inputs: { userData } }, db: {}, left: {} });
  await using fixture = await Fixture.create({ program });
  const { stack, service, control } = fixture;
  await stack.up();
  await using other = await fixture.otherProject();
  await using live = await fixture.otherProject({ project: "paid", token: tokens.live });
  for (const one of [other, live]) await one.up();
  const made = await stack.instances();
  const [web, db, left] = ["web", "db", "left"].map((name) =>
    made.find(({ urn }) => urn.endsWith(`::${name}`)),
  );
  // A scheduled job has the address and the token, but no passphrase.
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", undefined);

  const well = await stack.type(audit);
  expect(well).toMatch(/^managed +4 instances$/m);
  expect(well).toMatch(/^stacks +3 read, 3 with instances$/m);
  expect(well).toMatch(/\nNot compared \(1\):\n.*it was made with a live token.*test one/);

  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", "test");
  await stack.succeed("state", "delete", left?.urn ?? "", "--yes");
  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
  control.remove(db?.id ?? "");
  ageCreates(stack);
  control.insert({ id: "i-hand", name: "by-hand" });

  const found = JSON.parse(await stack.typeFailing(`${audit} --json`)) as Data;
  expect(found).toMatchObject({ result: "found", inSeveral: [], createsInDoubt: [] });
  expect(ids(found.inNoStack)).toEqual(["i-hand", left?.id].sort());
  expect(ids(found.gone)).toEqual([db?.id]);
  expect(ids(found.managed)).toEqual([web?.id, ...(await other.ids())].sort());
  expect(ids(found.notCompared)).toEqual(await live.ids());

  const text = await stack.typeFailing(audit);
  expect(text).toMatch(/^In no stack \(2\):\n( {2}i-\S+ .*\n){2} {2}→ Take them/m);
  expect(text).toMatch(/^In a stack but gone \(1\):\n.*organization\/proj\/dev {2}urn:/m);
  expect(fixture.posts()).toBe(5);
});

test("a pipe whose reader is late gets the whole output", async () => {
  await using fixture = await Fixture.create();
  const { stack, service, control } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  // More than a pipe holds, and no more than the service lists of each status.
  for (let i = 0; i < 100; i++) {
    for (const status of ["ACTIVE", "OFFLINE"] as const) {
      control.insert({ id: `i-${status}-${i}`, name: "n".repeat(500), status });
    }
  }
  const reader = '(read -r first; sleep 1; echo "$first"; cat)';
  const { inNoStack } = JSON.parse(await stack.type(`${audit} --json | ${reader}`)) as Data;
  expect(inNoStack).toHaveLength(200);
});
