/** Tests that `pulumi refresh` shows changes made out of band, and forgets nothing on weak evidence (G3). */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../../emulator";
import { instances, oneInstance } from "../support/programs";
import { Fixture } from "../support/fixture";

test("refresh shows a rename out of band, and the next preview shows a replacement", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({ name: "web-main" }) });
  await fixture.stack.up();
  const [id = ""] = fixture.ids();
  fixture.service.control.rename(id, "renamed-by-hand");

  const refreshed = await fixture.stack.refresh("--diff");

  expect(refreshed.output).toMatch(/~ name *: "web-main" => "renamed-by-hand"/);
  expect(refreshed.code).toBe(0);
  const preview = await fixture.stack.preview("--diff");
  expect(preview.output).toMatch(/\+-compute:index:Instance: \(replace\)/);
  expect(preview.output).toMatch(/~ name *: "renamed-by-hand" => "web-main"/);
  expect(fixture.posts()).toBe(1);
  expect(preview.output).toContain(`replacing instance ${id} leaves it behind`);
  expect(preview.output).toContain("rename it back there and run `pulumi refresh`");
  // The engine also calls Diff during a refresh, but does not replace anything then.
  expect(refreshed.output).not.toContain("replacing instance");

  // Both ways out that the warning names avoid the replacement.
  fixture.stack.program(oneInstance({ name: "web-main" }, { ignoreChanges: ["name"] }));
  await fixture.stack.expectNothingToDo();
  fixture.service.control.rename(id, "web-main");
  expect((await fixture.stack.refresh()).code).toBe(0);
  fixture.stack.program(oneInstance({ name: "web-main" }));
  await fixture.stack.expectNothingToDo();
});

test("an instance that went OFFLINE fails the check of every morning, until a refresh accepts the status", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const { stack } = fixture;
  await stack.up();
  const check = () => stack.run("refresh", "--preview-only", "--expect-no-changes", "--diff");
  expect((await check()).code).toBe(0);
  fixture.service.control.setStatus(fixture.ids()[0] ?? "", "OFFLINE");

  const { code, output } = await check();

  expect(output).toMatch(/~ status *: "ACTIVE" => "OFFLINE"/);
  expect(code).not.toBe(0);
  expect(await stack.instance()).toMatchObject({ outputs: { status: "ACTIVE" } });
  expect((await stack.refresh()).code).toBe(0);
  expect((await check()).code).toBe(0);
});

test("refresh drops an instance that was removed out of band, and the next up creates a new one", async () => {
  await using fixture = await Fixture.create({ program: instances({ web: {}, db: {} }) });
  await fixture.stack.up();
  const web = (await fixture.stack.instances()).find(({ urn }) => urn.endsWith("::web"));
  fixture.service.control.remove(web?.id ?? "");

  expect((await fixture.stack.refresh()).code).toBe(0);

  const left = await fixture.stack.instances();
  expect(left.map(({ urn }) => urn.replace(/.*::/, ""))).toEqual(["db"]);
  expect((await fixture.stack.up()).code).toBe(0);
  expect(fixture.posts()).toBe(3);
  const now = (await fixture.stack.instances()).map(({ id }) => id);
  expect(now.sort()).toEqual(fixture.ids().sort());
});

test("a refresh that the service answers with 400 or 401 fails and forgets nothing", async () => {
  const listings = { method: "GET", path: "/v2/instances", times: "always" } as const;
  const faults: (FaultScript & { says: RegExp })[] = [
    { ...listings, kind: "status", status: 400, says: /HTTP 400/ },
    { ...listings, path: "/v2/account", kind: "status", status: 401, says: /HTTP 401/ },
  ];
  await using fixture = await Fixture.create({ program: oneInstance() });
  await fixture.stack.up();
  const before = await fixture.stack.instance();
  // The instance does not exist any more, but the failed requests are no evidence of that.
  fixture.service.control.remove(before.id ?? "");

  for (const { says, ...fault } of faults) {
    const handle = fixture.service.control.fault(fault);
    const { code, output } = await fixture.stack.refresh();
    handle.remove();

    expect(output).toMatch(says);
    expect(output).toMatch(/request_id req_/);
    expect(code).not.toBe(0);
    expect(await fixture.stack.instance()).toMatchObject({
      id: before.id,
      outputs: before.outputs,
    });
  }
});
