import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

test("the ledger lies in the Pulumi home, given or not", () => {
  expect(ledgerFolder({ PULUMI_HOME: home })).toContain(join(home, "compute", "ledger"));
  expect(ledgerFolder({})).toMatch(/\.pulumi[/\\]compute[/\\]ledger[/\\]/);
});

test("stacks of the same name in two backends do not share a ledger (G2)", () => {
  const of = (backend: string) => ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  expect(of("file:///a")).not.toBe(of("file:///b"));
  expect(of("file:///a/")).toBe(of("file:///a"));
});

test("a database's new password makes no other ledger, its name, host or table does (G1, G8)", () => {
  const of = (backend: string) => ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  const one = of("postgres://me:old@db/state");
  expect(of("postgres://me:new@db/state")).toBe(one);
  expect(of("postgres://me@db/state")).toBe(one);
  const others = [
    "me:old@db/other",
    "me:old@db2/state",
    "me:old@db/state?table=t",
    "you:old@db/state",
  ];
  for (const other of others) expect(of(`postgres://${other}`)).not.toBe(one);
});

test("a relative backend is another one in each project", () => {
  const of = (backend: string) => ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  expect(of("file://./state")).toBe(of(`file://${process.cwd()}/./state`));
});

test("the backend is the one of the environment, else the one logged into", () => {
  const env = { PULUMI_HOME: home };
  const none = ledgerFolder(env);
  logIn("https://state.example.com");
  const loggedIn = ledgerFolder(env);
  expect(loggedIn).not.toBe(none);
  expect(ledgerFolder({ ...env, PULUMI_BACKEND_URL: "https://state.example.com" })).toBe(loggedIn);
  expect(ledgerFolder({ ...env, PULUMI_BACKEND_URL: "file:///a" })).not.toBe(loggedIn);
});

test("credentials that can't be read are no reason to fail", () => {
  writeFileSync(join(home, "credentials.json"), "{");
  expect(ledgerFolder({ PULUMI_HOME: home })).toContain(home);
});

test("a person sees the ledgers of every backend", async () => {
  const env = { PULUMI_HOME: home };
  expect(ledgerFolders(env)).toEqual([]);
  const folders = ["file:///a", "file:///b"].map((backend) =>
    ledgerFolder({ ...env, PULUMI_BACKEND_URL: backend }),
  );
  for (const folder of folders) await leaveOpen(folder, "web");
  expect(ledgerFolders(env).sort()).toEqual(folders.sort());
});
