import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { journalFolder } from "../journal/folder";
import { Journal } from "../journal/journal";
import { notedName } from "../journal/notedName";
import { journalEntry } from "../testing/journalEntry";
import { WrongUsage } from "./command";
import { discard } from "./discard";
import { typed } from "./testing/typed";

const entry = journalEntry("web", { tokenKind: "live", name: "web-0123abc", id: "i-1" });

let home: string;
let printed: string[];
const env = () => ({ PULUMI_HOME: home });
const run = async (...args: string[]) => {
  const { code, lines } = await typed(discard, args, env());
  printed.push(...lines);
  return code;
};
const journal = () => new Journal(journalFolder(env()), (text) => printed.push(text));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "compute-discard-"));
  printed = [];
});
afterEach(() => rmSync(home, { recursive: true }));

test("without a URN it lists what is left open, with the command that takes it over", async () => {
  journal().write(entry);
  expect(await run()).toBe(0);
  expect(printed.join("\n")).toContain(entry.urn);
  expect(printed.join("\n")).toContain("pulumi import compute:index:Instance web i-1");
});

test("a name that was secret is shown as one (G8)", async () => {
  journal().write({ ...entry, name: notedName("db1", true, { apiToken: "sk_test_1" }) });
  await run();
  await run(entry.urn);
  expect(printed.filter((line) => line.includes('"[secret]"'))).toHaveLength(2);
});

test("with nothing left open it says so", async () => {
  expect(await run()).toBe(0);
  expect(printed).toEqual(["No create is left open."]);
});

test("with the same URN in two backends it forgets that of the one in use, or asks", async () => {
  const at = (backend: string) => ({ ...env(), PULUMI_BACKEND_URL: backend });
  const noted = (backend: string) => new Journal(journalFolder(at(backend)), () => undefined);
  const left = () => ["file:///a", "file:///b"].map((it) => noted(it).entries().length);
  noted("file:///a").write(entry);
  noted("file:///b").write(entry);

  expect(
    (await typed(discard, [], at("file:///a"))).lines.join("\n").split("another"),
  ).toHaveLength(2);
  const unclear = await typed(discard, [entry.urn], at("file:///c"));
  expect(unclear.warnings.join()).toMatch(/Set PULUMI_BACKEND_URL/);
  expect(unclear.code).toBe(1);
  expect(left()).toEqual([1, 1]);
  expect((await typed(discard, [entry.urn], at("file:///b"))).code).toBe(0);
  expect(left()).toEqual([1, 0]);
  // Typed without the backend that the run was told of: there is no other that could be meant.
  expect((await typed(discard, [entry.urn], at("file:///c"))).code).toBe(0);
  expect(left()).toEqual([0, 0]);
});

test("with a URN it forgets that create, and only that", async () => {
  const other = { ...entry, urn: `${entry.urn}-2`, id: "i-2" };
  journal().write(entry);
  journal().write(other);
  expect(await run(entry.urn)).toBe(0);
  expect(journal().entries()).toEqual([other]);
});

test("a URN that is not there is an error", async () => {
  expect(await run(entry.urn)).toBe(1);
  expect(printed[0]).toContain("No create is left open for");
});

test("an option is not a URN", async () => {
  await expect(run("--all")).rejects.toThrow(WrongUsage);
});
