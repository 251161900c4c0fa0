/** `pulumi refresh`: what changed out of band is seen, and nothing is forgotten on weak evidence (G3). */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../../emulator";
import { instances, oneInstance } from "../support/programs";
import { World } from "../support/world";

test("a rename out of band is shown by refresh, and the next preview is a replacement", async () => {
  await using world = await World.create({ program: oneInstance({ name: "web-main" }) });
  await world.stack.up();
  const [id = ""] = world.ids();
  world.service.control.rename(id, "renamed-by-hand");

  const refreshed = await world.stack.refresh("--diff");

  expect(refreshed.output).toMatch(/~ name *: "web-main" => "renamed-by-hand"/);
  expect(refreshed.code).toBe(0);
  const preview = await world.stack.preview("--diff");
  expect(preview.output).toMatch(/\+-compute:index:Instance: \(replace\)/);
  expect(preview.output).toMatch(/~ name *: "renamed-by-hand" => "web-main"/);
  expect(world.posts()).toBe(1);
  expect(preview.output).toContain(`replacing instance ${id} leaves it behind`);
  // The engine asks Diff during a refresh too, and then nothing is about to be replaced.
  expect(refreshed.output).not.toContain("replacing instance");
});

test("an instance removed out of band is dropped by refresh, and the next up creates it anew", async () => {
  await using world = await World.create({ program: instances({ web: {}, db: {} }) });
  await world.stack.up();
  const web = (await world.stack.instances()).find(({ urn }) => urn.endsWith("::web"));
  world.service.control.remove(web?.id ?? "");

  expect((await world.stack.refresh()).code).toBe(0);

  const left = await world.stack.instances();
  expect(left.map(({ urn }) => urn.replace(/.*::/, ""))).toEqual(["db"]);
  expect((await world.stack.up()).code).toBe(0);
  expect(world.posts()).toBe(3);
  const now = (await world.stack.instances()).map(({ id }) => id);
  expect(now.sort()).toEqual(world.ids().sort());
});

test("a refresh forgets nothing while the service fails, refuses, or answers nonsense", async () => {
  const listings = { method: "GET", path: "/v2/instances", times: "always" } as const;
  const faults: (FaultScript & { says: RegExp })[] = [
    { ...listings, kind: "status", status: 400, says: /HTTP 400/ },
    { ...listings, path: "/v2/account", kind: "status", status: 401, says: /HTTP 401/ },
  ];
  await using world = await World.create({ program: oneInstance() });
  await world.stack.up();
  const before = await world.stack.instance();
  // However clear the service is that there is none.
  world.service.control.remove(before.id ?? "");

  for (const { says, ...fault } of faults) {
    const handle = world.service.control.fault(fault);
    const { code, output } = await world.stack.refresh();
    handle.remove();

    expect(output).toMatch(says);
    expect(output).toMatch(/request_id req_/);
    expect(code).not.toBe(0);
    expect(await world.stack.instance()).toMatchObject({ id: before.id, outputs: before.outputs });
  }
});
