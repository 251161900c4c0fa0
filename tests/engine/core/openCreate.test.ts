/** Tests a create without a clear answer, which must not create an instance twice (G2). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { Fixture } from "../support/fixture";

const creates = { method: "POST", path: "/v2/instances" } as const;

const failedAfterCreate = { ...creates, kind: "status", status: 503, acted: true } as const;

test("after a 503 of a service that created an instance with an explicit name, up fails and names it, and an import takes it over", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  const { stack } = fixture;
  fixture.service.control.fault(failedAfterCreate);

  const { code, output } = await stack.up();

  const [id] = fixture.ids();
  expect(output).toContain(`An instance named "web-main" has turned up since, ${id}`);
  expect(code).not.toBe(0);
  // The next up still can't know whose instance it is.
  const again = await stack.up();
  expect(again.output).toContain(
    `${id} of that name exists, but the provider did not generate the name`,
  );
  expect(again.code).not.toBe(0);

  await stack.type(`pulumi import compute:index:Instance web ${id}`);
  expect((await stack.up()).code).toBe(0);
  await stack.expectNothingToDo();
  expect((await stack.instance()).id).toBe(id);
  expect(fixture.posts()).toBe(1);
});
