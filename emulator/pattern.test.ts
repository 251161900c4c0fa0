/** Tests of the patterns in the conditions of faults and in the options. */
import { expect, test } from "@jest/globals";
import { matchesPattern } from "./pattern";

test.each([
  ["*", ""],
  ["web", "web"],
  ["/v2/*", "/v2/instances"],
  ["*-db-*", "eu-db-1"],
  ["a*a", "aba"],
  ["a*a*", "aa"],
  ["a.b+?", "a.b+?"],
])("%j matches %j", (pattern, value) => {
  expect(matchesPattern(pattern, value)).toBe(true);
});

test.each([
  ["*", undefined],
  ["web", "Web"],
  ["web", "web-1"],
  ["a*a", "a"],
  ["a*b*b", "ab"],
  ["a?", "ab"],
  // A regular expression would try all ways to divide the text among the stars.
  [`${"*a".repeat(30)}*b`, "a".repeat(1000)],
])("%j does not match %j", (pattern, value) => {
  expect(matchesPattern(pattern, value)).toBe(false);
});
