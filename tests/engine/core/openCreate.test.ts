/** Tests a create without a clear answer, which must not create an instance twice (G2). */
import { expect, test } from "@jest/globals";
import { creates, Fixture } from "../support/fixture";
import { oneInstance } from "../support/programs";
import { recordsOf } from "../support/stack";

test("after a 503 of a service that created an instance with an explicit name, up fails and names it, and an import takes it over", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  const { stack } = fixture;
  fixture.control.fault({ ...creates, kind: "status", status: 503, acted: true });

  const output = await stack.fail("up");

  const [id] = fixture.ids();
  const finding = `perhaps ${id}`;
  expect(output).toContain(finding);
  // The next up still can't know whose instance it is.
  expect(await stack.fail("up")).toContain(finding);

  await stack.type(`pulumi import compute:index:Instance web ${id}`);
  // The state's instance is the only one of the name that is newer than the POST.
  expect(await stack.up()).not.toContain("in doubt");
  expect(recordsOf(stack)).toEqual([]);
  expect(await stack.expectNothingToDo()).not.toContain("in doubt");
  expect((await stack.instance()).id).toBe(id);
  expect(fixture.posts()).toBe(1);
});
