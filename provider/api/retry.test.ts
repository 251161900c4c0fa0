/** Tests which requests the client repeats, and when it stops. */
import { expect, test } from "@jest/globals";
import { VirtualClock } from "../testing/virtualClock";
import type { Retry } from "./options";
import { answer, cut, hang, reset, ScriptedServer, type Reaction } from "./testing/scriptedServer";
import {
  create,
  failureOf,
  never,
  selfMovingClock,
  testClient,
  times,
  withServer,
} from "./testing/testClient";

const account = "GET /v2/account";
const destroy = "DELETE /v2/instances/i-1";
const destroyPath = "/v2/instances/{id}";
/** That of a run. */
const patienceMs = 60_000;

const transient: [string, Reaction][] = [
  ["a 500", answer(500)],
  ["a 502 page", answer(502, "<html>Bad Gateway</html>")],
  ["a 503", answer(503)],
  ["a 408", answer(408)],
  ["a reset", reset],
  ["a cut body", cut(200, "{")],
];
test.each(transient)("a GET is repeated after %s", async (_, react) => {
  await withServer(
    [...times(3, { expect: account, react }), { expect: account, react: answer(200, { id: 1 }) }],
    async ({ baseUrl }) =>
      expect(await testClient(baseUrl, { patienceMs }).account(never)).toEqual({ id: 1 }),
  );
});

test.each([
  ["GET", account, patienceMs, 16],
  ["DELETE", destroy, patienceMs, 16],
  ["GET", account, 3500, 4],
])(
  "a %s that fails is repeated for as long as the client has patience, with growing delays of at most 5 s: %s, %d ms",
  async (method, expected, patienceMs, tries) => {
    const clock = selfMovingClock();
    const react = answer(500);
    await withServer(times(tries, { expect: expected, react }), async ({ baseUrl }) => {
      const client = testClient(baseUrl, { clock, patienceMs, destroyPath });
      const call = method === "GET" ? client.account(never) : client.destroyInstance("i-1", never);
      expect(await failureOf(call)).toMatchObject({ kind: "answered", status: 500 });
      expect(clock.now()).toBe(patienceMs);
    });
  },
);

test("a probe is not repeated, and asks for no other token, but what the service asks to wait is waited for", async () => {
  const clock = selfMovingClock();
  const expected = "GET /v2/instances?limit=100";
  const probe = { limit: 100, isProbe: true };
  const busy = answer(429, "", { "retry-after": "50" });
  const steps = [answer(500), answer(401), busy, answer(400)].map((react) => ({
    expect: expected,
    react,
  }));
  await withServer(steps, async ({ baseUrl }) => {
    const renewToken = () => "sk_test_another1";
    const client = testClient(baseUrl, { clock, patienceMs, renewToken });
    for (const status of [500, 401, 400])
      expect(await failureOf(client.listPage(probe, never))).toMatchObject({ status });
    expect(clock.now()).toBeGreaterThanOrEqual(50_000);
  });
});

test("a GET outlives an outage of less than a minute", async () => {
  const clock = selfMovingClock();
  const up = { expect: account, react: answer(200, { id: 1 }) };
  const down = times(15, { expect: account, react: reset });
  await withServer([...down, up], async ({ baseUrl }) => {
    expect(await testClient(baseUrl, { clock, patienceMs }).account(never)).toEqual({ id: 1 });
    expect(clock.now()).toBe(60_000);
  });
});

const list = "GET /v2/instances?limit=100";
const emptyList = answer(200, { object: "list", data: [], has_more: false });
const page = answer(200, "<html>Sign in</html>", { "content-type": "text/html" });

test.each<[string, readonly Reaction[], number]>([
  ["no answer before", [], 10_000],
  ["any answer to the account call", [page], 10_000],
  ["a page instead of a listing", [page, page], 10_000],
  ["a listing", [emptyList, emptyList], 60_000],
  ["a 401", [answer(401)], 60_000],
  ["a 403", [answer(403)], 60_000],
  ["an error of the service", [answer(404, { error: { code: "c", message: "m" } })], 60_000],
  ["a 404 of anyone", [answer(404)], 10_000],
])(
  "after %s, a refused connection is repeated for as long as is sensible",
  async (_, answers, ms) => {
    const clock = selfMovingClock();
    const [toAccount, ...toList] = answers;
    const steps = [
      ...(toAccount ? [{ expect: account, react: toAccount }] : []),
      ...toList.map((react) => ({ expect: list, react })),
    ];
    const server = await ScriptedServer.start(steps);
    const client = testClient(server.baseUrl, { clock, patienceMs });
    if (toAccount) await client.account(never).catch(() => undefined);
    for (const _ of toList) await client.listPage({ limit: 100 }, never).catch(() => undefined);
    await server[Symbol.asyncDispose]();
    const begunAt = clock.now();
    expect(await failureOf(client.account(never))).toMatchObject({ kind: "unreachable" });
    expect(clock.now() - begunAt).toBe(ms);
  },
);

test("a page instead of a listing is not repeated before the service has listed anything", async () => {
  const clock = selfMovingClock();
  const reactions = [page, emptyList, page, emptyList];
  const steps = reactions.map((react) => ({ expect: list, react }));
  await withServer(steps, async ({ baseUrl }) => {
    const client = testClient(baseUrl, { clock, patienceMs });
    expect(await failureOf(client.listPage({ limit: 100 }, never))).toMatchObject({
      kind: "unreadable",
      short: "an HTML page",
    });
    for (let n = 0; n < 2; n++) await client.listPage({ limit: 100 }, never);
  });
});

