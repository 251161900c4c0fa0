/** Checks that the oldest supported engine has the same version in the provider, in the tests and in docs/install.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { oldestEngine } from "../../provider/executable";
import { root } from "../support/paths";
import { engineVersions } from "./tools";

test("the tests run the oldest engine that the provider works with", () => {
  expect(engineVersions["engine-oldest"]).toBe(`v${oldestEngine}`);
});

test("docs/install.md names the oldest engine that the provider works with", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  expect(page).toContain(`Pulumi ${oldestEngine.replace(/\.0$/, "")} or later`);
});
