/** Tests which Pulumi CLI is used: a fake one on PATH, in a home folder, downloaded or built. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { ensurePulumi, type PulumiSupply } from "./pulumiCli";
import { posixTest as test } from "./unless";

let folder: string;
let home: string;
let said: string[];
let asked: string[];
const { PATH } = process.env;

beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder, "home");
  said = [];
  asked = [];
  process.env["PATH"] = join(folder, "onPath");
});
afterEach(() => {
  process.env["PATH"] = PATH;
});

function writeCli(path: string, line: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho ${line}\n`, { mode: 0o755 });
  return file;
}

/** `downloaded` is the path of a CLI that can be downloaded, `built` that of one built already. */
async function find({ downloaded, built }: { downloaded?: string; built?: string } = {}) {
  const supply: PulumiSupply = {
    isBuilt: () => built !== undefined,
    download: () => {
      asked.push("download");
      return Promise.resolve(downloaded);
    },
    build: () => {
      asked.push("build");
      return Promise.resolve({
        path: built ?? "just built",
        version: "3.258.0",
        isBuiltHere: true,
      });
    },
  };
  return ensurePulumi(supply, (line) => said.push(line), home);
}

test("the CLI on PATH comes first", async () => {
  const path = writeCli("onPath/pulumi", "v3.200.0");
  writeCli("home/.pulumi/bin/pulumi", "v3.300.0");
  expect(await find()).toEqual({ path, version: "3.200.0", isBuiltHere: false });
  expect(asked).toEqual([]);
});

test("the newest CLI in ~/.pulumi comes next. Its own answer decides, not the name of its folder", async () => {
  writeCli("home/.pulumi/bin/pulumi", "v3.250.0");
  writeCli("home/.pulumi/versions/3.99.0/bin/pulumi", "v3.199.0");
  const path = writeCli("home/.pulumi/versions/3.260.1/bin/pulumi", "v3.260.1");
  expect(await find()).toEqual({ path, version: "3.260.1", isBuiltHere: false });
  expect(asked).toEqual([]);
});

test("a CLI that is too old or does not run is not used, and a message says so", async () => {
  const old = writeCli("onPath/pulumi", "v3.179.0");
  const broken = writeCli("home/.pulumi/bin/pulumi", "this is no version");
  const downloaded = writeCli("official/pulumi", "v3.258.0");
  expect(await find({ downloaded })).toMatchObject({ path: downloaded, isBuiltHere: false });
  expect(said).toEqual([
    `${old} is 3.179.0, older than 3.180.0, so it is not used.`,
    `${broken} does not answer \`pulumi version\`, so it is not used.`,
  ]);
});

test("without an installed CLI, the official one is downloaded and none is built", async () => {
  const downloaded = writeCli("official/pulumi", "v3.258.0");
  expect(await find({ downloaded })).toEqual({
    path: downloaded,
    version: "3.258.0",
    isBuiltHere: false,
  });
  expect(asked).toEqual(["download"]);
});

test("if the download is refused, the CLI is built", async () => {
  expect(await find()).toMatchObject({ path: "just built", isBuiltHere: true });
  expect(asked).toEqual(["download", "build"]);
});

test("an official CLI that does not run on this machine is replaced by one that is built", async () => {
  const downloaded = writeCli("official/pulumi", "cannot execute");
  expect(await find({ downloaded })).toMatchObject({ path: "just built" });
  expect(said).toEqual([`${downloaded} does not answer \`pulumi version\`, so it is not used.`]);
});

test("what has been built already is used, without the network", async () => {
  expect(await find({ built: "built earlier" })).toMatchObject({ path: "built earlier" });
  expect(asked).toEqual(["build"]);
});
