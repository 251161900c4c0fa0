/** Checks the schema with the engine. */
import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { root } from "../../../tools/support/paths";
import { Fixture } from "../support/fixture";
import { plugin } from "../support/stack";

test("`pulumi schema check` finds no problem, and the engine gets the schema from the plugin", async () => {
  await using fixture = await Fixture.create();
  const check = `pulumi schema check '${join(root, "schema.json")}'`;
  expect(await fixture.stack.type(check)).toBe("");
  const given = await fixture.stack.type(`pulumi package get-schema '${plugin}'`);
  expect(Object.keys((JSON.parse(given) as { resources: object }).resources)).toEqual([
    "compute:index:Instance",
  ]);
});
