/** Tests the outcome of a create request for each response, failure and cancellation. */
import { expect, test } from "@jest/globals";
import { Agent, type Dispatcher } from "undici";
import { VirtualClock } from "../testing/virtualClock";
import { answer, close, cut, hang, raw, reset, type Reaction } from "./testing/scriptedServer";
import {
  create,
  createBody,
  failedPost,
  never,
  permitOf,
  requestTimeoutMs,
  testClient,
  withServer,
} from "./testing/testClient";

const post = "POST /v2/instances";
const envelope = { error: { code: "invalid_parameter", message: "no" } };
const accepted = {
  id: "i-1",
  name: "web",
  status: "PROVISIONING",
  created_at: "2026-01-01T00:00:00Z",
  networks: [{ type: "private", ipv4: "10.0.0.2", mac_address: "02:00:00:00:00:01" }],
};

test("the body is sent as JSON, the outcome has the fields of the 202, and no timer is left", async () => {
  await withServer([{ expect: post, react: answer(202, accepted) }], async ({ baseUrl, seen }) => {
    const { created_at: createdAt, ...rest } = accepted;
    const clock = new VirtualClock();
    expect(await create(testClient(baseUrl, { clock }))).toEqual({
      kind: "accepted",
      accepted: { ...rest, createdAt },
    });
    expect(clock.sleeping).toBe(0);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual(createBody);
    expect(seen[0]?.headers["content-type"]).toBe("application/json");
  });
});

test.each([200, 201, 202])(
  "a %i with an id is accepted even if other fields are malformed",
  async (status) => {
    const networks = [7, { type: "private", ipv4: false }, {}];
    await withServer(
      [{ expect: post, react: answer(status, { id: "i-1", name: 1, networks }) }],
      async ({ baseUrl }) => {
        expect(await create(testClient(baseUrl))).toMatchObject({
          kind: "accepted",
          accepted: { id: "i-1", networks: [{ type: "private" }] },
        });
      },
    );
  },
);

test("control characters are removed from the 202's strings, and an id that has control characters is not read (G8)", async () => {
  const withControls = { ...accepted, name: "\u001b[2Jweb", networks: [{ type: "pri\u202evate" }] };
  await withServer(
    [
      { expect: post, react: answer(202, withControls) },
      { expect: post, react: answer(202, { ...withControls, id: "i-1\u001b[2J" }) },
    ],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      expect(await create(client)).toMatchObject({
        accepted: { name: "[2Jweb", networks: [{ type: "private" }] },
      });
      const failure = await failedPost(create(client));
      expect(failure).toMatchObject({ kind: "unreadable" });
      expect(failure.message).toContain("wrong or missing fields: id");
    },
  );
});

test("every POST opens a connection of its own, even if there is an idle one (G2)", async () => {
  await withServer(
    [
      { expect: "GET /v2/account", react: answer(200) },
      { expect: post, react: answer(202, accepted) },
      { expect: post, react: answer(202, accepted) },
      { expect: "GET /v2/account", react: answer(200) },
    ],
    async ({ baseUrl, seen }) => {
      const dispatchers: Agent[] = [];
      const createDispatcher = () => dispatchers[dispatchers.push(new Agent()) - 1] as Agent;
      const client = testClient(baseUrl, { createDispatcher });
      await client.account(never);
      await create(client);
      await create(client);
      await client.account(never);
      expect(seen.map(({ connection }) => connection)).toEqual([1, 2, 3, 1]);
      expect(seen[1]?.headers["connection"]).toBe("close");
      expect(dispatchers.map(({ destroyed }) => destroyed)).toEqual([false, true, true]);
    },
  );
});

const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const unclear: [string, Reaction, string, number | undefined][] = [
  ["a reset", reset, "unanswered", undefined],
  ["a connection closed without a response", close, "unanswered", undefined],
  ["a cut 202", cut(202, '{"id":"i-1"}'), "unanswered", 202],
  ["a cut chunk", raw(`${chunked}10\r\n{}`), "unanswered", 200],
  ["a cut 400", cut(400, JSON.stringify(envelope)), "unanswered", 400],
  ["no HTTP", raw("hello\r\n\r\n"), "unanswered", undefined],
  ["a 202 without JSON", answer(202, "<html>ok</html>"), "unreadable", 202],
  ["a 202 without an id", answer(202, { name: "web" }), "unreadable", 202],
  ["a 202 with an empty id", answer(202, { id: "" }), "unreadable", 202],
  ["a 202 whose id is a number", answer(202, { id: 4711 }), "unreadable", 202],
  ["a 500", answer(500, envelope), "answered", 500],
  ["a 404 from a gateway", answer(404, "<html>no route</html>"), "answered", 404],
  ["a 403 in other JSON", answer(403, { message: "no" }), "answered", 403],
  ["an empty envelope", answer(400, { error: {} }), "answered", 400],
];
test.each(unclear)(
  "after %s the outcome is unclear, and no second POST follows (G2)",
  async (_, react, kind, status) => {
    await withServer([{ expect: post, react }], async ({ baseUrl }) => {
      const outcome = await create(testClient(baseUrl));
      expect(outcome).toMatchObject({ kind: "unclear", failure: { kind, status } });
    });
  },
);

test("a POST that is not answered in time is unclear, and not repeated (G2)", async () => {
  await withServer([{ expect: post, react: hang }], async (server) => {
    const clock = new VirtualClock();
    const outcome = create(testClient(server.baseUrl, { clock }));
    await server.received(1);
    await clock.advance(requestTimeoutMs);
    expect(await outcome).toMatchObject({ kind: "unclear", failure: { kind: "unanswered" } });
    expect((await failedPost(outcome)).message).toMatch(/no answer from .* within/);
  });
});

