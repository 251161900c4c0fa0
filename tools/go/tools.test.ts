/** Checks that the oldest supported engine has the same version in the provider and in the tests. */
import { expect, test } from "@jest/globals";
import { oldestEngine } from "../../provider/process/executable";
import { engineVersions } from "./tools";

test("the tests run the oldest engine that the provider works with", () => {
  expect(engineVersions["engine-oldest"]).toBe(`v${oldestEngine}`);
});
