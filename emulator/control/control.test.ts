/** Tests the control API, in the same process and over HTTP. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator, type Emulator } from "../index";
import { caller } from "../testClient";

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
        name: "a",
        tenant: "acme",
        tokenKind: "test",
        status: "PROVISIONING",
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
    expect(emulator.control.counts()).toEqual({ "POST /v2/instances": 1, "GET /v2/instances": 1 });
  });
});

describe("over HTTP", () => {
  test("instances, requests and faults", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const { control } = emulator;
    const { ask, create } = caller(emulator);
    const send = remote(emulator);
    await create("made");
    const inserted = { name: "inserted", tenant: "acme", status: "OFFLINE" };
    const { id } = (await send("POST", "instances", inserted)).body as { id: string };
    await send("POST", "finish-provisioning");
    expect((await send("GET", "instances")).body).toEqual(control.instances());
    expect(control.instances()).toMatchObject([{ status: "ACTIVE" }, inserted]);
    const change = { name: "x", status: "ACTIVE" };
    expect((await send("PATCH", `instances/${id}`, change)).status).toBe(200);
    expect(control.instance(id)).toMatchObject(change);
    expect((await send("DELETE", `instances/${id}`)).status).toBe(200);
    expect((await send("DELETE", `instances/${id}`)).status).toBe(404);

    expect((await send("GET", "requests")).body).toHaveLength(control.requests().length);
    await send("DELETE", "requests");
    expect(emulator.control.counts()).toEqual({});

    const busy = (await send("POST", "faults", { kind: "status", status: 503, times: "always" }))
      .body as { id: number };
    for (let n = 0; n < 3; n++) expect((await ask("GET", "/account")).status).toBe(503);
    expect((await send("GET", "faults")).body).toEqual([{ id: busy.id, kind: "status", hits: 3 }]);
    expect((await send("DELETE", `faults/${busy.id}`)).status).toBe(200);
    expect((await send("DELETE", `faults/${busy.id}`)).status).toBe(404);
    control.fault({ kind: "status", status: 503 });
    await send("DELETE", "faults");
    expect(control.faults()).toEqual([]);
  });

  test.each([
    ["GET", "nothing", undefined, 404],
    ["DELETE", "instances/%zz", undefined, 404],
    ["POST", "instances", {}, 400],
    ["POST", "instances", "{", 400],
    ["POST", "faults", { kind: "status", status: 1 }, 400],
  ] as const)("refuses %s %s %j with %d", async (method, path, body, status) => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    expect((await remote(emulator)(method, path, body)).status).toBe(status);
  });
});

/** Returns a function that calls the control API over HTTP. */
function remote({ origin }: Emulator) {
  return async (method: string, path: string, body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, ...(body !== undefined && { body: text }) };
    const response = await fetch(`${origin}/control/${path}`, init);
    return { status: response.status, body: await response.json() };
  };
}
