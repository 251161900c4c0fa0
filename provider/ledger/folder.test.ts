/** Tests which folder has the ledger of each state backend. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { leaveInDoubt } from "../testing/ledgerRecord";
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
const atHome = `file://${userInfo().homedir}`;
const bucket = "s3://b?endpoint=minio";
test.each([
  ["a slash at the end", "file:///a", "file:///a/"],
  ["a new password (G1)", "postgres://me:old@db/state", "postgres://me:new@db/state"],
  ["no password", "postgres://me:old@db/state", "postgres://me@db/state"],
  ["a relative path", `${here}/state`, "file://./state", "file://state", "file://x/../state/"],
  ["a path in the home", atHome, "file://~", "file://~/"],
  ["a path below the home", `${atHome}/state`, "file://~/state"],
  ["how files are written", "file:///a", "file:///a?no_tmp_dir=true", "file:///a/?metadata=skip"],
  [
    "how a bucket is reached",
    bucket,
    `${bucket}&s3ForcePathStyle=true`,
    "s3://b/?region=r&endpoint=minio",
  ],
  ["how a database is reached", "postgres://me@db/s", "postgres://me@db/s?sslmode=disable"],
])("%s does not change the ledger", (_what, backend, ...others) => {
  for (const other of others) expect(folderOf(other)).toBe(folderOf(backend));
});

test("a symbolic link to a file backend does not change the ledger", () => {
  const state = join(home, "state");
  mkdirSync(state);
  symlinkSync(state, join(home, "link"));
  expect(folderOf(`file://${home}/link`)).toBe(folderOf(`file://${state}`));
});

test.each([
  ["files", ["file:///a", "file:///b", "file:///a?prefix=p/", "file:///a?prefix=q/"]],
  ["buckets", ["s3://b", "s3://c", "s3://b/sub", "s3://b?prefix=p/", "s3://b?endpoint=minio"]],
  ["containers", ["azblob://c?storage_account=a", "azblob://c?storage_account=b", "gs://c"]],
  [
    "databases",
    ["me@db/s", "you@db/s", "me@db2/s", "me@db/s?dbname=o", "me@db/s?table=t"].map(
      (database) => `postgres://${database}`,
    ),
  ],
])(
  "each backend has its own ledger, also if only one part of its address differs (G2): %s",
  (_what, backends) => {
    expect(new Set(backends.map(folderOf)).size).toBe(backends.length);
  },
);

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
  for (const folder of folders) await leaveInDoubt(folder, "web");
  expect(ledgerFolders(env).sort()).toEqual(folders.sort());
});
