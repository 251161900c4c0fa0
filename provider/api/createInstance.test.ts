import { expect, test } from "@jest/globals";
import type { ClientOptions, ComputeApi } from "./client";
import { VirtualClock } from "../testing/virtualClock";
import { answer, close, cut, hang, raw, reset, type Reaction } from "./testing/scriptedServer";
import { ScriptedServer } from "./testing/scriptedServer";
import { failureOf, never, testClient, times, withServer } from "./testing/testClient";

const post = "POST /v2/instances";
const body = { name: "web", flavor_id: "f", image_id: "i", vpc_id: "v" };
const accepted = {
  id: "i-1",
  name: "web",
  status: "PROVISIONING",
  created_at: "2026-01-01T00:00:00Z",
  networks: [{ type: "private", ipv4: "10.0.0.2", mac_address: "02:00:00:00:00:01" }],
};

function create(baseUrl: string, more: Partial<ClientOptions> = {}) {
  return testClient(baseUrl, more).createInstance(body, { unsent: never, grace: never });
}

test("the body is sent as JSON, and the 202 gives the id and what else it holds", async () => {
  await withServer([{ expect: post, react: answer(202, accepted) }], async ({ baseUrl, seen }) => {
    expect(await create(baseUrl)).toEqual({
      id: "i-1",
      name: "web",
      status: "PROVISIONING",
      createdAt: "2026-01-01T00:00:00Z",
      networks: accepted.networks,
    });
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual(body);
    expect(seen[0]?.headers["content-type"]).toBe("application/json");
  });
});

test.each([200, 201, 202])("an id is enough, with %i and odd networks", async (status) => {
  const networks = [7, { type: "private", ipv4: false }, {}];
  await withServer(
    [{ expect: post, react: answer(status, { id: "i-1", name: 1, networks }) }],
    async ({ baseUrl }) => {
      const created = await create(baseUrl);
      expect(created.id).toBe("i-1");
      expect(created.networks).toEqual([{ type: "private" }]);
    },
  );
});

test("every POST opens a connection of its own, also while an idle one is there (G2)", async () => {
  await withServer(
    [
      { expect: "GET /v2/account", react: answer(200) },
      { expect: post, react: answer(202, accepted) },
      { expect: post, react: answer(202, accepted) },
      { expect: "GET /v2/account", react: answer(200) },
    ],
    async ({ baseUrl, seen }) => {
      const client: ComputeApi = testClient(baseUrl);
      await client.account(never);
      await client.createInstance(body, { unsent: never, grace: never });
      await client.createInstance(body, { unsent: never, grace: never });
      await client.account(never);
      expect(seen.map(({ connection }) => connection)).toEqual([1, 2, 3, 1]);
      expect(seen[1]?.headers["connection"]).toBe("close");
    },
  );
});

const open: [string, Reaction, string, number | undefined][] = [
  ["a reset", reset, "unanswered", undefined],
  ["a connection closed without a word", close, "unanswered", undefined],
  ["a cut 202", cut(202, '{"id":"i-1"}'), "unanswered", 202],
  ["a cut 500", cut(500, "{"), "unanswered", 500],
  ["no HTTP", raw("hello\r\n\r\n"), "unanswered", undefined],
  ["a 202 without JSON", answer(202, "<html>ok</html>"), "unreadable", 202],
  ["a 202 without an id", answer(202, { name: "web" }), "unreadable", 202],
  ["a 202 with an empty id", answer(202, { id: "" }), "unreadable", 202],
  ["a 500", answer(500), "answered", 500],
  ["a 503 with Retry-After", answer(503, "", { "retry-after": "1" }), "answered", 503],
  ["a 408", answer(408), "answered", 408],
];
test.each(open)("%s is not followed by a second POST (G2)", async (_, react, kind, status) => {
  await withServer([{ expect: post, react }], async ({ baseUrl }) => {
    expect(await failureOf(create(baseUrl))).toMatchObject({ kind, status });
  });
});

