/** A create without a clear answer: exactly one instance comes of it, or an error that says so (G2). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { Fixture } from "../support/fixture";

const creates = { method: "POST", path: "/v2/instances" } as const;

const acted = { ...creates, kind: "status", status: 503, acted: true } as const;

test("answered 503 after the service acted, the name given: the instance is named, and taken over as is said", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  const { stack } = fixture;
  fixture.service.control.fault(acted);

  const { code, output } = await stack.up();

  const [id] = fixture.ids();
  expect(output).toContain(`An instance named "web-main" has turned up since, ${id}`);
  expect(code).not.toBe(0);
  // Run again, it is still not known whose it is.
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
