/** A tenant with more instances than one page shows. */
import { expect, test } from "@jest/globals";
import { inputs, lasting } from "./support/stack";
import { withWorld } from "./support/world";

const cursor = { cursorParameter: "starting_after" };
const web = { web: inputs(), db: inputs() };

test.each(["oldest", "newest", "shuffled"] as const)(
  "a cursor that pages (%s first): each create ends ACTIVE, with its address",
  async (listOrder) => {
    await withWorld({ ...cursor, listOrder, provisioningSeconds: 0.3 }, async (world) => {
      world.crowd(230);
      const plugin = await world.plugin(cursor);
      expect((await world.stack.up(plugin, web)).failed).toEqual({});
      for (const name of ["web", "db"]) {
        const { id, outputs } = world.stack.held(name);
        const ipv4 = world.service.control.instance(id)?.ipv4_public;
        expect(outputs).toMatchObject({ status: "ACTIVE", ipv4 });
      }
      expect(await plugin.allWarnings()).toEqual([]);
      const before = world.stack.held();
      expect((await world.stack.refresh(await world.plugin(cursor))).failed).toEqual({});
      expect(lasting(world.stack.held())).toEqual(lasting(before));
      expect(world.posts).toBe(2);
    });
  },
);

test("without a cursor, an instance that no listing can show is done, with a warning and no address", async () => {
  const hiding = {
    listOrder: "oldest",
    provisioningSeconds: 0.3,
    ipv4WhilePending: false,
  } as const;
  await withWorld(hiding, async (world) => {
    world.crowd(120);
    const plugin = await world.plugin();
    expect((await world.stack.up(plugin, { web: inputs() })).failed).toEqual({});
    const { id, outputs } = world.stack.held();
    expect(outputs["ipv4"]).toBeUndefined();
    expect(outputs["networks"]).toHaveLength(1);
    expect(await plugin.warning(/its ipv4 is not known/)).toContain(id);
    expect((await world.stack.up(await world.plugin(), { web: inputs() })).did).toEqual([
      "same web",
    ]);
    await world.stack.refresh(await world.plugin());
    expect(world.stack.ids).toEqual([id]);
    expect(world.posts).toBe(1);
  });
});

test("without a cursor, newest first: each is seen all the same", async () => {
  await withWorld({ listOrder: "newest", provisioningSeconds: 0.3 }, async (world) => {
    world.crowd(120);
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    expect(world.stack.held().outputs["ipv4"]).toEqual(expect.any(String));
    expect(world.posts).toBe(2);
  });
});

test("a cursor that the service ignores: the creates end all the same, and it is said once", async () => {
  await withWorld({ listOrder: "newest", provisioningSeconds: 0.3 }, async (world) => {
    world.crowd(120);
    const plugin = await world.plugin(cursor);
    expect((await world.stack.up(plugin, web)).failed).toEqual({});
    const said = (await plugin.allWarnings()).filter((text) => text.includes("did not page"));
    expect(said).toHaveLength(1);
    expect(world.posts).toBe(2);
  });
});

test("an odd item never spoils the others, and nothing is proven gone beside it", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    const odd = [{ id: 7 }, null, "x", { name: "no id" }];
    const rewrite = (body: unknown) => {
      const list = body as { data: unknown[] };
      return { ...list, data: [...odd, ...list.data] };
    };
    control.fault({
      kind: "rewrite",
      rewrite,
      method: "GET",
      path: "/v2/instances",
      times: "always",
    });
    expect((await world.stack.up(await world.plugin(), web)).failed).toEqual({});
    control.remove(world.stack.held("db").id);
    await world.stack.refresh(await world.plugin());
    expect([...world.stack.resources.keys()].sort()).toEqual(["db", "web"]);
  });
});
