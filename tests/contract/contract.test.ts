/**
 * Tests the service's API document sentence by sentence, under the document's headings, with the emulator or the real
 * service (serviceUnderTest.ts). What the document leaves open is tested only with the emulator, which must add nothing there.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import {
  call,
  canCreate,
  flavor,
  image,
  real,
  startService,
  vpc,
  type Reply,
  type Service,
} from "./serviceUnderTest";
import { startEmulator, type Emulator } from "../../emulator/index";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.emulator?.close();
});

/** Declares a test that can run only with the emulator. `why` says why. */
function emulated(name: string, why: string, run: (emulator: Emulator) => Promise<void>): void {
  testUnless(real ? `with the real service, ${why}` : undefined, name, () =>
    run(service.emulator as Emulator),
  );
}

/** Declares a test that creates an instance. */
function creating(name: string, run: () => Promise<void>): void {
  const reason = canCreate ? undefined : "needs COMPUTE_FLAVOR_ID, _IMAGE_ID and _VPC_ID";
  testUnless(reason, name, run);
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

const endpoints = [
  ["GET", "/account"],
  ["GET", "/instances"],
  ["POST", "/instances"],
] as const;
const ask = (method: string, path: string, authorization: string | undefined) =>
  call(service.base, path, { method, authorization, ...(method === "POST" && { body: "{}" }) });

let made = 0;
const valid = (more: Record<string, unknown> = {}) => ({
  name: `contract-${Date.now()}-${++made}`,
  flavor_id: flavor,
  image_id: image,
  vpc_id: vpc,
  ...more,
});

/** Returns the token of a separate tenant in the emulator. */
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

function expectRefused({ status, body }: Reply): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(body).toEqual(errorBody);
}

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

describe("this test suite", () => {
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

  emulated(
    "a list has only the instances of the caller's tenant",
    "there is only one tenant",
    async (emulator) => {
      emulator.control.insert({ name: "of-red", tenant: "red" });
      emulator.control.insert({ name: "of-blue", tenant: "blue" });
      expect(names(await list("", tenantToken("red")))).toEqual(["of-red"]);
      expect(names(await list("", tenantToken("blue")))).toEqual(["of-blue"]);
    },
  );

  emulated("only the calls to list and to provision exist", "there may be more calls", async () => {
    const reply = await call(service.base, "/instances/i-1", {
      method: "DELETE",
      authorization: bearer(service.token),
    });
    expect(reply).toMatchObject({ status: 404, body: errorBody });
  });
});

