/** Tests how the tools and tests name a state backend. */
import { expect, test } from "@jest/globals";
import { fileBackend } from "./ownPulumi";

test.each([
  ["/home/me/it's #1 50% ü?", false, "file:///home/me/it's%20%231%2050%25%20%C3%BC%3F"],
  ["C:\\Users\\Jo Doe\\c#", true, "file://C:/Users/Jo%20Doe/c%23"],
])("the engine reads the URL of %s", (folder, windows, url) => {
  expect(fileBackend(folder, windows)).toBe(url);
});
