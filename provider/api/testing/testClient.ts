/** Makes the client for tests, without real random numbers and real time, and has helpers for its calls. */
import { inspect } from "node:util";
import {
  type ComputeApi,
  type Permit,
  type PostSignals,
  type ProbeApi,
  createClient,
} from "../client";
import type { CreateBody } from "../contract";
import { RequestError } from "../requestError";
import type { ClientOptions } from "../options";
import type { PostOutcome } from "../postOutcome";
import { VirtualClock } from "../../testing/virtualClock";
import { ScriptedServer, type Step } from "./scriptedServer";

/**
 * The token of the test client, whose redaction replaces it with [token]. In JSON of the service, the client has then put
 * [secret] in its place already.
 */
export const testToken = "sk_test_canary_4f1d";

/**
 * The time-out of a request. A clock that moves by itself does not jump so far. So it ends no request while a real socket
 * works, unless a test advances the clock by it.
 */
export const requestTimeoutMs = 3_600_000;

/** Makes a client for the service at this address. By default, it sends nothing again. */
export function testClient(baseUrl: string, more: Partial<ClientOptions> = {}): ProbeApi {
  return createClient({
    baseUrl,
    token: testToken,
    requestTimeoutMs,
    requestsPerMinute: 1000,
    patienceMs: 0,
    userAgent: "pulumi-compute/0.0.0",
    clock: selfMovingClock(),
    log: () => undefined,
    redact: (text) => text.replace(/[\p{Cc}]/gu, "").replaceAll(testToken, "[token]"),
    env: {},
    random: () => 0.5,
    ...more,
  });
}

/** Makes a clock that moves by itself, so that a back-off takes almost no real time. */
export function selfMovingClock(): VirtualClock {
  const clock = new VirtualClock();
  clock.autoAdvance();
  return clock;
}

/** Resolves to the `RequestError` of a call. Fails the test if the call ends in another way. */
export async function failureOf(call: Promise<unknown>): Promise<RequestError> {
  const outcome: unknown = await call.catch((error: unknown) => error);
  if (outcome instanceof RequestError) return outcome;
  throw new Error(`no RequestError, but ${inspect(outcome)}`);
}

export const never = new AbortController().signal;

/** A body for POST /v2/instances. */
export const createBody: CreateBody = { name: "web", flavor_id: "f", image_id: "i", vpc_id: "v" };

/** Waits for a permit for a POST. */
export function permitOf(client: ComputeApi): Promise<Permit> {
  return client.permitForPost(never);
}

/** Waits for a permit, and then sends a POST. */
export async function create(
  client: ComputeApi,
  {
    body = createBody,
    signals = { unsent: never, grace: never },
  }: Partial<{ body: CreateBody; signals: PostSignals }> = {},
): Promise<PostOutcome> {
  const permit = await permitOf(client);
  return client.createInstance(body, permit, signals);
}

/** Resolves to the `RequestError` of a POST. Fails the test if the POST has none. */
export async function failedPost(post: Promise<PostOutcome>): Promise<RequestError> {
  const outcome = await post;
  if ("failure" in outcome && outcome.failure instanceof RequestError) return outcome.failure;
  throw new Error(`no RequestError, but ${inspect(outcome)}`);
}

/** Runs a test against a scripted server. Fails if the requests were not those of the script. */
export async function withServer<T>(
  script: Step[],
  test: (server: ScriptedServer) => Promise<T>,
): Promise<T> {
  await using server = await ScriptedServer.start(script);
  return await test(server);
}

/** Returns a script with the same step `count` times. */
export const times = (count: number, step: Step): Step[] => Array<Step>(count).fill(step);
