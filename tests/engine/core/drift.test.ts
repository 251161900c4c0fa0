/** Tests that `pulumi refresh` shows changes made out of band, and forgets nothing on weak evidence (G3). */
import { expect, test } from "@jest/globals";
import { Fixture, lists } from "../support/fixture";
import { instances, oneInstance } from "../support/programs";

const check =
  "env -u PULUMI_SKIP_CONFIRMATIONS pulumi refresh --preview-only --expect-no-changes --diff";

test("a rename at the service fails the check of every morning until a refresh records it, and replaces nothing, whichever name the program has", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  const { stack, control } = fixture;
  await stack.up();
  await stack.type(check);
  control.rename(fixture.ids()[0] ?? "", "renamed-by-hand");

  expect(await stack.typeFailing(check)).toMatch(/~ name *: "web-main" => "renamed-by-hand"/);

  await stack.expectNothingToDo();
  await stack.refresh();
  expect(await stack.instance()).toMatchObject({
    inputs: { name: "web-main" },
    outputs: { name: "renamed-by-hand" },
  });
  await stack.type(check);
  await stack.expectNothingToDo();
  stack.program(oneInstance({ name: "renamed-by-hand" }));
  await stack.up();
  await stack.type(check);
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);
});

test("only an instance that listings lack is dropped by a refresh, not one whose listing is refused. The next up creates it", async () => {
  await using fixture = await Fixture.create({ program: instances({ web: {}, db: {} }) });
  const { stack, control } = fixture;
  await stack.up();
  const before = await stack.instances();
  const [web, db] = ["web", "db"].map((name) =>
    before.find(({ urn }) => urn.endsWith(`::${name}`)),
  );
  control.remove(web?.id ?? "");

  const fault = control.fault({ ...lists, kind: "status", status: 400, times: "always" });
  expect(await stack.fail("refresh")).toMatch(/HTTP 400.*request_id req_/);
  fault.remove();
  const kept = (await stack.instances()).map(({ id, outputs }) => ({ id, outputs }));
  expect(kept).toEqual(before.map(({ id, outputs }) => ({ id, outputs })));

  await stack.refresh();
  expect(await stack.ids()).toEqual([db?.id]);
  await stack.up();
  expect(fixture.posts()).toBe(3);
  expect(await stack.ids()).toEqual(fixture.ids().sort());
});
