/**
 * Tests that the network in memory behaves like sockets: for each fault, the API client has the same outcome over
 * both.
 */
import { describe, expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { startInProcess } from "../../emulator/inProcess";
import { seeded } from "../../emulator/random";
import type { ComputeApi } from "../../provider/api/client";
import type { Accepted, ListItem } from "../../provider/api/contract";
import type { RequestError } from "../../provider/api/requestError";
import type { ClientOptions } from "../../provider/api/options";
import type { PostOutcome } from "../../provider/api/postOutcome";
import { create, never, selfMovingClock, testClient } from "../../provider/api/testing/testClient";
import { commonFaults, hidingFaults, listFaults, postFaults, type Fault } from "./faults";
import { Network } from "./network";
import { Random } from "./random";
import { clockOf, Timeline } from "./timeline";

/** All tries of a GET. */
const times = 4;
/** Longer than any jump of the self-moving clock, so that it never fires while a socket works. */
const requestTimeoutMs = 3_600_000;
/** An instance of the test client's tenant. */
const insert = { id: "i-0", name: "old", tenant: "canary" };

/** The outcome of a call, and what the service contains then. */
interface Outcome {
  call: unknown;
  retries: string[];
  instances: string[];
}
type Control = ReturnType<typeof startInProcess>["control"];
type Call = (api: ComputeApi) => Promise<unknown>;

const calls: Record<string, Call> = {
  GET: (api) => api.listPage({ limit: 100 }, never),
  POST: (api) => create(api),
  DELETE: (api) => api.destroyInstance(insert.id, never),
};

async function outcomeOf(
  call: Call,
  client: (more: Partial<ClientOptions>) => ComputeApi,
  control: Control,
): Promise<Outcome> {
  const retries: string[] = [];
  const options: Partial<ClientOptions> = {
    onRetry: ({ path, inMs, error }) => retries.push(`${path} ${inMs} ${describeError(error)}`),
    destroyPath: "/v2/instances/{id}",
  };
  const result = await call(client(options)).then(shapeOf, describeError);
  control.finishProvisioning();
  const instances = control.instances().map(({ name, status }) => `${name} ${status}`);
  return { call: result, retries, instances };
}

function shapeOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("items" in value) return { ...value, items: (value.items as ListItem[]).map(namesOnly) };
  const { kind, failure, accepted } = value as PostOutcome &
    Partial<{ failure: RequestError; accepted: Accepted }>;
  return failure ? [kind, describeError(failure)] : [kind, accepted?.name];
}
const namesOnly = ({ name, status }: ListItem) => `${name} ${status}`;

/** Returns the message without its variable parts. A cut connection has two messages, which become one. */
function describeError({ kind, lasting, message }: RequestError): string {
  const text = message
    .replace(/127\.0\.0\.1:\d+|req_\w+|within .* s|#\w+/g, "")
    .replace(/(HTML page:).*\(/, "$1 (")
    .replace("connection broke in the middle of the answer", "answer cut short");
  return `${kind}${lasting ? " for good" : ""}: ${text}`;
}

const serviceOptions = {
  provisioningSeconds: Infinity,
  destroyPath: "/v2/instances/{id}",
  random: seeded(1),
  clock: { now: () => Date.UTC(2026, 0, 1) },
};

async function overSockets(call: Call, fault: Fault): Promise<Outcome> {
  await using service = await startEmulator(serviceOptions);
  service.control.insert(insert);
  const { control } = service;
  if (fault.kind === "refused") {
    const nowhere = "http://127.0.0.1:1/v2";
    return await outcomeOf(call, (more) => testClient(nowhere, more), control);
  }
  const clock = selfMovingClock();
  // Over sockets, a delay takes real time.
  const quick = fault.kind === "delay" ? { ...fault, milliseconds: 20 } : fault;
  const scripted = control.fault({ ...quick, times });
  let hung = 0;
  // A request that hangs ends at its time-out. The clock advances to it once the service has got the request.
  const timer = setInterval(() => {
    if (fault.kind !== "hang" || scripted.hits === hung) return;
    hung = scripted.hits;
    void clock.advance(requestTimeoutMs);
  }, 5);
  const client = (more: Partial<ClientOptions>) =>
    testClient(service.url, { clock, requestTimeoutMs, ...more });
  return await outcomeOf(call, client, control).finally(() => clearInterval(timer));
}

async function inMemory(call: Call, fault: Fault): Promise<Outcome> {
  using service = startInProcess(serviceOptions);
  service.control.insert(insert);
  const timeline = new Timeline();
  let left = times;
  const network = new Network(timeline, new Random(1), service, {
    faultFor: () => (left-- > 0 ? fault : undefined),
    instanceFaultsFor: () => [],
    acted: () => undefined,
    portAnswers: () => true,
    trace: () => undefined,
  });
  const sender = { name: "client", runIfAlive: (run: () => void) => run() };
  const options = {
    clock: clockOf(timeline, () => new Date(timeline.now)),
    requestTimeoutMs,
    createDispatcher: () => network.dispatcher(sender),
  };
  const client = (more: Partial<ClientOptions>) =>
    testClient("http://127.0.0.1:1/v2", { ...options, ...more });
  return await timeline.untilEnd(outcomeOf(call, client, service.control));
}

test("the faults of lists and of answers apply to the instance that exists before each call", async () => {
  const list: Call = (api) => api.listPage({ limit: 100 }, never);
  const weird = { call: { items: [`${insert.name} WEIRD`] } };
  expect(await inMemory(list, { kind: "showStatus", status: "WEIRD" })).toMatchObject(weird);
  const fault = { kind: "existingId", instance: insert.name, acted: false } as const;
  const outcome = { call: ["accepted", insert.name], instances: [`${insert.name} ACTIVE`] };
  expect(await inMemory(create, fault)).toMatchObject(outcome);
});

describe.each(Object.entries(calls))("%s", (method, call) => {
  const own = { GET: { ...listFaults, ...hidingFaults }, POST: postFaults }[method] ?? {};
  test.concurrent.each(Object.entries({ ...commonFaults, ...own }))("%s", async (_, fault) => {
    expect(await inMemory(call, fault)).toEqual(await overSockets(call, fault));
  });
});
