/** A ledger that can't be kept, with the real engine: a warning at most, and never a wrong statement (G1). */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { ledgerFolder } from "../../provider/ledger/folder";
import { testUnless } from "../../tools/support/unless";
import { instances, oneInstance } from "./support/programs";
import { recordsOf } from "./support/records";
import { plugin } from "./support/stack";
import { World } from "./support/world";

const ledgerOf = ({ stack }: World) =>
  ledgerFolder({ PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend });

/** A run that leaves one record, and an instance that no listing shows until the faults are cleared. */
async function leaveOneOpen(world: World): Promise<string> {
  const { control } = world.service;
  control.fault({ method: "POST", kind: "reset", acted: true });
  control.fault({ method: "GET", path: "/v2/instances", kind: "omitItem", times: "always" });
  expect((await world.stack.up()).code).not.toBe(0);
  control.clearFaults();
  const folder = ledgerOf(world);
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return join(folder, file);
}

/** An `up` that made exactly one more instance, and whose only warnings are of the ledger. */
async function expectOneMade(world: World, warning: string): Promise<void> {
  const before = world.ids();
  const { code, output } = await world.stack.up();
  expect(output).toContain(warning);
  for (const [text] of output.matchAll(/warning: .*/g)) expect(text).toContain("the ledger");
  expect(code).toBe(0);
  expect(world.ids()).toEqual([...before, (await world.stack.instance()).id]);
  await world.stack.expectNothingToDo();
}

test.each([
  ["garbage", (file: string) => writeFileSync(file, "\u0000{]")],
  ["a folder", (file: string) => (rmSync(file), mkdirSync(join(file, "sub"), { recursive: true }))],
] as const)("%s in place of a session's file: it is named, and passed over", async (_, spoil) => {
  await using world = await World.create({ program: oneInstance() });
  const file = await leaveOneOpen(world);
  spoil(file);

  await expectOneMade(world, `can't be read and was passed over: ${file}`);
});

test("what is no session's file is none of this run's business", async () => {
  await using world = await World.create({ program: oneInstance() });
  const folder = ledgerOf(world);
  mkdirSync(folder, { recursive: true });
  for (const name of ["notes.txt", ".DS_Store", "a b.jsonl"])
    writeFileSync(join(folder, name), "{");

  const { code, output } = await world.stack.up();

  expect(output).not.toContain("ledger");
  expect(code).toBe(0);
});

test("a file in place of the folder: the run says what it can't keep, and goes on", async () => {
  await using world = await World.create({ program: oneInstance() });
  writeFileSync(join(world.stack.home, "compute"), "a file");

  await expectOneMade(world, "the next one will not know of it");
});

/** Root can write everywhere; only a mount of its own stops it. */
const mounts = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const noMounts = mounts ? undefined : "this machine allows no mount by `unshare -rm`";

async function expectOneMadeWith(mount: string, fill: string, reason: string): Promise<void> {
  await using world = await World.create({ program: oneInstance() });
  const folder = dirname(dirname(ledgerOf(world)));
  mkdirSync(folder);
  // The rest of the disk is as it was: only the ledger's is full.
  const script = `mount -t tmpfs ${mount} tmpfs '${folder}' && { (cd '${folder}' && ${fill} :); exec "$@"; }`;
  world.stack.startThrough("unshare", "-rm", "sh", "-c", script, "sh");

  await expectOneMade(world, reason);
}

testUnless(noMounts, "a read-only ledger: the run says what it can't keep, and goes on", () =>
  expectOneMadeWith("-o ro", "", "read-only file system"),
);

testUnless(noMounts, "a really full disk: the run says what it can't keep, and goes on", () =>
  expectOneMadeWith(
    "-o size=4k",
    "cat /dev/zero > filler 2> /dev/null;",
    "no space left on device",
  ),
);

test("two runs at once in one Pulumi home: every record is whole, and nobody is told a word", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `web${n}`);
  const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
  await using world = await World.create({ program });
  const { stack } = world;
  await stack.succeed("stack", "init", "second", "--copy-config-from", "dev");

  const runs = await Promise.all([stack.up("--stack", "dev"), stack.up("--stack", "second")]);

  for (const { code, output } of runs) {
    expect(output).not.toContain("warning");
    expect(code).toBe(0);
  }
  expect(world.posts()).toBe(40);
  const discard = `'${plugin}' discard`;
  expect((await stack.type(discard)).output).toBe("There is no pending create.\n");
  for (const name of ["dev", "second"]) {
    await stack.expectNothingToDo("--stack", name);
  }
  expect(recordsOf(stack).map(({ stage }) => stage)).toEqual(Array(40).fill("settled"));
});
