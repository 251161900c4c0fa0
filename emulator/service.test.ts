/** Tests responses that the service's document does not show, and the DELETE extension. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator } from "./index";
import { caller } from "./testClient";

const errorEnvelope = {
  error: {
    code: expect.any(String),
    message: expect.any(String),
    doc_url: expect.stringMatching(/^https:\/\/docs\.compute\.example\/errors#./),
    request_id: expect.stringMatching(/^req_[0-9a-f]{24}$/),
  },
};

describe("not shown in the API document", () => {
  test("an unknown path is a 404, another method a 405 that lists the allowed ones", async () => {
    await using emulator = await startEmulator();
    const { ask } = caller(emulator);
    expect(await ask("GET", "/flavors")).toMatchObject({ status: 404, body: errorEnvelope });
    const reply = await ask("PUT", "/instances", {});
    expect(reply).toMatchObject({ status: 405, body: errorEnvelope });
    expect(reply.headers.get("allow")).toBe("GET, POST");
  });

  test("a body beyond 10 MiB is a 413", async () => {
    await using emulator = await startEmulator();
    const user_data = "A".repeat(10 * 1024 * 1024);
    expect(await caller(emulator).create("big", { user_data })).toMatchObject({
      status: 413,
      body: errorEnvelope,
    });
    expect(emulator.control.instances()).toEqual([]);
    const fits = user_data.slice(0, -1024);
    expect((await caller(emulator).create("fits", { user_data: fits })).status).toBe(202);
  });

  test("a POST without Content-Type: application/json is a 400", async () => {
    await using emulator = await startEmulator();
    const response = await fetch(`${emulator.url}/instances`, {
      method: "POST",
      headers: { Authorization: "Bearer sk_test_a", "Content-Type": "text/plain" },
      body: '{"name":"a","flavor_id":"f","image_id":"i","vpc_id":"v"}',
    });
    expect(response.status).toBe(400);
  });

  test.each(["null", "[]", '"text"', "7"])("a body of %s is a 400", async (body) => {
    await using emulator = await startEmulator();
    expect((await caller(emulator).ask("POST", "/instances", body)).status).toBe(400);
  });

  test("two instances may have the same name", async () => {
    await using emulator = await startEmulator();
    const replies = [await caller(emulator).create("twin"), await caller(emulator).create("twin")];
    expect(replies.map(({ status }) => status)).toEqual([202, 202]);
    expect(await caller(emulator).names()).toEqual(["twin", "twin"]);
  });

  test("tests can set the body of the account", async () => {
    await using emulator = await startEmulator();
    const { ask } = caller(emulator);
    emulator.control.setAccount({ json: { plan: "gold" } });
    expect((await ask("GET", "/account")).body).toEqual({ plan: "gold" });
    emulator.control.setAccount({ text: "" });
    expect(await ask("GET", "/account")).toMatchObject({ status: 200, text: "" });
    emulator.control.setAccount({ text: "fine, thanks", contentType: "text/plain" });
    const reply = await ask("GET", "/account");
    expect([reply.text, reply.headers.get("content-type")]).toEqual(["fine, thanks", "text/plain"]);
    emulator.control.setAccount(undefined);
    expect((await ask("GET", "/account")).body).toEqual({ id: "acct_acme", name: "acme" });
  });
});

describe("the DELETE extension", () => {
  const destroyPath = "/v2/instances/{id}";

  test("destroys the caller's instance, and no other", async () => {
    await using emulator = await startEmulator({ destroyPath });
    const mine = emulator.control.insert({ name: "mine", tenant: "acme" });
    const other = emulator.control.insert({ name: "other", tenant: "other" });
    const live = emulator.control.insert({ name: "live", tenant: "acme", tokenKind: "live" });
    const statuses = [];
    for (const { id } of [mine, mine, other, live])
      statuses.push((await caller(emulator).ask("DELETE", `/instances/${id}`)).status);
    expect(statuses).toEqual([204, 404, 404, 404]);
    expect(emulator.control.instances().map(({ name }) => name)).toEqual(["other", "live"]);
  });

  test("takes as long as the option says, and a second DELETE does not delay it", async () => {
    const clock = { time: 1_000, now: () => clock.time };
    await using emulator = await startEmulator({ clock, destroyPath, destroySeconds: 10 });
    const { id } = emulator.control.insert({ name: "a", tenant: "acme" });
    const { ask, names } = caller(emulator);
    expect((await ask("DELETE", `/instances/${id}`)).status).toBe(202);
    clock.time += 9_000;
    expect((await ask("DELETE", `/instances/${id}`)).status).toBe(202);
    expect(await names()).toEqual(["a"]);
    clock.time += 1_000;
    expect(await names()).toEqual([]);
  });

  test("needs a scope of its own", async () => {
    const tokens = { sk_test_a: { scopes: ["list", "create"] as const } };
    await using emulator = await startEmulator({ destroyPath, tokens });
    const { id } = emulator.control.insert({ name: "a" });
    const { ask } = caller(emulator, "sk_test_a");
    expect((await ask("DELETE", `/instances/${id}`)).status).toBe(403);
  });
});

test("a response that breaks the contract is reported as a bug of the emulator", async () => {
  const errors: string[] = [];
  await using emulator = await startEmulator({ errorLog: (line) => errors.push(line) });
  emulator.control.insert({ name: "without an id", id: "", tenant: "acme" });
  const reply = await caller(emulator).ask("GET", "/instances");
  expect(reply).toMatchObject({ status: 500, body: errorEnvelope });
  expect(errors).toEqual([expect.stringMatching(/breaks the contract: data\.0\.id/)]);
});
