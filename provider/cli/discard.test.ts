import { join } from "node:path";
import { mkdirSync, rmSync } from "node:fs";
import { beforeEach, expect, test } from "@jest/globals";
import { ledgerFolder } from "../ledger/folder";
import { Ledger } from "../ledger/ledger";
import { recordedName, type LedgerRecord } from "../ledger/record";
import { leaveOpen as leaveIn, newRecord } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { typed } from "./testing/typed";

const { urn } = newRecord("web");

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});
const at = (backend?: string) => ({
  PULUMI_HOME: home,
  ...(backend === undefined ? {} : { PULUMI_BACKEND_URL: backend }),
});

const leaveOpen = (resource = "web", more: Partial<LedgerRecord> = {}, backend?: string) =>
  leaveIn(ledgerFolder(at(backend)), resource, {
    ...{ tokenKind: "live", stage: "accepted", id: "i-1" },
    ...more,
  });

const run = (...args: string[]) => typed(["discard", ...args], at());

/** The keys of what `discard` lists. */
async function left(backend?: string): Promise<string[]> {
  const { lines } = await typed(["discard"], at(backend));
  return lines.flatMap((line) => /^ {2}record (\S+):/.exec(line)?.[1] ?? []);
}

test("without an argument it lists the pending creates, with the commands that take them over and forget them", async () => {
  const { key, at: begun } = await leaveOpen();
  const { code, lines } = await run();
  expect(code).toBe(0);
  expect(lines).toEqual([
    urn,
    `  record ${key}: "web" at https://api.example.com/v2 (live token), begun ${begun}, instance i-1`,
    "  take it over: pulumi import compute:index:Instance web i-1",
    expect.stringMatching(new RegExp(`^  forget it: .* discard ${key}$`)),
  ]);
});

test("a name that was secret is shown as one (G8)", async () => {
  await leaveOpen("web", { name: recordedName("db1", true, { apiToken: "sk_test_1" }) });
  expect((await run()).lines.join("\n")).toContain(': "[secret]" at');
  expect((await run(urn)).lines.join("\n")).toContain('the create of "[secret]" at');
});

test("by its key also a create is forgotten whose result a state held (defect 29)", async () => {
  const { key } = await leaveOpen("web", { stage: "delivered", at: new Date().toISOString() });
  expect((await run(urn)).code).toBe(1);
  expect(await run(key)).toMatchObject({ code: 0, lines: [expect.stringContaining(key)] });
  expect((await run(key)).code).toBe(1);
});

test("a create that is refused, delivered or settled is not pending", async () => {
  for (const stage of ["refused", "delivered", "settled"] as const) {
    await leaveOpen(stage, { stage, at: new Date().toISOString() });
  }
  expect(await run()).toEqual({ code: 0, lines: ["There is no pending create."], warnings: [] });
});

test("with the same URN in two backends it forgets that of the one in use, or asks", async () => {
  const [a = "", b = ""] = ["file:///a", "file:///b"];
  const { key: inA } = await leaveOpen("web", {}, a);
  const { key: inB } = await leaveOpen("web", {}, b);

  expect((await typed(["discard"], at(a))).lines.join("\n").split("another")).toHaveLength(2);
  const unclear = await typed(["discard", urn], at("file:///c"));
  expect(unclear.warnings.join()).toMatch(/Set PULUMI_BACKEND_URL/);
  expect(unclear.code).toBe(1);
  expect((await left()).sort()).toEqual([inA, inB].sort());
  expect((await typed(["discard", urn], at(b))).code).toBe(0);
  expect(await left()).toEqual([inA]);
  // Typed without the backend that the run was told of: there is no other that could be meant.
  expect((await typed(["discard", urn], at("file:///c"))).code).toBe(0);
  expect(await left()).toEqual([]);
});

test("with a key it forgets that create of its resource, and says which", async () => {
  const { key } = await leaveOpen();
  const other = await leaveOpen("web", { stage: "replied", id: "i-2" });
  const { code, lines } = await run(key);
  expect(code).toBe(0);
  expect(lines).toEqual([
    `Forgotten: the create of "web" at https://api.example.com/v2 (2026-01-01T00:00:00.000Z), record ${key}, instance i-1.`,
  ]);
  expect(await left()).toEqual([other.key]);
});

test.each([{ stage: "delivered" }, { stage: "settled", settled: "state" }] as const)(
  "with a key it also forgets one that a state held, %j",
  async (more) => {
    const { key } = await leaveOpen("web", { ...more, at: new Date().toISOString() });
    expect((await run(key)).lines.join()).toContain(`record ${key}, instance i-1.`);
    expect((await run(key)).lines).toEqual([`There is no pending create for ${key}.`]);
    expect((await run(urn)).lines).toEqual([`There is no pending create for ${urn}.`]);
  },
);

test("with a URN it forgets every create of that resource, and no other", async () => {
  await leaveOpen();
  await leaveOpen("web", { stage: "sending" });
  const other = await leaveOpen("db");
  const { code, lines } = await run(urn);
  expect(code).toBe(0);
  expect(lines).toHaveLength(2);
  expect(await left()).toEqual([other.key]);
});

test("a create that a run is busy with is neither listed nor forgotten", async () => {
  const ended = await leaveOpen();
  const running = new Ledger(ledgerFolder(at()), "abc", () => undefined, {
    date: () => new Date(),
  });
  const key = await running.begin(newRecord("web"));
  expect(await left()).toEqual([ended.key]);
  const refused = await run(key);
  expect(refused).toMatchObject({ code: 1, lines: [] });
  expect(refused.warnings.join()).toMatch(/^Not forgotten: a run is busy with the create of "web"/);
  expect((await run(urn)).code).toBe(1);
  expect(await left()).toEqual([]);
  expect(
    running
      .read()
      .map(({ record }) => record.stage)
      .sort(),
  ).toEqual(["sending", "settled"]);
  await running.close();
  expect((await run(key)).code).toBe(0);
});

test("where files can't be locked it says that the run may not have ended, and does as told", async () => {
  const { key } = await leaveOpen();
  const lock = join(ledgerFolder(at()), "take.lock");
  rmSync(lock);
  mkdirSync(lock);
  expect((await run()).lines.join("\n")).toContain("its run may not have ended");
  expect((await run(key)).code).toBe(0);
  expect(await left()).toEqual([]);
});

test("what is not there is an error", async () => {
  const { code, lines } = await run(urn);
  expect(code).toBe(1);
  expect(lines).toEqual([`There is no pending create for ${urn}.`]);
});

test("an option is no key", async () => {
  expect(await run("--all")).toMatchObject({ code: 2, lines: [] });
});
