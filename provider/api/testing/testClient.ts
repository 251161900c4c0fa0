/**
 * Makes the client for tests, and has helpers for its calls. The client uses neither real random numbers nor real time,
 * unless a test overrides an option.
 */
import type { ClientOptions, ComputeApi } from "../client";
import { createClient } from "../createClient";
import type { CreateBody } from "../contract";
import { RequestError } from "../errors";
import type { PostOutcome } from "../postOutcome";
import { type AutoAdvance, VirtualClock } from "../../testing/virtualClock";
import { ScriptedServer, type Step } from "./scriptedServer";

/** The token of the test client. The redaction of the test client replaces it with [token]. */
export const testToken = "sk_test_canary_4f1d";

function testOptions(baseUrl: string, more: Partial<ClientOptions> = {}): ClientOptions {
  return {
    baseUrl,
    token: testToken,
    // Longer than any jump of the clock (`longestJumpMs`), so this time-out never ends a request while a real socket works.
    requestTimeoutMs: 3_600_000,
    requestsPerMinute: 1000,
    userAgent: "pulumi-compute/0.0.0",
    clock: selfMovingClock(),
    redact: (text) => text.replace(/[\p{Cc}]/gu, "").replaceAll(testToken, "[token]"),
    env: {},
    random: () => 0.5,
    ...more,
  };
}

/**
 * Makes a clock that moves by itself, so that a back-off takes almost no real time. `quietMs` is the real time that must
 * pass before the clock jumps, so that a real socket can answer before a time-out.
 */
export function selfMovingClock(options?: AutoAdvance): VirtualClock {
  const clock = new VirtualClock();
  clock.autoAdvance(options);
  return clock;
}

/** Makes a client for the service at this address. */
export function testClient(baseUrl: string, more: Partial<ClientOptions> = {}): ComputeApi {
  return createClient(testOptions(baseUrl, more));
}

/** Resolves to the `RequestError` of a call. Fails the test if the call ends in another way. */
export async function failureOf(call: Promise<unknown>): Promise<RequestError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome && outcome.error instanceof RequestError) return outcome.error;
  throw new Error(`no RequestError, but ${JSON.stringify(outcome)}`);
}

/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** A body for POST /v2/instances. */
export const createBody: CreateBody = { name: "web", flavor_id: "f", image_id: "i", vpc_id: "v" };

/**
 * Waits for a permit, and then sends a POST. The signal `unsent` cancels the POST only before its first byte is sent, and
 * `grace` cancels it at any time.
 */
export async function create(
  client: ComputeApi,
  {
    body = createBody,
    signals = { unsent: never, grace: never },
  }: Partial<{ body: CreateBody; signals: Parameters<ComputeApi["createInstance"]>[2] }> = {},
): Promise<PostOutcome> {
  const permit = await client.acquirePostPermit(never);
  return client.createInstance(body, permit, signals);
}

/** Resolves to the `RequestError` of a POST. Fails the test if the POST has none. */
export async function failedPost(post: Promise<PostOutcome>): Promise<RequestError> {
  const outcome = await post;
  if ("failure" in outcome && outcome.failure instanceof RequestError) return outcome.failure;
  throw new Error(`no RequestError, but ${JSON.stringify(outcome)}`);
}

/** Runs a test against a scripted server. Fails the test if the requests were not those of the script. */
export async function withServer<T>(
  script: Step[],
  test: (server: ScriptedServer) => Promise<T>,
): Promise<T> {
  const server = await ScriptedServer.start(script);
  try {
    return await test(server);
  } finally {
    await server.done();
  }
}

/** Returns a script with the same step `count` times. */
export const times = (count: number, step: Step): Step[] => Array<Step>(count).fill(step);