test("after a refused connection the outcome is `notSent`, without a retry", async () => {
  const baseUrl = await withServer([], async (stopped) => stopped.baseUrl);
  const clock = new VirtualClock();
  const outcome = create(testClient(baseUrl, { clock }));
  expect(await outcome).toMatchObject({
    kind: "notSent",
    failure: { kind: "unreachable", status: undefined, lasting: false },
  });
  expect((await failedPost(outcome)).message).toMatch(/connection refused \(127\.0\.0\.1:\d+\)/);
  expect(clock.now()).toBe(0);
});

test("the outcome of a 429 is `rateLimited`, and the next permit is held back (G6)", async () => {
  const clock = new VirtualClock();
  await withServer(
    [
      { expect: post, react: answer(429) },
      { expect: post, react: answer(202, accepted) },
    ],
    async ({ baseUrl, seen }) => {
      const client = testClient(baseUrl, { clock });
      expect(await create(client)).toMatchObject({
        kind: "rateLimited",
        failure: { status: 429 },
      });
      const second = create(client);
      await clock.advance(999);
      expect(seen).toHaveLength(1);
      await clock.advance(1);
      expect(await second).toMatchObject({ kind: "accepted" });
    },
  );
});

test("a POST that is cancelled before it is sent makes no connection and does not count", async () => {
  await withServer([], async (server) => {
    const reason = new Error("cancelled");
    const client = testClient(server.baseUrl, { requestsPerMinute: 1 });
    for (const signals of [
      { unsent: AbortSignal.abort(reason), grace: never },
      { unsent: never, grace: AbortSignal.abort(reason) },
    ]) {
      expect(await create(client, { signals })).toEqual({ kind: "notSent", failure: reason });
    }
    expect(server.connections).toBe(0);
  });
});

test("a permit allows one POST, and a released permit allows none", async () => {
  await withServer([{ expect: post, react: answer(202, accepted) }], async ({ baseUrl }) => {
    const clock = new VirtualClock();
    const client = testClient(baseUrl, { clock, requestsPerMinute: 2 });
    const signals = { unsent: never, grace: never };
    const unused = await permitOf(client);
    unused.release();
    unused.release();
    const permit = await permitOf(client);
    const first = client.createInstance(createBody, permit, signals);
    permit.release();
    expect(await first).toMatchObject({ kind: "accepted" });
    for (const spent of [permit, unused]) {
      const outcome = await client.createInstance(createBody, spent, signals);
      expect(outcome).toMatchObject({ kind: "unclear" });
    }
    // The limit is one request per minute, and the released permit does not count.
    const next = permitOf(client);
    await clock.advance(60_000);
    expect(clock.sleeping).toBe(1);
    await clock.advance(10_000);
    await next;
  });
});

test("once a POST is sent, `unsent` has no effect and `grace` makes the outcome unclear", async () => {
  await withServer([{ expect: post, react: hang }], async (server) => {
    const unsent = new AbortController();
    const grace = new AbortController();
    const signals = { unsent: unsent.signal, grace: grace.signal };
    const outcome = create(testClient(server.baseUrl), { signals });
    await server.received(1);
    unsent.abort(new Error("cancelled"));
    await new Promise(setImmediate);
    grace.abort(new Error("grace is over"));
    expect(await outcome).toMatchObject({ kind: "unclear", failure: { kind: "unanswered" } });
    expect((await failedPost(outcome)).message).toMatch(/given up while waiting/);
  });
});

test("no request begins after its cancellation, and none begins twice (G2)", async () => {
  let handler: Dispatcher.DispatchHandler | undefined;
  let aborts = 0;
  const dispatch = (_: unknown, given: typeof handler) => Boolean((handler = given));
  // Of undici, only what a request calls.
  const dispatcher = { dispatch, destroy: async () => undefined } as unknown as Dispatcher;
  const begin = () => handler?.onRequestStart?.({ abort: () => aborts++ } as never, {});
  const client = testClient("https://compute.test/v2", {
    createDispatcher: () => dispatcher,
    destroyPath: "/v2/instances/{id}",
    clock: new VirtualClock(),
  });
  await create(client, { signals: { unsent: AbortSignal.abort(), grace: never } });
  expect(handler).toBeUndefined();
  const cancellation = new AbortController();
  const destroy = client.destroyInstance("i-1", cancellation.signal);
  await new Promise(setImmediate);
  cancellation.abort(new Error("cancelled"));
  await expect(destroy).rejects.toThrow("cancelled");
  begin();
  expect(aborts).toBe(1);
  void create(client);
  await new Promise(setImmediate);
  begin();
  expect(aborts).toBe(1);
  begin();
  expect(aborts).toBe(2);
});

test("a response that comes after `unsent` is aborted, but before `grace` is, is accepted", async () => {
  let answerNow = () => {};
  const react: Reaction = (socket, request) => {
    answerNow = () => answer(202, accepted)(socket, request);
  };
  await withServer([{ expect: post, react }], async (server) => {
    const unsent = new AbortController();
    const signals = { unsent: unsent.signal, grace: never };
    const outcome = create(testClient(server.baseUrl), { signals });
    await server.received(1);
    unsent.abort(new Error("cancelled"));
    answerNow();
    expect(await outcome).toMatchObject({ kind: "accepted", accepted: { id: "i-1" } });
  });
});
