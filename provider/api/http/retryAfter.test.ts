/** Tests how the Retry-After header is read. */
import { expect, test } from "@jest/globals";
import { retryAfterMs } from "./response";

const now = new Date("2026-01-01T00:00:00Z");

test.each([
  ["7", 7000],
  [" 0.5 ", 500],
  ["Thu, 01 Jan 2026 00:00:09 GMT", 9000],
  ["86400", 300_000],
  ["Fri, 01 Jan 2027 00:00:00 GMT", 300_000],
])("Retry-After %j means %d ms, with a maximum of five minutes", (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms);
});

test.each([undefined, "", "0", "-1", "soon", "NaN", "Wed, 31 Dec 2025 23:59:59 GMT"])(
  "Retry-After %j is ignored",
  (value) => {
    expect(retryAfterMs(value, now)).toBeUndefined();
  },
);
