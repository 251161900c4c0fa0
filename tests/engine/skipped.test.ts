/**
 * Tests what `--continue-on-error` skips. From engine 3.274 on, a skipped step asks for a dry run in the middle of a real update, and
 * its error reaches nobody.
 */
import { expect, test } from "@jest/globals";
import { creates, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import { tokens } from "./support/stack";

test("a create in doubt that is skipped is named at the end", async () => {
  const web = { inputs: { name: "web-main" } };
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: instances({ web }),
  });
  const { stack, control } = fixture;
  await fixture.endUpInPost("both killed");
  await stack.succeed("cancel", "--yes");
  const first = { inputs: { name: "first" } };
  stack.program(instances({ first, web: { ...web, options: { dependsOn: ["${first}"] } } }));
  control.fault({ ...creates, kind: "status", status: 422, acted: false });

  const output = await stack.fail("up", "--continue-on-error");

  expect(output).toContain("settle");
  expect(output).toContain("web-main");
  expect(fixture.ids()).toHaveLength(1);
});
