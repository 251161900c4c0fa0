/** Tests `discard` against ledgers in a temporary folder. */
import { join } from "node:path";
import { mkdirSync, rmSync } from "node:fs";
import os from "node:os";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { systemClock } from "../provider/clock";
import { ledgerFolder } from "../provider/ledger/folder";
import { Ledger } from "../provider/ledger/ledger";
import { recordedName, type LedgerRecord } from "../provider/ledger/record";
import { leaveOpen as leaveIn, newRecord } from "../provider/testing/ledgerRecord";
import { Session } from "../provider/session/session";
import { scene } from "../provider/testing/scene";
import { temporaryFolder } from "../provider/testing/temporaryFolder";
import { typed } from "./testing/typed";

const { urn } = newRecord("web");
const selected = "with stack dev of project proj selected";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(() => void jest.restoreAllMocks());
const envWith = (backend?: string) => ({
  PULUMI_HOME: home,
  ...(backend === undefined ? {} : { PULUMI_BACKEND_URL: backend }),
});

/** Writes the record of a pending create to a ledger, as a run that was killed leaves it. */
const leaveOpen = (resource = "web", more: Partial<LedgerRecord> = {}, backend?: string) =>
  leaveIn(ledgerFolder(envWith(backend)), resource, {
    tokenKind: "live",
    stage: "accepted",
    id: "i-1",
    ...more,
  });

const run = (...args: string[]) => typed(["discard", ...args], envWith());

/** Returns the keys of the pending creates that `discard` lists. */
async function listedKeys(backend?: string): Promise<string[]> {
  const { lines } = await typed(["discard"], envWith(backend));
  return lines.flatMap((line) => /^ {2}record (\S+):/.exec(line)?.[1] ?? []);
}

