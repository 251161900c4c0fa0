/**
 * The document of the Compute Instances Service, sentence by sentence, under its own headings. What it
 * says it does not show is not tested, unless that the emulator adds nothing there.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { call, canCreate, flavor, image, real, startService, vpc, type Service } from "./service";
import { startEmulator, type Emulator } from "../../emulator/index";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.emulator?.close();
});

/** A test of what cannot be provoked at the real service. */
function emulated(name: string, why: string, run: (emulator: Emulator) => Promise<void>): void {
  testUnless(real ? `at the real service, ${why}` : undefined, name, () =>
    run(service.emulator as Emulator),
  );
}

/** A test that makes an instance. */
function creating(name: string, run: () => Promise<void>): void {
  const lack = canCreate ? undefined : "needs COMPUTE_FLAVOR_ID, _IMAGE_ID and _VPC_ID";
  testUnless(lack, name, run);
}

const bearer = (token: string) => `Bearer ${token}`;
const get = (path: string, token = service.token) =>
  call(service.base, path, { authorization: bearer(token) });
const post = (body: unknown, token = service.token) =>
  call(service.base, "/instances", {
    method: "POST",
    authorization: bearer(token),
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

let made = 0;
const valid = (more: Record<string, unknown> = {}) => ({
  name: `contract-${String(Date.now())}-${String(++made)}`,
  flavor_id: flavor,
  image_id: image,
  vpc_id: vpc,
  ...more,
});

/** A tenant of its own at the emulator. */
const tenantToken = (tenant: string) => `sk_test_${tenant}_1`;

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const anItem = {
  id: expect.stringMatching(/./),
  name: expect.any(String),
  status: expect.stringMatching(/^(ACTIVE|OFFLINE|PROVISIONING)$/),
  ipv4_public: expect.stringMatching(ipv4),
};
const aNetwork = expect.objectContaining({
  type: expect.any(String),
  ipv4: expect.stringMatching(ipv4),
});
const acceptedBody = {
  id: expect.stringMatching(/./),
  name: expect.any(String),
  status: "PROVISIONING",
  // ISO 8601 in UTC.
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/),
  networks: expect.arrayContaining([aNetwork]),
};
const errorBody = {
  error: {
    code: expect.stringMatching(/./),
    message: expect.stringMatching(/./),
    doc_url: expect.stringMatching(/^https?:\/\/.+\/errors#.+$/),
    request_id: expect.stringMatching(/^req_.+/),
  },
};

interface List {
  object: unknown;
  data: { id: string; name: string; status: string; ipv4_public: string }[];
  has_more: unknown;
}
async function list(query = "", token = service.token): Promise<List> {
  const reply = await get(`/instances${query}`, token);
  expect(reply.status).toBe(200);
  return reply.body as List;
}
const names = ({ data }: List) => data.map(({ name }) => name);

describe("the suite itself", () => {
  test("never sends a POST with a live token", async () => {
    await expect(post(valid(), "sk_live_acme_1")).rejects.toThrow("live token");
  });
});

describe("What the service does", () => {
  test("responses are JSON", async () => {
    const reply = await get("/instances");
    expect(reply.contentType).toMatch(/^application\/json/);
  });

  test("the base address ends with the version segment, and paths are relative to it", () => {
    expect(service.base).toMatch(/\/v2$/);
  });

  emulated("a list has the caller's tenant only", "one token, one tenant", async (emulator) => {
    emulator.control.insert({ name: "of-red", tenant: "red" });
    emulator.control.insert({ name: "of-blue", tenant: "blue" });
    expect(names(await list("", tenantToken("red")))).toEqual(["of-red"]);
    expect(names(await list("", tenantToken("blue")))).toEqual(["of-blue"]);
  });

  emulated("only listing and provisioning are there", "it may well have more", async () => {
    const reply = await call(service.base, "/instances/i-1", {
      method: "DELETE",
      authorization: bearer(service.token),
    });
    expect(reply).toMatchObject({ status: 404, body: errorBody });
  });
});

describe("Resources and their fields", () => {
  emulated("and no others", "a field more breaks nobody", async () => {
    expect((await post(valid())).body).toEqual(acceptedBody);
  });

  creating("ids are assigned by the service, each its own", async () => {
    const first = await post(valid());
    const second = await post(valid({ id: "mine" }));
    const ids = [first, second].map(({ body }) => (body as { id: string }).id);
    expect(new Set([...ids, "mine"]).size).toBe(3);
  });

  creating("the name is the one that was asked for", async () => {
    const body = valid();
    expect((await post(body)).body).toMatchObject({ name: body.name });
  });

  emulated("a network has mac_address in one variant", "there is no choosing there", async () => {
    const { networks } = (await post(valid())).body as { networks: { mac_address: string }[] };
    expect(networks[0]?.mac_address).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i);
    await using other = await startEmulator({ macAddresses: false });
    const reply = await call(other.url, "/instances", {
      method: "POST",
      authorization: bearer(service.token),
      body: JSON.stringify(valid()),
    });
    expect((reply.body as { networks: unknown[] }).networks).toEqual([
      { type: expect.any(String), ipv4: expect.stringMatching(ipv4) },
    ]);
  });

  test("the list envelope has object, data and has_more", async () => {
    expect(await list()).toEqual({
      object: "list",
      data: expect.any(Array),
      has_more: expect.any(Boolean),
    });
  });

  test("the error envelope has one key, and in it code, message, doc_url and request_id", async () => {
    expect((await post({})).body).toEqual(errorBody);
  });

  test("each request has an identifier of its own", async () => {
    const replies = [await post({}), await post({})];
    const ids = replies.map(({ body }) => (body as typeof errorBody).error.request_id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("States and transitions", () => {
  emulated("and leaves it as time goes by", "time cannot be moved there", async () => {
    const token = tenantToken("transitions");
    await post(valid({ name: "moving" }), token);
    expect((await list("", token)).data).toMatchObject([{ status: "PROVISIONING" }]);
    service.clock.advance(11);
    expect((await list("", token)).data).toMatchObject([{ status: "ACTIVE" }]);
  });

  test.each(["ACTIVE", "OFFLINE", "PROVISIONING"])("the filter accepts %s", async (status) => {
    service.emulator?.control.insert({ name: `now-${status}`, tenant: "contract", status });
    for (const item of (await list(`?status=${status}`)).data) expect(item.status).toBe(status);
  });

  test.each(["RUNNING", "active", ""])("the filter does not accept %j", async (status) => {
    const reply = await get(`/instances?status=${status}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toEqual(errorBody);
  });
});

describe("GET /v2/account", () => {
  test("checks the account using the token", async () => {
    const good = await call(service.base, "/account", { authorization: bearer(service.token) });
    const bad = await call(service.base, "/account", { authorization: bearer("sk_nope_1") });
    expect([good.status, bad.status]).toEqual([200, 401]);
  });
});

describe("GET /v2/instances", () => {
  test("each item carries id, name, status and ipv4_public", async () => {
    service.emulator?.control.insert({ name: "listed", tenant: "contract" });
    for (const item of (await list()).data) expect(item).toEqual(expect.objectContaining(anItem));
  });

  emulated("and no other fields", "a field more breaks nobody", async (emulator) => {
    emulator.control.insert({ name: "exact", tenant: "exact" });
    expect((await list("", tenantToken("exact"))).data).toEqual([{ ...anItem, name: "exact" }]);
  });

  test.each([1, 2, 100])("limit may be %d, and no page is longer", async (limit) => {
    expect((await list(`?limit=${String(limit)}`)).data.length).toBeLessThanOrEqual(limit);
  });

  test.each(["0", "101", "-1", "1.5", "abc", ""])("limit may not be %j", async (limit) => {
    const reply = await get(`/instances?limit=${limit}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toEqual(errorBody);
  });

  test("a page has no more than 20 when no limit is given", async () => {
    expect((await list()).data.length).toBeLessThanOrEqual(20);
  });

  emulated("exactly 20, 1 or 100 of 101", "needs 101 instances", async (emulator) => {
    for (let n = 0; n < 101; n++)
      emulator.control.insert({ name: `n-${String(n)}`, tenant: "many" });
    const sizes = [];
    for (const query of ["", "?limit=1", "?limit=100"]) {
      const page = await list(query, tenantToken("many"));
      sizes.push([page.data.length, page.has_more]);
    }
    expect(sizes).toEqual([
      [20, true],
      [1, true],
      [100, true],
    ]);
  });

  emulated(
    "has_more is true just when there are more",
    "needs known instances",
    async (emulator) => {
      const token = tenantToken("pages");
      expect(await list("", token)).toMatchObject({ data: [], has_more: false });
      for (let n = 0; n < 3; n++)
        emulator.control.insert({ name: `p-${String(n)}`, tenant: "pages" });
      expect(await list("?limit=2", token)).toMatchObject({ has_more: true });
      expect(await list("?limit=3", token)).toMatchObject({ has_more: false });
    },
  );

  emulated("status filters by state, before the limit", "needs all states", async (emulator) => {
    const token = tenantToken("states");
    for (const status of ["ACTIVE", "OFFLINE", "PROVISIONING"])
      emulator.control.insert({ name: `is-${status}`, tenant: "states", status });
    for (const status of ["ACTIVE", "OFFLINE", "PROVISIONING"])
      expect(await list(`?status=${status}&limit=1`, token)).toMatchObject({
        data: [{ name: `is-${status}`, status }],
        has_more: false,
      });
  });

  emulated("no parameter is a cursor", "it may well have one", async (emulator) => {
    for (let n = 0; n < 3; n++)
      emulator.control.insert({ name: `c-${String(n)}`, tenant: "cursor" });
    const first = await list("?limit=1", tenantToken("cursor"));
    const id = first.data[0]?.id ?? "";
    for (const name of ["starting_after", "cursor", "after", "page", "offset"])
      expect(await list(`?limit=1&${name}=${id}`, tenantToken("cursor"))).toEqual(first);
  });

  creating("lists what was provisioned, under the same id and name", async () => {
    const token = real ? service.token : tenantToken("found");
    const made_ = (await post(valid(), token)).body as { id: string; name: string };
    const pages = await Promise.all(
      ["", "&status=ACTIVE", "&status=PROVISIONING"].map((more) =>
        list(`?limit=100${more}`, token),
      ),
    );
    const found = pages.flatMap(({ data }) => data).find(({ id }) => id === made_.id);
    expect(found).toMatchObject({ id: made_.id, name: made_.name });
  });
});

describe("POST /v2/instances", () => {
  creating("answers 202 with the required fields alone", async () => {
    expect(await post(valid())).toMatchObject({ status: 202, body: acceptedBody });
  });

  creating("takes ssh_keys and a Base64 user_data", async () => {
    const user_data = Buffer.from("#cloud-config\n").toString("base64");
    const ssh_keys = real ? [] : ["key-1", "SHA256:abc"];
    expect((await post(valid({ ssh_keys, user_data }))).status).toBe(202);
  });

  test.each(["name", "flavor_id", "image_id", "vpc_id"])(
    "without %s: 400 invalid_parameter, which names it",
    async (field) => {
      const reply = await post({ ...valid(), [field]: undefined });
      expect(reply).toMatchObject({ status: 400, body: errorBody });
      expect(reply.body).toMatchObject({
        error: { code: "invalid_parameter", message: expect.stringContaining(field) },
      });
    },
  );

  test.each(["{", '{"name": "a",}', "not json", ""])("malformed JSON %j: 400", async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: errorBody });
  });

  emulated("a refused request makes nothing", "others may create there", async (emulator) => {
    const before = emulator.control.instances().length;
    await post({ ...valid(), name: undefined });
    await post("{");
    expect(emulator.control.instances()).toHaveLength(before);
  });

  test.each([
    { name: 7 },
    { flavor_id: ["f"] },
    { ssh_keys: "key-1" },
    { ssh_keys: [1] },
    { user_data: {} },
  ])("a field of another type is refused: %j", async (wrong) => {
    const reply = await post({ ...valid(), ...wrong });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toEqual(errorBody);
  });

  test("user_data that is not Base64 is refused", async () => {
    const reply = await post(valid({ user_data: "#cloud-config: not base64!" }));
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
  });
});

describe("Authentication", () => {
  const endpoints = [
    ["GET", "/account"],
    ["GET", "/instances"],
    ["POST", "/instances"],
  ] as const;
  const ask = (method: string, path: string, authorization: string | undefined) =>
    call(service.base, path, {
      ...{ method, authorization },
      ...(method === "POST" && { body: "{}" }),
    });

  test.each(endpoints)("%s %s without a token: 401", async (method, path) => {
    expect(await ask(method, path, undefined)).toMatchObject({ status: 401, body: errorBody });
  });

  test.each(endpoints)("%s %s with an invalid token: 401", async (method, path) => {
    for (const authorization of ["Bearer nonsense", "Basic c2s6dGVzdA==", "Bearer"])
      expect(await ask(method, path, authorization)).toMatchObject({
        status: 401,
        body: errorBody,
      });
  });

  for (const state of ["revoked", "expired"])
    emulated(`a token that is ${state}: 401`, "there is no such token to try with", async () => {
      for (const [method, path] of endpoints)
        expect(await ask(method, path, `Bearer sk_test_${state}`)).toMatchObject({
          status: 401,
          body: errorBody,
        });
    });

  for (const [method, path] of endpoints)
    emulated(
      `${method} ${path} with a token that lacks the privilege: 403`,
      "there is no such token to try with",
      async () => {
        expect(await ask(method, path, "Bearer sk_test_nothing")).toMatchObject({
          status: 403,
          body: errorBody,
        });
      },
    );

  emulated("kinds are told apart by prefix", "there is no live token here", async (emulator) => {
    emulator.control.insert({ name: "production", tenant: "kinds", tokenKind: "live" });
    emulator.control.insert({ name: "sandbox", tenant: "kinds", tokenKind: "test" });
    expect(names(await list("", "sk_live_kinds_1"))).toEqual(["production"]);
    expect(names(await list("", "sk_test_kinds_1"))).toEqual(["sandbox"]);
    expect((await get("/account", "sk_other_kinds_1")).status).toBe(401);
  });

  emulated(
    "sandbox resources are ephemeral",
    "how long they live is not shown",
    async (emulator) => {
      emulator.control.insert({ name: "stays", tenant: "short", tokenKind: "live" });
      emulator.control.insert({ name: "goes", tenant: "short", tokenKind: "test" });
      expect(names(await list("", "sk_test_short_1"))).toEqual(["goes"]);
      service.clock.advance(25 * 60 * 60);
      expect(names(await list("", "sk_test_short_1"))).toEqual([]);
      expect(names(await list("", "sk_live_short_1"))).toEqual(["stays"]);
    },
  );
});

describe("Limits", () => {
  const endpoints = [
    ["GET", "/account"],
    ["GET", "/instances"],
    ["POST", "/instances"],
  ] as const;

  for (const [method, path] of endpoints)
    emulated(
      `1000 requests per minute to ${method} ${path}, then 429, and other endpoints go on`,
      "1001 requests are no way to treat it",
      async () => {
        const authorization = `Bearer sk_test_limit-${method}-${path.slice(1)}`;
        const ask = (to: readonly [method: string, path: string]) =>
          call(service.base, to[1], {
            ...{ method: to[0], authorization },
            ...(to[0] === "POST" && { body: "{}" }),
          });
        const first = await Promise.all(Array.from({ length: 1000 }, () => ask([method, path])));
        expect(first.filter(({ status }) => status === 429)).toHaveLength(0);
        expect(await ask([method, path])).toMatchObject({ status: 429, body: errorBody });
        for (const other of endpoints.filter(([m, p]) => m !== method || p !== path))
          expect((await ask(other)).status).not.toBe(429);
        service.clock.advance(61);
        expect((await ask([method, path])).status).not.toBe(429);
      },
    );
});

describe("Versioning", () => {
  emulated("the version is part of the path", "it may have other versions", async () => {
    for (const version of ["/v1", "/v3", ""])
      expect(
        await call(service.base.replace(/\/v2$/, version), "/instances", {
          authorization: bearer(service.token),
        }),
      ).toMatchObject({ status: 404, body: errorBody });
  });
});
