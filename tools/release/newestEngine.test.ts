/** Tests the weekly check of the newest engine against a server of our own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { serve } from "../../tests/support/serve";
import { toolsBin } from "../support/paths";
import { missingGo, testUnless } from "../support/unless";
import { isLeftBehind, newestPulumi, newestServed, pathFor } from "./newestEngine";

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
afterEach(() => void jest.restoreAllMocks());

testUnless(
  missingGo(),
  "the newest engine is the newest one that Go's module proxy serves",
  async () => {
    const module = join(folder, "github.com", "pulumi", "pulumi", "pkg", "v3", "@v");
    mkdirSync(module, { recursive: true });
    writeFileSync(join(module, "list"), "v3.299.0\nv3.300.1\nv3.300.0\n");
    writeFileSync(join(module, "v3.300.1.info"), JSON.stringify({ Version: "v3.300.1" }));
    jest.replaceProperty(process, "env", {
      ...process.env,
      GOPROXY: pathToFileURL(folder).href,
      GOMODCACHE: join(folder, "cache"),
    });
    expect(await newestServed()).toBe("v3.300.1");
  },
);

function fakePulumi(inFolder: string, script: string): string {
  const path = join(inFolder, "pulumi");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

test.each([
  ["v3.276.0", undefined],
  ["v3.286.9", undefined],
  ["v3.287.0", expect.stringContaining("raise the version")],
  ["v4.0.0", expect.stringContaining("raise the version")],
])("beside engine %s, the tests with 3.276.0 are left behind: %s", (newest, problem) => {
  expect(isLeftBehind(newest, "3.276.0")).toEqual(problem);
});

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
