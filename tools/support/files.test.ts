/** Tests the reading of files that may not exist. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readIfThere } from "./files";

test("reading a missing file returns undefined, although jest replaces the class Error", () => {
  expect(readIfThere(join(__dirname, "nothing", "here"))).toBeUndefined();
  expect(readIfThere(__filename)).toContain("although jest replaces");
  expect(() => readIfThere(__dirname)).toThrow();
});
