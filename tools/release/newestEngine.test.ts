/** Tests the weekly check of the newest engine against a server and a `gh` of our own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { serve } from "../../tests/support/serve";
import { captured } from "../support/command";
import { root, toolsBin } from "../support/paths";
import { issueTitle, newestPulumi, pathFor } from "./newestEngine";

/** Asks a server that has these pages. */
async function newestOf(pages: Readonly<Record<string, string>>) {
  await using server = await serve(({ url = "" }, response) => {
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200).end(page);
  });
  const newest = await newestPulumi(`${server.url}/latest-version`, server.url);
  return { ...newest, url: newest.url.replace(server.url, "") };
}

const sum = (digit: string) => digit.repeat(64);

test("the newest release comes with the checksums of its archives, by platform", async () => {
  const checksums = [
    `${sum("a")}  pulumi-v3.300.1-linux-x64.tar.gz`,
    `${sum("b")}  pulumi-v3.300.1-darwin-arm64.tar.gz`,
    `${sum("c")}  pulumi-v3.300.1-windows-x64.zip`,
    `${sum("d")}  sdk-nodejs-pulumi-pulumi-3.300.1.tgz`,
  ];
  const pages = {
    "/latest-version": "3.300.1\n",
    "/v3.300.1/pulumi-3.300.1-checksums.txt": `${checksums.join("\n")}\n`,
  };
  expect(await newestOf(pages)).toEqual({
    version: "3.300.1",
    url: "",
    sha256: { "linux-x64": sum("a"), "darwin-arm64": sum("b") },
  });
});

test.each([
  [{}, /latest-version answers with HTTP 404/],
  [{ "/latest-version": "<html>" }, /does not answer with a version/],
  [{ "/latest-version": "3.300.1" }, /checksums\.txt answers with HTTP 404/],
  [
    { "/latest-version": "3.300.1", "/v3.300.1/pulumi-3.300.1-checksums.txt": "none" },
    /has no SHA-256/,
  ],
])("pages that are not as expected are an error: %j", async (pages, message) => {
  await expect(newestOf(pages)).rejects.toThrow(message);
});

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function fakePulumi(inFolder: string, script: string): string {
  const path = join(inFolder, "pulumi");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

test("the tests use the newest CLI, or the check fails", async () => {
  const pulumi = fakePulumi(folder, "echo v9.9.9");
  expect(await pathFor(pulumi)).toMatch(new RegExp(`^${folder}${delimiter}`));
  await expect(pathFor(fakePulumi(folder, "exit 1"))).rejects.toThrow();
  // Tests do not look for a CLI among the tools that were built here.
  const built = mkdtempSync(join(toolsBin, "newest-"));
  try {
    await expect(pathFor(fakePulumi(built, "echo v9.9.9"))).rejects.toThrow("would not use");
  } finally {
    rmSync(built, { recursive: true });
  }
});

const workflow = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "owner/repository",
  GITHUB_RUN_ID: "42",
};

/** Runs `report` with a `gh` that lists these issues. Returns the other calls of `gh`. */
async function reported(
  issues: readonly { number: number; title: string }[],
  env: NodeJS.ProcessEnv = workflow,
): Promise<string[]> {
  const calls = join(folder, "calls");
  writeFileSync(join(folder, "issues"), JSON.stringify(issues));
  // Writes a line for each call, with quoted arguments.
  const script = [
    "#!/bin/sh",
    `if [ "$2" = list ]; then cat '${folder}/issues'; fi`,
    `{ printf '"%s" ' "$@"; echo; } >> '${calls}'`,
  ];
  writeFileSync(join(folder, "gh"), `${script.join("\n")}\n`, { mode: 0o755 });
  const path = [folder, process.env["PATH"]].join(delimiter);
  await captured(
    process.execPath,
    ["--import", "tsx", join(root, "tools", "release.ts"), "report"],
    {
      cwd: root,
      env: { ...process.env, GITHUB_RUN_ID: undefined, ...env, PATH: path },
    },
  );
  const [list, ...others] = readFileSync(calls, "utf8").trim().split("\n");
  expect(list).toContain('"issue" "list" "--state=open"');
  return others;
}

test("a failed run opens an issue that links to it", async () => {
  const similar = { number: 3, title: `${issueTitle}, again` };
  const run = "https://github.com/owner/repository/actions/runs/42";
  expect(await reported([similar])).toEqual([
    expect.stringContaining(`"issue" "create" "--title=${issueTitle}" "--body=${run} failed.`),
  ]);
});

test("while that issue is open, another failed run comments on it", async () => {
  expect(await reported([{ number: 7, title: issueTitle }])).toEqual([
    expect.stringMatching(/^"issue" "comment" "7" "--body=https:\/\/.*\/runs\/42 failed\./),
  ]);
});

test("outside of the workflow, nothing is reported", async () => {
  await expect(reported([], {})).rejects.toThrow("GITHUB_RUN_ID is not set");
});
