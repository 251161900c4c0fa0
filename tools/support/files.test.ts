/** Tests the reading of files that may not exist. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readIfThere } from "./files";

test("a missing file is not an error, even though jest has its own Error", () => {
  expect(readIfThere(join(__dirname, "nothing", "here"))).toBeUndefined();
  expect(readIfThere(__filename)).toContain("even though jest");
  expect(() => readIfThere(__dirname)).toThrow();
});
