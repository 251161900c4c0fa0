/** Tests which folder has the ledger of each state backend. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { leaveOpen } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { ledgerFolder, ledgerFolders } from "./folder";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});

const folderOf = (backend?: string) =>
  ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });

test("the ledger is in the Pulumi home, with or without PULUMI_HOME", () => {
  expect(folderOf()).toContain(join(home, "compute", "ledger"));
  expect(ledgerFolder({})).toMatch(/\.pulumi[/\\]compute[/\\]ledger[/\\]/);
});

test("without PULUMI_HOME, the home comes from the system's user database, as in the engine, and not from HOME", () => {
  // In a process of its own, since Jest's process.env is not what the system reads.
  const module = JSON.stringify(join(__dirname, "folder.ts"));
  const program = `import { ledgerFolder } from ${module}; process.stdout.write(ledgerFolder({}));`;
  const args = ["--import", "tsx", "--input-type=module", "-e", program];
  const env = { ...process.env, HOME: home };
  const folder = execFileSync(process.execPath, args, { env, encoding: "utf8" });
  expect(folder).toContain(join(userInfo().homedir, ".pulumi", "compute", "ledger"));
});

const here = `file://${process.cwd()}`;
test.each([
  ["a slash at the end", "file:///a", "file:///a/"],
  ["a new password (G1)", "postgres://me:old@db/state", "postgres://me:new@db/state"],
  ["no password", "postgres://me:old@db/state", "postgres://me@db/state"],
  ["a relative path", `${here}/state`, "file://./state", "file://state", "file://x/../state/"],
])("%s does not change the ledger", (_what, backend, ...others) => {
  for (const other of others) expect(folderOf(other)).toBe(folderOf(backend));
});

test("each backend has its own ledger, also if only a database's user, name, host or table differs (G2)", () => {
  const databases = ["me@db/state", "me@db/other", "me@db2/state", "me@db/state?table=t"];
  const backends = [
    "file:///a",
    "file:///b",
    ...databases.map((database) => `postgres://${database}`),
  ];
  const folders = [...backends, "postgres://you@db/state"].map(folderOf);
  expect(new Set(folders).size).toBe(7);
});

test("the backend comes from the environment, or else from `pulumi login`", () => {
  const none = folderOf();
  const credentials = JSON.stringify({ current: "https://state.example.com" });
  writeFileSync(join(home, "credentials.json"), credentials);
  const loggedIn = folderOf();
  expect(loggedIn).not.toBe(none);
  expect(folderOf("https://state.example.com")).toBe(loggedIn);
  expect(folderOf("file:///a")).not.toBe(loggedIn);
});

test("unreadable credentials cause no error", () => {
  writeFileSync(join(home, "credentials.json"), "{");
  expect(folderOf()).toContain(home);
});

test("`ledgerFolders` returns the ledgers of all backends", async () => {
  const env = { PULUMI_HOME: home };
  expect(ledgerFolders(env)).toEqual([]);
  const folders = ["file:///a", "file:///b"].map(folderOf);
  for (const folder of folders) await leaveOpen(folder, "web");
  expect(ledgerFolders(env).sort()).toEqual(folders.sort());
});
