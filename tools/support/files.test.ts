/** Files that may not be there. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readIfThere } from "./files";

test("a file that is not there is no error, also where jest has an Error of its own", () => {
  expect(readIfThere(join(__dirname, "nothing", "here"))).toBeUndefined();
  expect(readIfThere(__filename)).toContain("also where jest");
  expect(() => readIfThere(__dirname)).toThrow();
});
