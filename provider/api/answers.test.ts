/** Tests how the client sends GET requests and reads their responses. */
import { expect, test } from "@jest/globals";
import type { Dispatcher } from "undici";
import { notNeeded } from "../abort";
import { unknownText } from "../pulumi/names";
import { VirtualClock } from "../testing/virtualClock";
import { answer, drip, flood, type Reaction } from "./testing/scriptedServer";
import {
  failureOf,
  never,
  requestTimeoutMs,
  selfMovingClock,
  testClient,
  testToken,
  times,
  withServer,
} from "./testing/testClient";

const list = "GET /v2/instances?limit=100";
const account = "GET /v2/account";

test("a page has its readable items, and the number of unreadable ones", async () => {
  const data = [
    { id: "a", name: "web", status: "ACTIVE", ipv4_public: "192.0.2.1", more: 1 },
    { id: "b", name: 7, status: null },
    { id: "empty", name: "", status: "", ipv4_public: "" },
    { name: "no id" },
    "odd",
    { id: "" },
    { id: "half a character \ud800" },
    { id: "c", name: "\ud800" },
  ];
  await withServer(
    [{ expect: list, react: answer(200, { object: "list", data, has_more: true }) }],
    async ({ baseUrl }) => {
      expect(await testClient(baseUrl).listPage({ limit: 100 }, never)).toEqual({
        items: [
          { id: "a", name: "web", status: "ACTIVE", ipv4_public: "192.0.2.1" },
          { id: "b", name: undefined, status: undefined, ipv4_public: undefined },
          { id: "empty", name: undefined, status: undefined, ipv4_public: undefined },
          { id: "c", name: "\ufffd", status: undefined, ipv4_public: undefined },
        ],
        hasMore: true,
        unreadable: 4,
      });
    },
  );
});

test("an address that stands for none is none", async () => {
  const listed = ["0.0.0.0", "::", "192.0.2.1/32"];
  const data = listed.map((ipv4_public, n) => ({ id: `i-${n}`, ipv4_public }));
  const react = answer(200, { object: "list", data, has_more: false });
  await withServer([{ expect: list, react }], async ({ baseUrl }) => {
    const { items } = await testClient(baseUrl).listPage({ limit: 100 }, never);
    const shown = items.map((item) => item.ipv4_public);
    expect(shown).toEqual([undefined, undefined, "192.0.2.1/32"]);
  });
});

test("a listing shows no token, and an item whose id contains it is not read (G8)", async () => {
  const escaped = testToken.replaceAll("_", "\\u005f");
  const body = `{ "data": [
    { "id": "a", "name": "web ${testToken}", "status": "${escaped}" },
    { "id": "b-${testToken}" }, { "id": "c-${escaped}" }
  ], "has_more": false }`;
  const react = answer(200, body, { "content-type": "application/json" });
  await withServer([{ expect: list, react }], async ({ baseUrl }) => {
    const page = await testClient(baseUrl).listPage({ limit: 100 }, never);
    const mark = "[secret]";
    expect(page.items).toEqual([{ id: "a", name: `web ${mark}`, status: mark }]);
    expect(page.unreadable).toBe(2);
  });
});

test("a listing's strings become one printable line; an item whose id is not printable, or is Pulumi's unknown value, is not read (G8)", async () => {
  const unreadableIds = ["\u001b[31mb", "b\u202e", "b\n", "\u2066b", "\tb", "b\u2028", unknownText];
  const data = [
    { id: "a", name: "we\u001b[2Jb", status: "ACT\u202eIVE", ipv4_public: "192.0.2.1\nforged" },
    ...unreadableIds.map((id) => ({ id })),
  ];
  await withServer(
    [{ expect: list, react: answer(200, { data, has_more: false }) }],
    async ({ baseUrl }) => {
      expect(await testClient(baseUrl).listPage({ limit: 100 }, never)).toEqual({
        items: [{ id: "a", name: "we[2Jb", status: "ACTIVE", ipv4_public: "192.0.2.1 forged" }],
        hasMore: false,
        unreadable: unreadableIds.length,
      });
    },
  );
});

test("limit, status and cursor are in the query, and the path begins with the base address's prefix", async () => {
  const expected = "GET /cloud/eu/v2/instances?limit=7&status=ACTIVE&starting_after=a%26b";
  await withServer(
    [{ expect: expected, react: answer(200, { data: [], has_more: false }) }],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl.replace(/\/v2$/, "/cloud/eu/v2"));
      const cursor = { parameter: "starting_after", value: "a&b" };
      await client.listPage({ limit: 7, status: "ACTIVE", cursor }, never);
    },
  );
});

