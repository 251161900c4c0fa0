/** Tests the control API, in the same process and over HTTP. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator } from "../index";
import { caller } from "../testClient";
import { ControlClient } from "./client";

describe("in the process", () => {
  test("instances can be inserted, renamed, moved to another status and removed", async () => {
    await using emulator = await startEmulator();
    const { control } = emulator;
    const { names, statuses } = caller(emulator);
    const { id } = control.insert({ name: "old", tenant: "acme", id: "i-known" });
    expect([id, await names()]).toEqual(["i-known", ["old"]]);
    control.rename(id, "new");
    expect(await names()).toEqual(["new"]);
    for (const status of ["OFFLINE", "PROVISIONING", "UNHEARD_OF", "ACTIVE"]) {
      control.setStatus(id, status);
      expect(await statuses()).toEqual([status]);
    }
    expect([control.remove(id), control.remove(id), await names()]).toEqual([true, false, []]);
    expect(control.insert({ name: "again", tenant: "acme", id })).toMatchObject({ id });
    expect(() => control.insert({ name: "twice", id })).toThrow(/already/);
  });

  test("instances show the body of their POST", async () => {
    await using emulator = await startEmulator();
    await caller(emulator).create("a", { ssh_keys: ["k"], user_data: "AAAA" });
    expect(emulator.control.instances()).toMatchObject([
      {
        ...{ name: "a", tenant: "acme", tokenKind: "test", status: "PROVISIONING" },
        request: { name: "a", flavor_id: "f", image_id: "i", vpc_id: "v", ssh_keys: ["k"] },
      },
    ]);
  });

  test("requests are logged and counted, without bodies", async () => {
    await using emulator = await startEmulator();
    await caller(emulator).create("a", { user_data: "AAAA" });
    await caller(emulator).ask("GET", "/instances?limit=5");
    expect(emulator.control.requests()).toMatchObject([
      { method: "POST", path: "/v2/instances", name: "a", status: 202, tokenKind: "test" },
      { method: "GET", query: { limit: "5" }, status: 200 },
    ]);
    expect(JSON.stringify(emulator.control.requests())).not.toContain("AAAA");
    expect(emulator.counts()).toEqual({ "POST /v2/instances": 1, "GET /v2/instances": 1 });
    emulator.control.forgetRequests();
    expect([emulator.counts(), emulator.control.requests()]).toEqual([{}, []]);
  });
});

describe("over HTTP", () => {
  test("everything that can be done in the process", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const remote = new ControlClient(emulator.url);
    const { ask, create, names, statuses } = caller(emulator);
    await create("made");
    const { id } = await remote.insert({ name: "inserted", tenant: "acme", status: "OFFLINE" });
    expect(await remote.instances()).toEqual(emulator.control.instances());
    await remote.settle();
    expect(await statuses()).toEqual(["ACTIVE", "OFFLINE"]);
    expect([await remote.rename(id, "x"), await remote.setStatus(id, "ACTIVE")]).toEqual([
      true,
      true,
    ]);
    expect([await names(), await statuses()]).toEqual([
      ["made", "x"],
      ["ACTIVE", "ACTIVE"],
    ]);
    expect([await remote.remove(id), await remote.remove(id)]).toEqual([true, false]);
    expect(await names()).toEqual(["made"]);

    await remote.declareToken("sk_test_acme_1", { state: "revoked" });
    expect((await ask("GET", "/account")).status).toBe(401);
    await remote.declareToken("sk_test_acme_1", {});
    await remote.setAccount({ text: "" });
    expect((await ask("GET", "/account")).text).toBe("");
    await remote.setAccount(undefined);
    expect((await ask("GET", "/account")).body).toHaveProperty("id");

    expect(await remote.counts()).toEqual(emulator.counts());
    expect((await remote.requests()).length).toBe(emulator.control.requests().length);
    await remote.forgetRequests();
    expect(emulator.counts()).toEqual({});
  });

  test("faults, their hits, their release", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const remote = new ControlClient(emulator.url);
    const { ask } = caller(emulator);
    const busy = await remote.fault({ kind: "status", status: 503, times: Infinity });
    for (let n = 0; n < 3; n++) expect((await ask("GET", "/account")).status).toBe(503);
    expect(await remote.faults()).toEqual([{ id: busy.id, kind: "status", hits: 3 }]);
    expect([await remote.removeFault(busy.id), await remote.removeFault(busy.id)]).toEqual([
      true,
      false,
    ]);
    const hanging = await remote.fault({ kind: "hang", path: "/v2/account" });
    const reply = ask("GET", "/account");
    await emulator.control.faults().find(({ id }) => id === hanging.id)?.firstHit;
    await remote.releaseFault(hanging.id);
    expect((await reply).status).toBe(200);
    await remote.clearFaults();
    expect(await remote.faults()).toEqual([]);
    await expect(remote.fault({ kind: "status", status: 1 })).rejects.toThrow(/400.*fault: /);
  });

  test("is off by default", async () => {
    await using emulator = await startEmulator();
    await expect(new ControlClient(emulator.url).instances()).rejects.toThrow(/401/);
  });

  test("is not counted, and refuses web pages", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const response = await fetch(`${emulator.origin}/control/instances`, {
      headers: { Origin: "https://elsewhere.example" },
    });
    expect(response.status).toBe(403);
    expect(emulator.counts()).toEqual({});
  });

  test("refuses an unknown route and a wrong body", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const send = (method: string, path: string, body?: string) =>
      fetch(`${emulator.origin}/control/${path}`, { method, ...(body && { body }) });
    expect((await send("GET", "nothing")).status).toBe(404);
    expect((await send("POST", "instances", "{}")).status).toBe(400);
    expect((await send("POST", "instances", "{")).status).toBe(400);
    expect((await send("DELETE", "instances/%zz")).status).toBe(404);
  });
});
