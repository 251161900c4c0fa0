/** Tests which versions of Node are refused. */
import { expect, test } from "@jest/globals";
import { isNodeTooOld } from "./version";

test.each(["18.20.8", "20.20.2", "22.18.0", "23.0.0", "23.9.0"])(
  "Node %s is too old",
  (version) => {
    expect(isNodeTooOld(version)).toBe(true);
  },
);

test.each(["22.19.0", "22.30.1", "23.10.0", "24.0.0", "26.10.0"])("Node %s will do", (version) => {
  expect(isNodeTooOld(version)).toBe(false);
});
