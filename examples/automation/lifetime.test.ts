/** When a lifetime is over, and what is none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { expiry, isExpired } from "./lifetime.ts";

const now = new Date("2030-01-01T00:00:00.000Z");

test("a lifetime ends after its hours, and not before", () => {
  const end = expiry(1.5, now);
  assert.equal(end, "2030-01-01T01:30:00.000Z");
  assert.equal(isExpired(end, new Date("2030-01-01T01:29:59.999Z")), false);
  assert.equal(isExpired(end, new Date(end)), true);
});

test("a lifetime without end, or none, is refused", () => {
  for (const hours of [0, -1, 169, Infinity, NaN])
    assert.throws(() => expiry(hours, now), /--hours/);
});

test("nothing is concluded from a record that can't be read", () => {
  for (const record of [undefined, "", "tomorrow"]) assert.equal(isExpired(record, now), undefined);
});
