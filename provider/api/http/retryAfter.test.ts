/** Tests how the Retry-After header is read (G6). */
import { expect, test } from "@jest/globals";
import { retryAfterMs } from "./response";

const now = new Date("2026-01-01T00:00:00Z");
const dayMs = 86_400_000;

test.each([
  ["7", 7000],
  [" 0.5 ", 500],
  ["Thu, 01 Jan 2026 00:00:09 GMT", 9000],
  ["2026-01-01T00:00:09Z", 9000],
  ["86400", dayMs],
  ["Fri, 01 Jan 2027 00:00:00 GMT", 365 * dayMs],
])("Retry-After %j means %d ms", (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms);
});

test.each(["9".repeat(400), "99999999999999", "1e3000", "Fri, 31 Dec 275759 00:00:00 GMT"])(
  "Retry-After %j, which is absurdly long, still ends at a date that can be shown, or is ignored",
  (value) => {
    const ms = retryAfterMs(value, now) ?? 0;
    expect(new Date(now.getTime() + ms).toISOString()).toMatch(/^(9999-12-31|2026-01-01)T/);
  },
);

test.each([undefined, "", "0", "-1", "soon", "NaN", "Wed, 31 Dec 2025 23:59:59 GMT"])(
  "Retry-After %j is ignored",
  (value) => {
    expect(retryAfterMs(value, now)).toBeUndefined();
  },
);