test("each request carries the token and the user agent, and GETs share a connection", async () => {
  const page = answer(200, { data: [], has_more: false });
  await withServer(times(2, { expect: list, react: page }), async ({ baseUrl, seen }) => {
    const client = testClient(baseUrl);
    await client.listPage({ limit: 100 }, never);
    await new Promise(setImmediate);
    await client.listPage({ limit: 100 }, never);
    expect(seen.map(({ connection }) => connection)).toEqual([1, 1]);
    for (const { headers } of seen) {
      expect(headers).toMatchObject({
        authorization: "Bearer sk_test_canary_4f1d",
        "user-agent": "pulumi-compute/0.0.0",
      });
    }
    await client.close();
  });
});

test.each([
  ["JSON", '{"plan":"pro"}', { plan: "pro" }],
  ["nothing", "", undefined],
  ["text", "hello\u001b[31m\n", "hello[31m"],
])("an account response with %s is accepted", async (_, body, expected) => {
  await withServer([{ expect: account, react: answer(200, body) }], async ({ baseUrl }) => {
    expect(await testClient(baseUrl).account(never)).toEqual(expected);
  });
});

const unreadable: [string, Reaction, RegExp][] = [
  ["no JSON", answer(200, "oops"), /is not JSON/],
  ["an HTML page", answer(200, "<!doctype html><p>Sign in"), /an HTML page/],
  ["nothing", answer(200), /is empty/],
  ["has_more as a string", answer(200, { data: [], has_more: "no" }), /fields: has_more \(/],
  ["data that is not an array", answer(200, { data: {}, has_more: false }), /fields: data \(/],
  ["null", answer(200, "null"), /the answer as a whole/],
];
test.each(unreadable)("a listing answered with %s is unreadable", async (_, react, problem) => {
  await withServer([{ expect: list, react }], async ({ baseUrl }) => {
    const failure = await failureOf(testClient(baseUrl).listPage({ limit: 100 }, never));
    expect(failure).toMatchObject({ kind: "unreadable", status: 200, path: "/v2/instances" });
    expect(failure.message).toMatch(problem);
  });
});

test("one item whose id is a number does not hide the others", async () => {
  const react = answer(200, { data: [{ id: 7 }, { id: "a" }], has_more: false });
  await withServer([{ expect: list, react }], async ({ baseUrl }) => {
    expect(await testClient(baseUrl).listPage({ limit: 100 }, never)).toMatchObject({
      items: [{ id: "a" }],
      unreadable: 1,
    });
  });
});

test("a response of 100 MiB fails, because it is longer than the client reads", async () => {
  await withServer([{ expect: account, react: flood(200, 100) }], async (server) => {
    const failure = await failureOf(testClient(server.baseUrl).account(never));
    expect(failure).toMatchObject({ kind: "unreadable", status: 200 });
    expect(failure.message).toMatch(/the answer is longer than 8 MiB/);
  });
});

test("a slow drip of bytes does not put off the time-out of the whole request", async () => {
  await withServer([{ expect: account, react: drip(200) }], async (server) => {
    const clock = selfMovingClock();
    const failure = failureOf(testClient(server.baseUrl, { clock }).account(never));
    await server.received(1);
    await clock.advance(requestTimeoutMs);
    expect(await failure).toMatchObject({ kind: "unanswered", status: 200 });
    expect((await failure).message).toMatch(
      /no complete answer from 127\.0\.0\.1:\d+ within 3600 s/,
    );
  });
});

test.each(["the time-out", "its cancellation", "a response that is too long"])(
  "a GET that ends by %s is aborted, because undici would keep its connection for the response",
  async (end) => {
    let handler: Dispatcher.DispatchHandler | undefined;
    const dispatch = (_: unknown, given: typeof handler) => Boolean((handler = given));
    // Of undici, only what a request calls.
    const createDispatcher = () => ({ dispatch }) as unknown as Dispatcher;
    const clock = new VirtualClock();
    const cancellation = new AbortController();
    const client = testClient("https://compute.test/v2", { createDispatcher, clock });
    const ended = client.account(cancellation.signal).catch(() => undefined);
    await new Promise(setImmediate);
    const aborts: unknown[] = [];
    const controller = { abort: (reason: unknown) => aborts.push(reason) } as never;
    handler?.onRequestStart?.(controller, {});
    handler?.onResponseStart?.(controller, 200, {}, "OK");
    expect(aborts).toEqual([]);

    if (end === "the time-out") await clock.advance(requestTimeoutMs);
    else if (end === "its cancellation") cancellation.abort(new Error("cancelled"));
    else handler?.onResponseData?.(controller, Buffer.alloc(9 * 1024 * 1024));

    expect(aborts).toEqual([notNeeded]);
    // The next try waits on the clock, which stands still.
    cancellation.abort(new Error("cancelled"));
    await ended;
  },
);

test("a __proto__ key in a response changes no prototype", async () => {
  const body = '{"__proto__":{"admin":true},"plan":{"\\u005f_proto__":{"admin":true},"id":1}}';
  await withServer([{ expect: account, react: answer(200, body) }], async ({ baseUrl }) => {
    const details = await testClient(baseUrl).account(never);
    expect(Object.assign({}, details)).toEqual({ plan: { id: 1 } });
    expect(Object.keys(details as object)).toEqual(["plan"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});
