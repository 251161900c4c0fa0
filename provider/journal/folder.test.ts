import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { JournalEntry } from "./entry";
import { journalFolder, journalFolders } from "./folder";
import { Journal } from "./journal";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "compute-home-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const logIn = (backend: string) =>
  writeFileSync(join(home, "credentials.json"), JSON.stringify({ current: backend }));

test("the journal lies in the Pulumi home, given or not", () => {
  expect(journalFolder({ PULUMI_HOME: home })).toContain(join(home, "compute", "journal"));
  expect(journalFolder({})).toMatch(/\.pulumi[/\\]compute[/\\]journal[/\\]/);
});

test("stacks of the same name in two backends do not share a journal (G2)", () => {
  const of = (backend: string) => journalFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  expect(of("file:///a")).not.toBe(of("file:///b"));
  expect(of("file:///a/")).toBe(of("file:///a"));
});

test("a database's new password makes no other journal, its name, host or table does (G1, G8)", () => {
  const of = (backend: string) => journalFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
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
  const of = (backend: string) => journalFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
  expect(of("file://./state")).toBe(of(`file://${process.cwd()}/./state`));
});

test("the backend is the one of the environment, else the one logged into", () => {
  const env = { PULUMI_HOME: home };
  const none = journalFolder(env);
  logIn("https://state.example.com");
  const loggedIn = journalFolder(env);
  expect(loggedIn).not.toBe(none);
  expect(journalFolder({ ...env, PULUMI_BACKEND_URL: "https://state.example.com" })).toBe(loggedIn);
  expect(journalFolder({ ...env, PULUMI_BACKEND_URL: "file:///a" })).not.toBe(loggedIn);
});

test("credentials that can't be read are no reason to fail", () => {
  writeFileSync(join(home, "credentials.json"), "{");
  expect(journalFolder({ PULUMI_HOME: home })).toContain(home);
});

test("a person sees the journals of every backend", () => {
  const env = { PULUMI_HOME: home };
  expect(journalFolders(env)).toEqual([]);
  const folders = ["file:///a", "file:///b"].map((backend) =>
    journalFolder({ ...env, PULUMI_BACKEND_URL: backend }),
  );
  for (const folder of folders) new Journal(folder, () => undefined).write({} as JournalEntry);
  expect(journalFolders(env).sort()).toEqual(folders.sort());
});
