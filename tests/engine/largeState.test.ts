/**
 * Tests the real engine with a very large state. tests/lifecycle/upgrade.test.ts tests the states of released versions.
 */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "./support/fixture";
import { oneInstance } from "./support/programs";

test("an unfinished instance with 1 MB of user data stays in the state, and the next up continues with it", async () => {
  const userData = "# a line of a long script\n".repeat(40_000);
  const program = oneInstance({ userData }, { customTimeouts: { create: "5s" } });
  await using fixture = await Fixture.create({ program, service: never });
  const { stack } = fixture;

  await stack.fail("up");

  expect(await stack.ids()).toEqual(fixture.ids());
  fixture.control.settle();
  await stack.up();
  expect(await stack.ids()).toEqual(fixture.ids());
  expect(fixture.posts()).toBe(1);
});