test("without an argument it lists the pending creates, with the commands that take them over and forget them", async () => {
  const { key, at: startedAt } = await leaveOpen();
  const { code, lines } = await run();
  expect(code).toBe(0);
  expect(lines).toEqual([
    urn,
    `  record ${key}: "web" at https://api.example.com/v2 (live token), started ${startedAt}, instance i-1`,
    "  take it over: pulumi up, unless the state has another instance for this resource, or the program has other inputs by now",
    `  take it over by hand, ${selected}, and with the inputs of that create in the program: pulumi import compute:index:Instance web i-1`,
    `  before that import, if the state has another instance for this resource: pulumi state delete ${urn} --force`,
    expect.stringMatching(new RegExp(`^  forget it, once .*: .* discard ${key}$`)),
    "With `pulumi state delete`: if other resources depend on it, add `--target-dependents`, which drops them from the state, too.",
  ]);
  const [printed = ""] = /discard \S+$/.exec(lines.at(-2) ?? "") ?? [];
  expect((await run(...printed.split(" ").slice(1))).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("for a create without an id whose name the program chose, it does not promise that `pulumi up` takes the instance over", async () => {
  await leaveOpen("web", { stage: "unknown", kind: "explicit", id: undefined });
  const { lines } = await run();
  expect(lines.slice(2, 5)).toEqual([
    "  first: pulumi up, which names an instance of this name, if there is one, but does not take it over, because the program chose the name",
    `  take it over by hand, ${selected}, and with the inputs of that create in the program: pulumi import compute:index:Instance web '<id>'`,
    "  <id> is the id of the instance with this name in the service's listing",
  ]);
});

test("without PULUMI_HOME, a run, doctor and discard use the home folder that the user database names, as the engine does", async () => {
  jest.spyOn(os, "userInfo").mockReturnValue({ ...os.userInfo(), homedir: home });
  const env = { PATH: "", HOME: "/elsewhere" };
  const { session, ctx } = scene();
  const run = new Session(session.settings, { ...ctx, env }, session.canceled, session.run);
  const key = await run.ledger.begin(newRecord("web"));
  await run.ledger.close();

  const ledger = join(home, ".pulumi", "compute", "ledger");
  expect((await typed(["doctor"], env)).lines.join("\n")).toContain(
    `1 pending create in ${ledger}`,
  );
  expect((await typed(["discard"], env)).lines.join("\n")).toContain(`record ${key}:`);
});

test.each([{ stage: "replied" }, { stateless: true }] as const)(
  "for a create that `pulumi up` does not resume, it lists only the import: %j",
  async (more) => {
    await leaveOpen("web", more);
    const { lines } = await run();
    expect(lines.filter((line) => /^ {2}(take it over|first)/.test(line))).toEqual([
      ...("stage" in more
        ? ["  first: pulumi up, which continues with the instance if the state has it"]
        : []),
      `  take it over by hand${"stateless" in more ? "" : `, ${selected}, and with the inputs of that create in the program`}: pulumi import compute:index:Instance web i-1`,
    ]);
    expect(lines.some((line) => line.includes("before that import"))).toBe(!("stateless" in more));
  },
);

test("it lists a delivered create that another run contests, with the reason, and forgets it by its key or URN", async () => {
  const delivered = { stage: "delivered", at: new Date().toISOString() } as const;
  const plain = await leaveOpen("web", delivered);
  const { key } = await leaveOpen("web", delivered);
  const ledger = new Ledger(ledgerFolder(envWith()), "another", () => undefined, systemClock);
  ledger.contest(key);
  const { lines } = await run();
  expect(lines.slice(1)).toEqual([
    expect.stringContaining(`record ${key}: "web"`),
    "  delivered, but another run of the stack was under way, whose engine may have saved an older state over it",
    "  first: pulumi up, which continues with the instance if the state has it",
    `  take it over by hand, ${selected}, and with the inputs of that create in the program: pulumi import compute:index:Instance web i-1`,
    expect.stringContaining("before that import"),
    expect.stringContaining(`discard ${key}`),
    expect.stringContaining("add `--target-dependents`"),
  ]);
  expect((await run(urn)).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
  expect((await run(urn)).code).toBe(1);

  ledger.contest(plain.key);
  expect(await listedKeys()).toEqual([plain.key]);
  expect((await run(plain.key)).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("a name that was secret is shown as [secret], since no output may show a secret (G8)", async () => {
  await leaveOpen("web", { name: recordedName("db1", true, { apiToken: "sk_test_1" }) });
  expect((await run()).lines.join("\n")).toContain(': "[secret]" at');
  expect((await run(urn)).lines.join("\n")).toContain('the create of "[secret]" at');
});

test("with its key, a create is forgotten even if its run has delivered its result", async () => {
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

test("with the same URN in two backends, discard forgets the create of the backend in use, or asks for the backend", async () => {
  const [a = "", b = ""] = ["file:///a", "file:///b"];
  const { key: inA } = await leaveOpen("web", {}, a);
  const { key: inB } = await leaveOpen("web", {}, b);

  expect(
    (await typed(["discard"], envWith(a))).lines.join("\n").split("another state backend"),
  ).toHaveLength(2);
  const unclear = await typed(["discard", urn], envWith("file:///c"));
  expect(unclear.warnings.join()).toMatch(/Set PULUMI_BACKEND_URL/);
  expect(unclear.code).toBe(1);
  expect((await listedKeys()).sort()).toEqual([inA, inB].sort());
  expect((await typed(["discard", urn], envWith(b))).code).toBe(0);
  expect(await listedKeys()).toEqual([inA]);
  // The run had another backend than this command, but only one backend has a pending create of this URN.
  expect((await typed(["discard", urn], envWith("file:///c"))).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("with a key, discard forgets only that create of the resource, and names it", async () => {
  const { key } = await leaveOpen();
  const other = await leaveOpen("web", { stage: "replied", id: "i-2" });
  const { code, lines } = await run(key);
  expect(code).toBe(0);
  expect(lines).toEqual([
    `Forgotten: the create of "web" at https://api.example.com/v2 (2026-01-01T00:00:00.000Z), record ${key}, instance i-1. If it still runs and is in no state, \`pulumi-resource-compute audit\` lists it.`,
  ]);
  expect(await listedKeys()).toEqual([other.key]);
});

test.each([{ stage: "delivered" }, { stage: "settled", settled: "state" }] as const)(
  "with a key, discard also forgets a create whose result was delivered or in a state: %j",
  async (more) => {
    const { key } = await leaveOpen("web", { ...more, at: new Date().toISOString() });
    expect((await run(key)).lines.join()).toContain(`record ${key}, instance i-1.`);
    expect((await run(key)).lines).toEqual([
      expect.stringContaining("no pending create with this key or URN. "),
    ]);
    expect((await run(urn)).lines).toEqual([
      expect.stringContaining("no pending create with this key or URN. "),
    ]);
  },
);

test("with a URN, discard forgets every create of that resource, and no other", async () => {
  await leaveOpen();
  await leaveOpen("web", { stage: "sending" });
  const other = await leaveOpen("db");
  const { code, lines } = await run(urn);
  expect(code).toBe(0);
  expect(lines).toHaveLength(2);
  expect(await listedKeys()).toEqual([other.key]);
});

test("a create that a run is busy with is neither listed nor forgotten", async () => {
  const ended = await leaveOpen();
  const running = new Ledger(ledgerFolder(envWith()), "abc", () => undefined, {
    date: () => new Date(),
  });
  const key = await running.begin(newRecord("web"));
  expect(await listedKeys()).toEqual([ended.key]);
  const refused = await run(key);
  expect(refused).toMatchObject({ code: 1, lines: [] });
  expect(refused.warnings.join()).toMatch(/^Not forgotten: a run is busy with the create of "web"/);
  expect((await run(urn)).code).toBe(1);
  expect(await listedKeys()).toEqual([]);
  expect(
    running
      .read()
      .map(({ record }) => record.stage)
      .sort(),
  ).toEqual(["sending", "settled"]);
  await running.close();
  expect((await run(key)).code).toBe(0);
});

test("if files can't be locked, discard says that the run may not have ended, and still forgets the create", async () => {
  const { key, session } = await leaveOpen();
  for (const name of ["common", session]) {
    const lock = join(ledgerFolder(envWith()), `${name}.lock`);
    rmSync(lock);
    mkdirSync(lock);
  }
  expect((await run()).lines.join("\n")).toContain("its run may not have ended");
  expect((await run(key)).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("a URN without a pending create is an error", async () => {
  const { code, lines } = await run(urn);
  expect(code).toBe(1);
  expect(lines).toEqual([
    "There is no pending create with this key or URN. `pulumi-resource-compute discard` lists the pending creates.",
  ]);
});

test("after a wrong key, the printed discard lists the pending create, whose key then works", async () => {
  const { key } = await leaveOpen();
  expect((await run("wrong")).lines.join()).toContain("discard` lists the pending creates");
  expect(await listedKeys()).toEqual([key]);
  expect((await run(key)).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("if a record could not be changed, discard says so, and works when it is run again", async () => {
  const { key } = await leaveOpen();
  jest.spyOn(Ledger.prototype, "settle").mockReturnValueOnce(false);
  const { code, warnings } = await run(key);
  expect(code).toBe(1);
  expect(warnings.join()).toMatch(/could not be changed\. Run `discard` again\.$/);
  expect(await listedKeys()).toEqual([key]);
  expect((await run(key)).code).toBe(0);
  expect(await listedKeys()).toEqual([]);
});

test("an unknown option does not count as a key", async () => {
  expect(await run("--all")).toMatchObject({ code: 2, lines: [] });
});
