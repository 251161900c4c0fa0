/** Tests how the rate limit and 429 responses slow the client down (G6). */
import { expect, test } from "@jest/globals";
import type { ClientOptions } from "./options";
import { VirtualClock } from "../testing/virtualClock";
import { answer, reset, type Step } from "./testing/scriptedServer";
import { create, never, testClient, times, withServer } from "./testing/testClient";

const account: Step = { expect: "GET /v2/account", react: answer(200) };
const empty = { data: [], has_more: false };
const list: Step = { expect: "GET /v2/instances?limit=1", react: answer(200, empty) };
const post: Step = { expect: "POST /v2/instances", react: answer(202, { id: "i-1" }) };

function setUp(more: Partial<ClientOptions>) {
  const clock = new VirtualClock();
  const slowed: unknown[] = [];
  const onRetry: ClientOptions["onRetry"] = (retry) => slowed.push(retry);
  return { clock, slowed, options: { clock, onRetry, ...more } };
}

test("the client leaves 5 % of the limit unused, and each path has a limit of its own (G6)", async () => {
  // 95 % of 2 is 1.9, so 1 request is sent.
  const { clock, options } = setUp({ requestsPerMinute: 2 });
  await withServer([account, list], async (server) => {
    const client = testClient(server.baseUrl, options);
    await client.account(never);
    const abort = new AbortController();
    const second = client.account(abort.signal);
    await client.listPage({ limit: 1 }, never);
    await clock.advance(60_000);
    expect(server.seen).toHaveLength(2);
    abort.abort(new Error("cancelled"));
    await expect(second).rejects.toThrow("cancelled");
    expect(clock.sleeping).toBe(0);
  });
});

test("DELETEs of all instances share the limit of the path template", async () => {
  const { clock, options } = setUp({
    requestsPerMinute: 2,
    destroyPath: "/v2/instances/{id}",
  });
  const destroy = (id: string): Step => ({
    expect: `DELETE /v2/instances/${id}`,
    react: answer(204),
  });
  await withServer([destroy("a"), destroy("b")], async (server) => {
    const client = testClient(server.baseUrl, options);
    await client.destroyInstance("a", never);
    const second = client.destroyInstance("b", never);
    await clock.advance(60_000);
    expect(server.seen).toHaveLength(1);
    await clock.advance(10_000);
    await second;
  });
});

test("a 429 pauses only its endpoint for the time in Retry-After, and is reported once", async () => {
  const { clock, slowed, options } = setUp({});
  const tooMany = answer(429, "", { "retry-after": "5" });
  await withServer([{ ...list, react: tooMany }, account, list, list], async (server) => {
    const client = testClient(server.baseUrl, options);
    const first = client.listPage({ limit: 1 }, never);
    while (!slowed.length) await new Promise(setImmediate);
    const second = client.listPage({ limit: 1 }, never);
    await client.account(never);
    await clock.advance(4999);
    expect(server.seen).toHaveLength(2);
    await clock.advance(1);
    await first;
    await clock.advance(1000);
    await second;
    const retry = { method: "GET", path: "/v2/instances", inMs: 5000, isAsked: true };
    expect(slowed).toEqual([{ ...retry, error: expect.objectContaining({ status: 429 }) }]);
  });
});

test("a request without a response counts", async () => {
  const { clock, options } = setUp({ requestsPerMinute: 2 });
  await withServer([{ ...post, react: reset }, post], async (server) => {
    const client = testClient(server.baseUrl, options);
    await create(client);
    const second = create(client);
    await clock.advance(60_000);
    expect(server.seen).toHaveLength(1);
    await clock.advance(10_000);
    await second;
  });
});

test("two clients have separate limits", async () => {
  const { options } = setUp({ requestsPerMinute: 1 });
  await withServer(times(2, account), async ({ baseUrl }) => {
    await testClient(baseUrl, options).account(never);
    await testClient(baseUrl, options).account(never);
  });
});
