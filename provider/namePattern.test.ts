/** Tests of patterns of names. */
import { expect, test } from "@jest/globals";
import { matchesNamePattern } from "./namePattern";

test.each([
  ["*", ""],
  ["**", "web"],
  ["web-*", "web-1"],
  ["web-*", "WEB-"],
  ["*-db-*", "eu-db-1"],
  ["web-?", "web-ü"],
  ["web-?", "web-\u{1F600}"],
  ["a.b+(c)[d]", "A.b+(c)[d]"],
  ["^$|\\{}", "^$|\\{}"],
  ["two*lines", "two\nlines"],
  ["*a*b*", "xaxbx"],
  ["a*a", "aba"],
])("%j matches %j", (pattern, name) => {
  expect(matchesNamePattern(pattern, name)).toBe(true);
});

test.each([
  ["web", "web-1"],
  ["eb*", "web"],
  ["web-?", "web-"],
  ["web-?", "web-12"],
  ["a.b", "axb"],
  ["?", ""],
  ["a*a", "a"],
  ["a*b*c", "abcab"],
  // A regular expression would try all ways to divide the name among the stars.
  [`${"*a".repeat(30)}*b`, "a".repeat(1000)],
])("%j does not match %j", (pattern, name) => {
  expect(matchesNamePattern(pattern, name)).toBe(false);
});