test("a 503 with Retry-After is waited out as a 429 is, however often it comes, and the patience begins anew (G6)", async () => {
  const clock = selfMovingClock();
  const waits: unknown[] = [];
  const busy = answer(503, "", { "retry-after": "50" });
  const script = [answer(500), busy, busy, answer(500), answer(200)];
  const steps = script.map((react) => ({ expect: account, react }));
  await withServer(steps, async ({ baseUrl }) => {
    const onRetry = ({ inMs, isAsked }: Retry) => void waits.push([inMs, isAsked]);
    await testClient(baseUrl, { clock, onRetry, patienceMs }).account(never);
    expect(waits).toEqual([
      [500, false],
      [50_000, true],
      [50_000, true],
      [500, false],
    ]);
    expect(clock.now()).toBe(101_000);
  });
});

test("a 503 with Retry-After holds the next POST back, and leaves open what the POST before it has done", async () => {
  const clock = selfMovingClock();
  const busy = answer(503, "", { "retry-after": "50" });
  const post = "POST /v2/instances";
  const script = [busy, answer(202, { id: "i-1" })].map((react) => ({ expect: post, react }));
  await withServer(script, async ({ baseUrl }) => {
    const client = testClient(baseUrl, { clock });
    expect(await create(client)).toMatchObject({ kind: "unclear", failure: { status: 503 } });
    expect(await create(client)).toMatchObject({ kind: "accepted" });
    expect(clock.now()).toBe(50_000);
  });
});

test.each([400, 401, 403, 404, 409, 422])("a GET is not repeated after a %i", async (status) => {
  await withServer([{ expect: account, react: answer(status) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status });
  });
});

test("a GET does not fail after a 429, even if it got many (G6)", async () => {
  await withServer(
    [
      ...times(15, { expect: account, react: answer(429) }),
      { expect: account, react: answer(200) },
    ],
    async ({ baseUrl }) => expect(await testClient(baseUrl).account(never)).toBeUndefined(),
  );
});

test("the delay between tries ends at once when the signal aborts", async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  await withServer([{ expect: account, react: answer(500) }], async (server) => {
    const tried = Promise.withResolvers<unknown>();
    const client = testClient(server.baseUrl, { clock, patienceMs, onRetry: tried.resolve });
    const call = client.account(abort.signal);
    await tried.promise;
    await new Promise(setImmediate);
    expect(clock.sleeping).toBe(1);
    const reason = new Error("cancelled");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(clock.sleeping).toBe(0);
  });
});

test.each([
  ["GET", account],
  ["DELETE", destroy],
])("a %s that is under way ends at once with the signal's reason", async (method, expected) => {
  const abort = new AbortController();
  await withServer([{ expect: expected, react: hang }], async (server) => {
    const client = testClient(server.baseUrl, { destroyPath });
    const call =
      method === "GET" ? client.account(abort.signal) : client.destroyInstance("i-1", abort.signal);
    const ending = expect(call).rejects.toThrow("cancelled");
    await server.received(1);
    abort.abort(new Error("cancelled"));
    await ending;
  });
});

const successes: [string, Reaction][] = [
  ["204", answer(204)],
  ["200 and HTML", answer(200, "<p>gone")],
];
test.each(successes)("a DELETE succeeds with %s", async (_, react) => {
  await withServer([{ expect: destroy, react }], async ({ baseUrl }) => {
    await testClient(baseUrl, { destroyPath }).destroyInstance("i-1", never);
  });
});

test.each([true, false])(
  "a DELETE that got no response is repeated, after which a 404 leaves open whether the service acted: %j",
  async (mayHaveActed) => {
    const refused = { expect: destroy, react: answer(404) };
    const tries = mayHaveActed ? [{ expect: destroy, react: reset }, refused] : [refused];
    await withServer(tries, async ({ baseUrl }) => {
      const client = testClient(baseUrl, { destroyPath, patienceMs });
      const failure = await failureOf(client.destroyInstance("i-1", never));
      expect(failure).toMatchObject({ kind: "answered", status: 404, mayHaveActed });
    });
  },
);

test("each {id} of the path of the destroy call becomes the id", async () => {
  const expected = "DELETE /v2/instances/i-1/removals/i-1";
  await withServer([{ expect: expected, react: answer(204) }], async ({ baseUrl }) => {
    const client = testClient(baseUrl, { destroyPath: "/v2/instances/{id}/removals/{id}" });
    await client.destroyInstance("i-1", never);
  });
});

test("an id is encoded as one segment of the path, or refused", async () => {
  const expected = "DELETE /v2/instances/a%2F..%3Fb%23%24%26";
  await withServer([{ expect: expected, react: answer(204) }], async ({ baseUrl }) => {
    const client = testClient(baseUrl, { destroyPath });
    await client.destroyInstance("a/..?b#$&", never);
    for (const id of ["", ".", "..", "\ud800"]) {
      const failure = await failureOf(client.destroyInstance(id, never));
      expect(failure).toMatchObject({ kind: "unsendable", transient: false });
      expect(failure.message).toContain(`DELETE /v2/instances/${id}: this id`);
    }
  });
});
