/** G3: nothing is forgotten on weak evidence. */
import { expect, test } from "@jest/globals";
import type { FaultScript } from "../../emulator";
import { expectKept, withOne } from "./support/one";
import { impatient, type Settings } from "./support/plugin";
import { inputs } from "./support/stack";
import { pause, until } from "./support/until";
import { withWorld } from "./support/world";

test("gone needs two complete listings, not one", async () => {
  await withOne(async (world) => {
    const [id = ""] = world.ids;
    world.service.control.fault({ kind: "omitItem", path: "/v2/instances" });
    let listings = world.listings;
    expect((await world.stack.refresh(await world.plugin())).did).toEqual(["read web"]);
    expect(world.listings - listings).toBe(2);
    world.service.control.remove(id);
    // Within the settling time after its create it is not gone, whatever the listings lack.
    await pause(700);
    listings = world.listings;
    expect((await world.stack.refresh(await world.plugin())).did).toEqual(["gone web"]);
    // More than two where the settling time of its creation is not over yet.
    expect(world.listings - listings).toBeGreaterThanOrEqual(2);
    expect(world.service.control.requests().at(-1)?.query).toEqual({ limit: "100" });
  });
});

test("absent from listings that are not complete: the state stays, and one warning says so", async () => {
  await withOne(async (world) => {
    const { id } = world.stack.held();
    world.crowd(120);
    world.service.control.fault({ kind: "omitItem", instance: id, times: "always" });
    const before = world.stack.held();
    const plugin = await world.plugin();
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(world.stack.held()).toEqual(before);
    const warnings = await plugin.allWarnings();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(new RegExp(`${id} is not in the listing, and is kept`));
  });
});

test("without a cursor, an instance among 120 is found by status; with one, the pages find it", async () => {
  await withOne(async (world) => {
    const { id } = world.stack.held();
    world.crowd(120);
    world.service.control.setStatus(id, "OFFLINE");
    let listings = world.listings;
    expect((await world.stack.refresh(await world.plugin())).did).toEqual(["read web"]);
    expect(world.stack.held().outputs).toMatchObject({ status: "OFFLINE" });
    expect(world.listings - listings).toBe(4);
    listings = world.listings;
    const plugin = await world.plugin({ cursorParameter: "starting_after" });
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(world.listings - listings).toBe(2);
    world.service.control.remove(id);
    const next = await world.plugin({ cursorParameter: "starting_after" });
    expect((await world.stack.refresh(next)).did).toEqual(["gone web"]);
  }, "starting_after");
});

test("a cursor that the service ignores is said to be, once, and proves nothing", async () => {
  await withOne(async (world) => {
    const { id } = world.stack.held();
    world.crowd(120);
    world.service.control.remove(id);
    const plugin = await world.plugin({ cursorParameter: "after" });
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    expect(world.stack.ids).toEqual([id]);
    const warnings = await plugin.allWarnings();
    expect(
      warnings.filter((text) => text.includes('compute:cursorParameter "after" (')),
    ).toHaveLength(1);
  });
});

test("has_more true for ever proves nothing, and ends", async () => {
  await withOne(async (world) => {
    world.service.control.fault({ kind: "hasMoreForever", times: "always" });
    world.service.control.remove(world.stack.held().id);
    for (const cursorParameter of ["starting_after", "ignored"]) {
      const plugin = await world.plugin({ cursorParameter });
      expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
    }
    expect(world.stack.ids).toHaveLength(1);
  }, "starting_after");
});

const faults: Record<string, [FaultScript, RegExp, Settings?]> = {
  "500": [{ kind: "status", status: 500 }, /HTTP 500.*request_id req_/],
  "503": [{ kind: "status", status: 503 }, /HTTP 503/],
  "401": [{ kind: "status", status: 401 }, /HTTP 401.*apiToken/],
  "403": [{ kind: "status", status: 403 }, /HTTP 403.*scope/],
  "404": [{ kind: "status", status: 404 }, /HTTP 404/],
  "a reset": [{ kind: "reset" }, /connection broke/],
  "no answer": [{ kind: "hang" }, /within 1 s/, impatient],
  "an empty body": [{ kind: "emptyBody" }, /body/],
  "a cut body": [{ kind: "cutBody" }, /broke|cut/],
  "a page": [{ kind: "html" }, /HTML/],
  "wrong types": [{ kind: "wrongTypes" }, /wrong or missing fields/],
  "an empty object": [{ kind: "body", text: "{}" }, /wrong or missing fields/],
  "no has_more": [{ kind: "body", text: '{"data":[]}' }, /has_more/],
  "a redirect elsewhere": [{ kind: "redirect", location: "http://127.0.0.1:9/v2" }, /redirected/],
};

test.concurrent.each(Object.keys(faults))(
  "%s while reading: Read fails, the state stays",
  async (what) => {
    await withOne(async (world) => {
      const [fault, message, settings = {}] = faults[what] ?? [];
      if (!fault || !message) throw new Error(what);
      world.service.control.fault({
        ...fault,
        path: "/v2/instances",
        method: "GET",
        times: "always",
      });
      await expectKept(world, settings, message);
    });
  },
);

test("a create just before is never judged by a listing that is older", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    await world.leaveUnfinished(await world.plugin(), { web: inputs() });
    world.service.control.fault({ kind: "appearsAfter", seconds: 0.3, method: "POST" });
    const plugin = await world.plugin();
    const running = world.stack.up(plugin, { web: inputs(), b: inputs() });
    await until(() => world.ids.length === 2);
    // Each a poll interval after the one before: so many are more than the instance is late.
    const before = world.listings;
    await until(() => world.listings >= before + 10);
    await plugin.client.cancel();
    const { failed } = await running;
    expect(
      Object.values(failed)
        .map(({ unfinished }) => unfinished?.id)
        .sort(),
    ).toEqual(world.ids.sort());
    for (const { message } of Object.values(failed)) expect(message).toMatch(/was canceled/);
    world.expectAllHeld();
  });
});