test("a POST that is not answered in time is unanswered, and not repeated (G2)", async () => {
  await withServer([{ expect: post, react: hang }], async ({ baseUrl }) => {
    const failure = await failureOf(create(baseUrl, { requestTimeoutMs: 60 }));
    expect(failure).toMatchObject({ kind: "unanswered", status: undefined });
    expect(failure.message).toMatch(/no answer of .* within/);
  });
});

test("a refused connection is unreachable, and tried a few times, since nothing was sent", async () => {
  const gone = await ScriptedServer.start([]);
  const { baseUrl } = gone;
  await gone.done();
  const clock = new VirtualClock();
  clock.autoAdvance();
  const failure = await failureOf(create(baseUrl, { clock }));
  expect(failure).toMatchObject({ kind: "unreachable", status: undefined });
  expect(failure.message).toMatch(/connection to 127\.0\.0\.1:\d+ was refused/);
  // 500 ms, 1 s, 2 s.
  expect(clock.now()).toBe(3500);
});

test("a host that does not exist is unreachable", async () => {
  const failure = await failureOf(create("https://compute.invalid/v2", { requestTimeoutMs: 5000 }));
  expect(failure.kind).toBe("unreachable");
});

test("a 429 is repeated until the service lets the POST in (G6)", async () => {
  await withServer(
    [
      ...times(12, { expect: post, react: answer(429) }),
      { expect: post, react: cut(429, "") },
      { expect: post, react: answer(202, accepted) },
    ],
    async ({ baseUrl }) => expect((await create(baseUrl)).id).toBe("i-1"),
  );
});

test("unsent stops a POST that waits after a 429", async () => {
  const clock = new VirtualClock();
  await withServer([{ expect: post, react: answer(429) }], async ({ baseUrl }) => {
    const unsent = new AbortController();
    const slowedDown = Promise.withResolvers<void>();
    const client = testClient(baseUrl, { clock, onSlowedDown: () => slowedDown.resolve() });
    const call = client.createInstance(body, { unsent: unsent.signal, grace: never });
    await slowedDown.promise;
    const reason = new Error("cancelled");
    unsent.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(clock.sleeping).toBe(0);
  });
});

test("what is cancelled before it is sent makes no connection", async () => {
  await withServer([], async (server) => {
    const reason = new Error("cancelled");
    const client = testClient(server.baseUrl);
    const aborted = AbortSignal.abort(reason);
    const call = client.createInstance(body, { unsent: aborted, grace: never });
    await expect(call).rejects.toBe(reason);
    expect(server.connections).toBe(0);
  });
});

test("once sent, unsent no longer matters; grace gives up on the answer and leaves it open", async () => {
  await withServer([{ expect: post, react: hang }], async (server) => {
    const unsent = new AbortController();
    const grace = new AbortController();
    const client = testClient(server.baseUrl);
    const call = client.createInstance(body, { unsent: unsent.signal, grace: grace.signal });
    const failure = failureOf(call);
    await server.received(1);
    unsent.abort(new Error("cancelled"));
    await new Promise(setImmediate);
    grace.abort(new Error("grace is over"));
    expect(await failure).toMatchObject({ kind: "unanswered", status: undefined });
    expect((await failure).message).toMatch(/given up while waiting/);
  });
});

test("an answer within the grace brings the id home", async () => {
  let answerNow = () => {};
  const react: Reaction = (socket, request) => {
    answerNow = () => answer(202, accepted)(socket, request);
  };
  await withServer([{ expect: post, react }], async (server) => {
    const unsent = new AbortController();
    const client = testClient(server.baseUrl);
    const call = client.createInstance(body, { unsent: unsent.signal, grace: never });
    await server.received(1);
    unsent.abort(new Error("cancelled"));
    answerNow();
    expect((await call).id).toBe("i-1");
  });
});
