/** Tests which folder has the ledger of each state backend. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { leaveOpen } from "../testing/ledgerRecord";
import { ledgerFolder, ledgerFolders } from "./folder";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "compute-home-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const logIn = (backend: string) =>
  writeFileSync(join(home, "credentials.json"), JSON.stringify({ current: backend }));

test("the ledger is in the Pulumi home, with or without PULUMI_HOME", () => {
  expect(ledgerFolder({ PULUMI_HOME: home })).toContain(join(home, "compute", "ledger"));
  expect(ledgerFolder({})).toMatch(/\.pulumi[/\\]compute[/\\]ledger[/\\]/);
});

test("without PULUMI_HOME, the home comes from the system's user database, as in the engine, and not from HOME", () => {
  // In a process of its own, since Jest's process.env is not what the system reads.
  const module = JSON.stringify(join(__dirname, "folder.ts"));
  const program = `import { ledgerFolder } from ${module}; process.stdout.write(ledgerFolder({}));`;
  const folder = execFileSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", program],
    {
      env: { ...process.env, HOME: home },
      encoding: "utf8",
    },
  );
  expect(folder).toContain(join(userInfo().homedir, ".pulumi", "compute", "ledger"));
});

test("stacks of the same name in two backends do not share a ledger (G2)", () => {
  const folderOf = (backend: string) =>
    ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  expect(folderOf("file:///a")).not.toBe(folderOf("file:///b"));
  expect(folderOf("file:///a/")).toBe(folderOf("file:///a"));
});

test("a database's new password does not change the ledger, but a new user, name, host or table does (G1, G8)", () => {
  const folderOf = (backend: string) =>
    ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  const folder = folderOf("postgres://me:old@db/state");
  expect(folderOf("postgres://me:new@db/state")).toBe(folder);
  expect(folderOf("postgres://me@db/state")).toBe(folder);
  const others = [
    "me:old@db/other",
    "me:old@db2/state",
    "me:old@db/state?table=t",
    "you:old@db/state",
  ];
  for (const other of others) expect(folderOf(`postgres://${other}`)).not.toBe(folder);
});

test("a relative backend is a different backend in each project", () => {
  const folderOf = (backend: string) =>
    ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  for (const relative of ["file://./state", "file://state", "file://x/../state/"]) {
    expect(folderOf(relative)).toBe(folderOf(`file://${process.cwd()}/state`));
  }
});

test("the backend comes from the environment, or else from `pulumi login`", () => {
  const env = { PULUMI_HOME: home };
  const none = ledgerFolder(env);
  logIn("https://state.example.com");
  const loggedIn = ledgerFolder(env);
  expect(loggedIn).not.toBe(none);
  expect(ledgerFolder({ ...env, PULUMI_BACKEND_URL: "https://state.example.com" })).toBe(loggedIn);
  expect(ledgerFolder({ ...env, PULUMI_BACKEND_URL: "file:///a" })).not.toBe(loggedIn);
});

test("unreadable credentials cause no error", () => {
  writeFileSync(join(home, "credentials.json"), "{");
  expect(ledgerFolder({ PULUMI_HOME: home })).toContain(home);
});

test("`ledgerFolders` returns the ledgers of all backends", async () => {
  const env = { PULUMI_HOME: home };
  expect(ledgerFolders(env)).toEqual([]);
  const folders = ["file:///a", "file:///b"].map((backend) =>
    ledgerFolder({ ...env, PULUMI_BACKEND_URL: backend }),
  );
  for (const folder of folders) await leaveOpen(folder, "web");
  expect(ledgerFolders(env).sort()).toEqual(folders.sort());
});