describe("Resources and their fields", () => {
  emulated(
    "a created instance has only the documented fields",
    "there may be more fields",
    async () => {
      expect((await post(valid())).body).toEqual(acceptedBody);
    },
  );

  creating("the service assigns a different id to each instance", async () => {
    const first = await post(valid());
    const second = await post(valid({ id: "mine" }));
    const ids = [first, second].map(({ body }) => (body as { id: string }).id);
    expect(new Set([...ids, "mine"]).size).toBe(3);
  });

  creating("the instance has the requested name", async () => {
    const body = valid();
    expect((await post(body)).body).toMatchObject({ name: body.name });
  });

  emulated("a network has a mac_address or not", "the variant can't be chosen", async () => {
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

  test("the error envelope has the key error with code, message, doc_url and request_id", async () => {
    expect((await post({})).body).toEqual(errorBody);
  });

  test("each request has a different request_id", async () => {
    const replies = [await post({}), await post({})];
    const ids = replies.map(({ body }) => (body as typeof errorBody).error.request_id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("States and transitions", () => {
  emulated(
    "an instance leaves PROVISIONING after some time",
    "the clock can't be advanced",
    async () => {
      const token = tenantToken("transitions");
      await post(valid({ name: "moving" }), token);
      expect((await list("", token)).data).toMatchObject([{ status: "PROVISIONING" }]);
      service.clock.advance(11);
      expect((await list("", token)).data).toMatchObject([{ status: "ACTIVE" }]);
    },
  );

  test.each(["ACTIVE", "OFFLINE", "PROVISIONING"])("the filter accepts %s", async (status) => {
    service.emulator?.control.insert({ name: `now-${status}`, tenant: "contract", status });
    for (const item of (await list(`?status=${status}`)).data) expect(item.status).toBe(status);
  });

  test.each(["RUNNING", "active", ""])("the filter does not accept %j", async (status) => {
    expectRefused(await get(`/instances?status=${status}`));
  });
});

describe("GET /v2/account", () => {
  test("answers 200 for a valid token", async () => {
    expect((await get("/account")).status).toBe(200);
  });
});

describe("GET /v2/instances", () => {
  test("each item has id, name, status and ipv4_public", async () => {
    service.emulator?.control.insert({ name: "listed", tenant: "contract" });
    const { data } = await list();
    if (!real) expect(data).not.toEqual([]);
    for (const item of data) expect(item).toEqual(expect.objectContaining(anItem));
  });

  emulated("an item has no other fields", "there may be more fields", async (emulator) => {
    emulator.control.insert({ name: "exact", tenant: "exact" });
    expect((await list("", tenantToken("exact"))).data).toEqual([{ ...anItem, name: "exact" }]);
  });

  test.each([1, 2, 100])("with limit %d, a page has no more items than that", async (limit) => {
    expect((await list(`?limit=${limit}`)).data.length).toBeLessThanOrEqual(limit);
  });

  test.each(["0", "101", "-1", "1.5", "abc", ""])("limit %j is refused", async (limit) => {
    expectRefused(await get(`/instances?limit=${limit}`));
  });

  emulated(
    "of 101 instances, a page has 20 by default, or 1 or 100 by limit",
    "it needs 101 instances",
    async (emulator) => {
      for (let n = 0; n < 101; n++) emulator.control.insert({ name: `n-${n}`, tenant: "many" });
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
    },
  );

  emulated(
    "has_more is true exactly if there are more instances",
    "the instances are not known",
    async (emulator) => {
      const token = tenantToken("pages");
      expect(await list("", token)).toMatchObject({ data: [], has_more: false });
      for (let n = 0; n < 3; n++) emulator.control.insert({ name: `p-${n}`, tenant: "pages" });
      expect(await list("?limit=2", token)).toMatchObject({ has_more: true });
      expect(await list("?limit=3", token)).toMatchObject({ has_more: false });
    },
  );

  emulated(
    "status filters the list before the limit is applied",
    "it needs an instance in each state",
    async (emulator) => {
      const token = tenantToken("states");
      for (const status of ["ACTIVE", "OFFLINE", "PROVISIONING"])
        emulator.control.insert({ name: `is-${status}`, tenant: "states", status });
      for (const status of ["ACTIVE", "OFFLINE", "PROVISIONING"])
        expect(await list(`?status=${status}&limit=1`, token)).toMatchObject({
          data: [{ name: `is-${status}`, status }],
          has_more: false,
        });
    },
  );

  emulated("no parameter is a cursor", "there may be a cursor", async (emulator) => {
    for (let n = 0; n < 3; n++) emulator.control.insert({ name: `c-${n}`, tenant: "cursor" });
    const first = await list("?limit=1", tenantToken("cursor"));
    const id = first.data[0]?.id ?? "";
    for (const name of ["starting_after", "cursor", "after", "page", "offset"])
      expect(await list(`?limit=1&${name}=${id}`, tenantToken("cursor"))).toEqual(first);
  });

  creating("a created instance is listed with the same id and name", async () => {
    const token = real ? service.token : tenantToken("found");
    const created = (await post(valid(), token)).body as { id: string; name: string };
    const pages = await Promise.all(
      ["", "&status=ACTIVE", "&status=PROVISIONING"].map((more) =>
        list(`?limit=100${more}`, token),
      ),
    );
    const found = pages.flatMap(({ data }) => data).find(({ id }) => id === created.id);
    expect(found).toMatchObject({ id: created.id, name: created.name });
  });
});

describe("POST /v2/instances", () => {
  creating("a request with only the required fields gets a 202", async () => {
    expect(await post(valid())).toMatchObject({ status: 202, body: acceptedBody });
  });

  creating("ssh_keys and user_data in Base64 are accepted", async () => {
    const user_data = Buffer.from("#cloud-config\n").toString("base64");
    const ssh_keys = real ? [] : ["key-1", "SHA256:abc"];
    expect((await post(valid({ ssh_keys, user_data }))).status).toBe(202);
  });

  test.each(["name", "flavor_id", "image_id", "vpc_id"])(
    "a request without %s gets a 400 invalid_parameter that names it",
    async (field) => {
      const reply = await post({ ...valid(), [field]: undefined });
      expect(reply).toMatchObject({ status: 400, body: errorBody });
      expect(reply.body).toMatchObject({
        error: { code: "invalid_parameter", message: expect.stringContaining(field) },
      });
    },
  );

  test.each(["{", '{"name": "a",}', "not json", ""])(
    "the malformed JSON %j gets a 400",
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400, body: errorBody });
    },
  );

  emulated(
    "a refused request creates nothing",
    "other clients may create instances",
    async (emulator) => {
      const before = emulator.control.instances().length;
      await post({ ...valid(), name: undefined });
      await post("{");
      expect(emulator.control.instances()).toHaveLength(before);
    },
  );

  test.each([
    { name: 7 },
    { flavor_id: ["f"] },
    { ssh_keys: "key-1" },
    { ssh_keys: [1] },
    { user_data: {} },
  ])("a field of a wrong type is refused: %j", async (wrong) => {
    expectRefused(await post({ ...valid(), ...wrong }));
  });

  test("user_data that is not Base64 is refused", async () => {
    expectRefused(await post(valid({ user_data: "#cloud-config: not base64!" })));
  });
});

describe("Authentication", () => {
  test.each(endpoints)("%s %s without a token gets a 401", async (method, path) => {
    expect(await ask(method, path, undefined)).toMatchObject({ status: 401, body: errorBody });
  });

  test.each(endpoints)("%s %s with an invalid token gets a 401", async (method, path) => {
    for (const authorization of ["Bearer nonsense", "Basic c2s6dGVzdA==", "Bearer"])
      expect(await ask(method, path, authorization)).toMatchObject({
        status: 401,
        body: errorBody,
      });
  });

  for (const state of ["revoked", "expired"])
    emulated(`a token that is ${state} gets a 401`, "there is no such token", async () => {
      for (const [method, path] of endpoints)
        expect(await ask(method, path, `Bearer sk_test_${state}`)).toMatchObject({
          status: 401,
          body: errorBody,
        });
    });

  for (const [method, path] of endpoints)
    emulated(
      `${method} ${path} with a token that lacks the privilege gets a 403`,
      "there is no such token",
      async () => {
        expect(await ask(method, path, "Bearer sk_test_nothing")).toMatchObject({
          status: 403,
          body: errorBody,
        });
      },
    );

  emulated("the prefix of a token is its kind", "a live token is never used", async (emulator) => {
    emulator.control.insert({ name: "production", tenant: "kinds", tokenKind: "live" });
    emulator.control.insert({ name: "sandbox", tenant: "kinds", tokenKind: "test" });
    expect(names(await list("", "sk_live_kinds_1"))).toEqual(["production"]);
    expect(names(await list("", "sk_test_kinds_1"))).toEqual(["sandbox"]);
    expect((await get("/account", "sk_other_kinds_1")).status).toBe(401);
  });

  emulated(
    "sandbox instances disappear after some time",
    "the document does not say when",
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
  for (const [method, path] of endpoints)
    emulated(
      `after 1000 requests in a minute, ${method} ${path} answers 429, and other endpoints still answer`,
      "1001 requests would be an abuse",
      async () => {
        const authorization = `Bearer sk_test_limit-${method}-${path.slice(1)}`;
        const askThis = () => ask(method, path, authorization);
        // A thousand connections at once would be too many for some machines.
        for (let sent = 0; sent < 1000; sent += 50) {
          const answers = await Promise.all(Array.from({ length: 50 }, askThis));
          expect(answers.filter(({ status }) => status === 429)).toHaveLength(0);
        }
        expect(await askThis()).toMatchObject({ status: 429, body: errorBody });
        for (const [m, p] of endpoints.filter(([m, p]) => m !== method || p !== path))
          expect((await ask(m, p, authorization)).status).not.toBe(429);
        service.clock.advance(61);
        expect((await askThis()).status).not.toBe(429);
      },
    );
});

describe("Versioning", () => {
  emulated("the path contains the version", "there may be other versions", async () => {
    for (const version of ["/v1", "/v3", ""])
      expect(
        await call(service.base.replace(/\/v2$/, version), "/instances", {
          authorization: bearer(service.token),
        }),
      ).toMatchObject({ status: 404, body: errorBody });
  });
});
