/** Tests which folder has the ledger of each state backend. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test } from "@jest/globals";
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
  const module = JSON.stringify(pathToFileURL(join(__dirname, "folder.ts")));
  const program = `import { ledgerFolder } from ${module}; process.stdout.write(ledgerFolder({}));`;
  const args = ["--import", "tsx", "--input-type=module", "-e", program];
  const env = { ...process.env, HOME: home };
  const folder = execFileSync(process.execPath, args, { env, encoding: "utf8" });
  expect(folder).toContain(join(userInfo().homedir, ".pulumi", "compute", "ledger"));
});

const here = `file://${process.cwd()}`;
const atHome = `file://${userInfo().homedir}`;
test.each([
  ["a slash at the end", "file:///a", "file:///a/"],
  ["a slash at the end of a bucket", "s3://b", "s3://b/"],
  ["a new password (G1)", "postgres://me:old@db/state", "postgres://me:new@db/state"],
  ["no password", "postgres://me:old@db/state", "postgres://me@db/state"],
  ["a relative path", `${here}/state`, "file://./state", "file://state", "file://x/../state/"],
  ["a path in the home", atHome, "file://~", "file://~/"],
  ["a path below the home", `${atHome}/state`, "file://~/state"],
  [
    "percent-encoding",
    "file:///it's a/50%x",
    "file:///it's%20a/50%25x",
    "file:///it%27s%20a/50%25x",
  ],
])("%s does not change the ledger", (_what, backend, ...others) => {
  for (const other of others) expect(folderOf(other)).toBe(folderOf(backend));
});

test("a line of number signs in a project file takes no longer than another", () => {
  // With a choice at each sign, there would be a million million ways to read the line.
  writeFileSync(join(home, "Pulumi.yaml"), `backend:\n${"#".repeat(40)}\nname: web\n`);
  expect(ledgerFolder({ PULUMI_HOME: home }, home)).toContain(join(home, "compute", "ledger"));
});

test("a symbolic link to a file backend does not change the ledger", () => {
  const state = join(home, "state");
  mkdirSync(state);
  // A junction, which Windows lets everybody make. Elsewhere the word means nothing.
  symlinkSync(state, join(home, "link"), "junction");
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

/** Puts a project file into a folder of this name. Returns the folder. */
function projectIn(folder: string, text: string, name = "Pulumi.yaml"): string {
  const path = join(home, folder);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, name), text);
  return path;
}
const head = "name: proj\nruntime: yaml\n";
const folderIn = (project: string, backend?: string) =>
  ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend }, project);

describe("the backend that the project file names", () => {
  test.each([
    ["in a block", "backend:\n  url: s3://b\n"],
    [
      "quoted, with comments",
      'backend: # ours\n\n  # of the team\n  url: "s3://b" # it\nmain: src\n',
    ],
    ["in braces", "backend: { url: 's3://b' }\n"],
    ["with CR LF", "backend:\r\n  url: s3://b\r\nmain: src\r\n"],
  ])("counts, %s", (_how, text) => {
    const project = projectIn("project", head + text);
    expect(folderIn(project)).toBe(folderOf("s3://b"));
    // As the engine finds it.
    expect(folderIn(projectIn("project/src/deep", "", "other.yaml"))).toBe(folderOf("s3://b"));
    expect(folderIn(project, "s3://given")).toBe(folderOf("s3://given"));
  });

  test("counts in Pulumi.json and Pulumi.yml, and before the login", () => {
    writeFileSync(join(home, "credentials.json"), JSON.stringify({ current: "s3://login" }));
    const json = JSON.stringify({ name: "proj", backend: { url: "s3://b" } }, undefined, 2);
    const project = projectIn("project", json, "Pulumi.json");
    projectIn("project", `${head}backend:\n  url: s3://other\n`);
    expect(folderIn(project)).toBe(folderOf("s3://b"));
    expect(folderIn(projectIn("yml", `${head}backend: {url: s3://b}`, "Pulumi.yml"))).toBe(
      folderOf("s3://b"),
    );
  });

  test.each([
    ["empty", "backend:\n  url:\nmain: src\n"],
    ["null", "backend:\nplugins:\n  url: s3://b\n"],
    ["in a resource of that name", "resources:\n  backend:\n    url: s3://b\n"],
  ])("does not count if it is %s", (_how, text) => {
    writeFileSync(join(home, "credentials.json"), JSON.stringify({ current: "s3://login" }));
    expect(folderIn(projectIn("project", head + text))).toBe(folderOf("s3://login"));
  });

  test("may be a path in the folder of the project, so that two clones have a ledger each (G2)", () => {
    const text = `${head}backend:\n  url: file://./my state\n`;
    const clones = ["one", "two"].map((name) => projectIn(name, text));
    expect(clones.map((clone) => folderIn(clone))).toEqual(
      clones.map((clone) => folderOf(`file://${clone}/my state`)),
    );
    expect(folderIn(join(clones[0] ?? "", "deep"))).toBe(folderIn(clones[0] ?? ""));
  });
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
