/** Tests the client without sockets. `createDispatcher` makes fake dispatchers, and time is on a virtual clock. */
import { expect, test } from "@jest/globals";
import type { Dispatcher } from "undici";
import { VirtualClock } from "../testing/virtualClock";
import { create, failureOf, never, testClient } from "./testing/testClient";

/** What a fake dispatcher does with a request. */
type React = (handler: Dispatcher.DispatchHandler, options: Dispatcher.DispatchOptions) => void;
const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;

const answering: React = (handler) => {
  handler.onRequestStart?.(controller, {});
  handler.onResponseStart?.(controller, 202, {}, "");
  handler.onResponseData?.(controller, Buffer.from('{"id":"i-1"}'));
  handler.onResponseEnd?.(controller, {});
};

function setUp(react: React) {
  const clock = new VirtualClock();
  const callsByDispatcher: string[][] = [];
  const createDispatcher = () => {
    const calls: string[] = [];
    callsByDispatcher.push(calls);
    const dispatch: Dispatcher["dispatch"] = (options, handler) => {
      calls.push(`${options.method} ${String(options.origin)}${options.path}`);
      react(handler, options);
      return true;
    };
    const destroy = () => Promise.resolve(void calls.push("destroyed"));
    return { dispatch, destroy } as unknown as Dispatcher;
  };
  const client = testClient("https://compute.test/v2", {
    createDispatcher,
    clock,
    requestTimeoutMs: 5000,
  });
  return { clock, callsByDispatcher, client };
}

test("a POST has a connection of its own, and no timer is left after the response", async () => {
  const { client, callsByDispatcher, clock } = setUp(answering);
  expect(await client.account(never)).toEqual({ id: "i-1" });
  expect(await create(client)).toMatchObject({ kind: "accepted", accepted: { id: "i-1" } });
  await client.account(never);
  const account = "GET https://compute.test/v2/account";
  const post = ["POST https://compute.test/v2/instances", "destroyed"];
  expect(callsByDispatcher).toEqual([[account, account], post]);
  expect(clock.sleeping).toBe(0);
});

test.each<[string, string, React]>([
  ["no connection to", "notSent", () => undefined],
  ["no answer from", "unclear", (handler) => handler.onRequestStart?.(controller, {})],
])("a POST with %s compute.test within the time-out is `%s`", async (problem, kind, react) => {
  const { client, clock } = setUp(react);
  const post = create(client);
  await clock.advance(4999);
  expect(clock.sleeping).toBe(1);
  await clock.advance(1);
  expect(await post).toMatchObject({
    kind,
    failure: { message: `POST /v2/instances: ${problem} compute.test within 5 s` },
  });
  expect(clock.sleeping).toBe(0);
});

test("an error before the response is a network error", async () => {
  const code = "ECONNREFUSED";
  const { client, clock } = setUp((handler) => {
    handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
  });
  const failure = failureOf(client.account(never));
  await clock.advance(10_000);
  expect(await failure).toMatchObject({ kind: "unreachable" });
});
