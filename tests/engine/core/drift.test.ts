/** Tests that `pulumi refresh` shows changes made out of band, and forgets nothing on weak evidence (G3). */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { instances, oneInstance } from "../support/programs";

test("refresh shows a rename out of band, and the next preview shows a replacement", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  const { stack, control } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  control.rename(id, "renamed-by-hand");

  const refresh = await stack.refresh("--diff");

  expect(refresh).toMatch(/~ name *: "web-main" => "renamed-by-hand"/);
  // The engine also calls Diff during a refresh, but does not replace anything then.
  expect(refresh).not.toContain("replacing instance");
  const preview = await stack.preview("--diff");
  expect(preview).toMatch(/\+-compute:index:Instance: \(replace\)/);
  expect(preview).toMatch(/~ name *: "renamed-by-hand" => "web-main"/);
  expect(preview).toContain(`replacing instance ${id} leaves it behind`);
  expect(preview).toContain("rename it back there and run `pulumi refresh`");

  // Both ways out that the warning names avoid the replacement.
  stack.program(oneInstance({ name: "web-main" }, { ignoreChanges: ["name"] }));
  await stack.expectNothingToDo();
  control.rename(id, "web-main");
  await stack.refresh();
  stack.program(oneInstance({ name: "web-main" }));
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);
});

test("an instance that went OFFLINE fails the check of every morning, until a refresh accepts the status", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  const check =
    "env -u PULUMI_SKIP_CONFIRMATIONS pulumi refresh --preview-only --expect-no-changes --diff";
  await stack.type(check);
  fixture.control.setStatus(fixture.ids()[0] ?? "", "OFFLINE");

  expect(await stack.typeFailing(check)).toMatch(/~ status *: "ACTIVE" => "OFFLINE"/);

  expect(await stack.instance()).toMatchObject({ outputs: { status: "ACTIVE" } });
  await stack.refresh();
  await stack.type(check);
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

  for (const [path, status] of [
    ["/v2/instances", 400],
    ["/v2/account", 401],
  ] as const) {
    const refused = { method: "GET", path, kind: "status", status, times: "always" } as const;
    const fault = control.fault(refused);
    expect(await stack.fail("refresh")).toMatch(new RegExp(`HTTP ${status}.*request_id req_`));
    fault.remove();
    const kept = (await stack.instances()).map(({ id, outputs }) => ({ id, outputs }));
    expect(kept).toEqual(before.map(({ id, outputs }) => ({ id, outputs })));
  }

  await stack.refresh();
  expect(await stack.ids()).toEqual([db?.id]);
  await stack.up();
  expect(fixture.posts()).toBe(3);
  expect(await stack.ids()).toEqual(fixture.ids().sort());
});
