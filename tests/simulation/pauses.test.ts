/**
 * Tests what a run does when the service asks to be left alone (429 or 503 with Retry-After): it waits if the pause ends before the
 * operation's time-out, and otherwise ends at once, and says until when the pause lasts (G6).
 */
import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../../provider/errors";
import { propertyMap, Secret } from "../../provider/pulumi/propertyValue";
import type { Fault } from "./faults";
import type { SentRequest } from "./network";
import { Simulation, cursor, program, type Run } from "./simulation";

const daySeconds = 86_400;
const settings = propertyMap({
  baseUrl: "https://compute.example/v2",
  apiToken: new Secret("sk_test_acme_canary1"),
});
const tooMany = (retryAfter: string, status = 429): Fault => ({
  kind: "status",
  status,
  acted: false,
  retryAfter,
});
const isListing = ({ method, path }: SentRequest) =>
  method === "GET" && path.startsWith("/v2/instances");
const isPost = ({ method }: SentRequest) => method === "POST";
const isAccount = ({ path }: SentRequest) => path === "/v2/account";
const isDelete = ({ method }: SentRequest) => method === "DELETE";

/** Makes the service answer these requests with this status, and counts them. */
function refuse(
  simulation: Simulation,
  isRefused: (sent: SentRequest) => boolean,
  retryAfter: string,
  status?: number,
): { count: number } {
  const refused = { count: 0 };
  simulation.faultFor = (sent) => {
    if (!isRefused(sent)) return undefined;
    refused.count++;
    return tooMany(retryAfter, status);
  };
  return refused;
}

const messagesOf = ({ engine }: Run) => engine.failed.map(({ error }) => error.message);

/** The end of a pause of a day, in the time zone of this machine. */
const day = /2026-01-0[1-3] \d\d:\d\d:\d\d \S+/.source;

/** Checks that a message says who asked for what, until when, and what to do next. */
function expectExplained(message: string | undefined, status = 429): void {
  expect(message).toContain(
    `HTTP ${status}, code scripted_fault, request_id req_simulated, see https://`,
  );
  expect(message).toMatch(
    new RegExp(
      `^Run again in (23|24) h, after ${day}: the service asks for a pause \\(Retry-After\\)`,
      "m",
    ),
  );
  expect(message).not.toContain("was waiting for");
}

/** Begins a session without an engine. `create` resolves to "created" or the error's message, and the second of its end. */
async function creator(simulation: Simulation) {
  const { calls } = simulation.begin().plugin;
  await calls.configure({ urn: undefined, scope: "scope", args: settings });
  return {
    create: (name: string, timeoutSeconds: number) => {
      const urn = simulation.stack.urnOf(name);
      const inputs = propertyMap({ ...program(1)["web-0"], name });
      return calls.create({ urn, inputs, timeoutSeconds, preview: false }).then(
        () => ({ message: "created", at: simulation.seconds }),
        (error: Error) => ({ message: error.message, at: simulation.seconds }),
      );
    },
  };
}

const inAMoment = new Date(Date.UTC(2026, 0, 2, 0, 0, 1)).toUTCString();

test.each([
  ["a POST", isPost, `${daySeconds}`, 429, 3],
  ["a POST", isPost, inAMoment, 429, 3],
  ["a listing", isListing, `${daySeconds}`, 429, 1],
  ["a listing", isListing, inAMoment, 429, 1],
  ["a listing", isListing, `${daySeconds}`, 503, 1],
  ["the account call", isAccount, `${daySeconds}`, 429, 1],
  ["the account call", isAccount, inAMoment, 503, 1],
])(
  "if %s is answered with a pause of a day, the creates end at once, create nothing, and say until when (%#)",
  async (_, isRefused, retryAfter, status, most) => {
    using simulation = new Simulation();
    const refused = refuse(simulation, isRefused, retryAfter, status);
    const run = await simulation.run((engine) => engine.up(program(3)));
    expect(simulation.seconds).toBeLessThan(60);
    expect(refused.count).toBeGreaterThan(0);
    expect(refused.count).toBeLessThanOrEqual(most);
    expect(simulation.ids).toEqual([]);
    const messages = messagesOf(run);
    expect(messages).toHaveLength(3);
    const [whole = "", ...others] = messages;
    expectExplained(whole, status);
    expect(whole).toContain("customTimeouts.create");
    expect(whole).toMatch(/^nothing was created: /);
    // A later answer may ask for a later time, which is then said, too.
    const other = /^nothing was created(: |, as for web-\d)/;
    for (const message of others) expect(message).toMatch(other);
    // Nothing stands in the way of the next run.
    simulation.faultFor = () => undefined;
    const next = await simulation.run((engine) => engine.up(program(3)));
    expect(next.engine.failed).toEqual([]);
    expect(simulation.ids).toHaveLength(3);
  },
);

test("an operation that begins during the pause ends at once as well, without a request", async () => {
  using simulation = new Simulation();
  const refused = refuse(simulation, isListing, `${daySeconds}`);
  const { create } = await creator(simulation);
  await simulation.timeline.untilEnd(create("early", 900));
  expect(refused.count).toBe(1);
  const before = simulation.seconds;
  const requests = simulation.service.control.requests().length;
  const { message, at } = await simulation.timeline.untilEnd(create("late", 3600));
  expectExplained(message);
  expect(at - before).toBeLessThan(1);
  expect(refused.count).toBe(1);
  expect(simulation.service.control.requests()).toHaveLength(requests);
});

test("if the wait for an accepted instance meets a pause of a day, its id and state are kept (G1), and the next run finishes it", async () => {
  using simulation = new Simulation({ provisioningSeconds: 5 });
  refuse(simulation, (sent) => isListing(sent) && simulation.posts > 0, `${daySeconds}`);
  const run = await simulation.run((engine) => engine.up(program(1)));
  expect(simulation.seconds).toBeLessThan(60);
  expect(run.engine.failed[0]?.error).toBeInstanceOf(InstanceUnfinished);
  const [message] = messagesOf(run);
  expectExplained(message);
  expect(message).toContain(`the wait for instance ${simulation.ids[0]} ended (429):`);
  expect(message).toContain("the next `pulumi up` goes on waiting");
  expect(simulation.stack.ids).toEqual(simulation.ids);
  simulation.faultFor = () => undefined;
  const next = await simulation.run((engine) => engine.up(program(1)));
  expect(next.engine.failed).toEqual([]);
  expect(simulation.posts).toBe(1);
  expect(simulation.stack.ids).toEqual(simulation.ids);
});

test("if the search after a POST without an answer meets a pause of a day, the create ends at once as unclear, and the next run takes the instance over (G2)", async () => {
  using simulation = new Simulation();
  simulation.faultFor = (sent) => {
    if (isPost(sent)) return { kind: "reset", acted: true };
    return isListing(sent) && simulation.posts > 0 ? tooMany(`${daySeconds}`) : undefined;
  };
  const run = await simulation.run((engine) => engine.up(program(1)));
  expect(simulation.seconds).toBeLessThan(60);
  const [message] = messagesOf(run);
  expect(message).toMatch(/is in doubt \(connection broke\):\nthe search for it ended early/);
  expect(message).toMatch(new RegExp(`asks for a pause until ${day} \\(Retry-After\\)`));
  simulation.faultFor = () => undefined;
  const next = await simulation.run((engine) => engine.up(program(1)));
  expect(next.engine.failed).toEqual([]);
  expect(simulation.posts).toBe(1);
  expect(simulation.stack.ids).toEqual(simulation.ids);
});

test("if the destroy call is answered with a pause of a day, the delete ends at once, and the instance stays until the next run", async () => {
  using simulation = new Simulation();
  await simulation.run((engine) => engine.up(program(1)));
  const before = simulation.seconds;
  const refused = refuse(simulation, isDelete, `${daySeconds}`);
  const run = await simulation.run((engine) => engine.destroy());
  expect(simulation.seconds - before).toBeLessThan(60);
  expect(refused.count).toBe(1);
  const [message] = messagesOf(run);
  expectExplained(message);
  expect(message).toMatch(
    /^whether .* was destroyed is not known:[^]*\nThe instance stays in the state\.$/,
  );
  expect(simulation.stack.ids).toEqual(simulation.ids);
  simulation.faultFor = () => undefined;
  const next = await simulation.run((engine) => engine.destroy());
  expect(next.engine.failed).toEqual([]);
  expect([...simulation.stack.ids, ...simulation.ids]).toEqual([]);
});

test("of two operations that share a listing, the one with the longer time-out waits for the end of the pause", async () => {
  using simulation = new Simulation();
  let refusals = 0;
  simulation.faultFor = (sent) =>
    isListing(sent) && refusals++ === 0 ? tooMany("1200") : undefined;
  const { create } = await creator(simulation);
  const both = Promise.all([create("short", 900), create("long", 3600)]);
  const [short, long] = await simulation.timeline.untilEnd(both);
  expect(short.message).toContain("the service asks for a pause");
  expect(short.at).toBeLessThan(60);
  expect(long.message).toBe("created");
  expect(long.at).toBeGreaterThanOrEqual(1200);
  expect(simulation.posts).toBe(1);
});

test.each([
  [2, 4, 0],
  [3, 8, 0],
  [4, 20, 0],
  [5, 20, 0],
  [60, 300, 90],
  [100, 400, 90],
])(
  "if the service counts POSTs and listings together, %d a minute, %d creates neither wait for each other for ever nor time out, also after a pause of %d s",
  async (requestsPerMinute, count, pauseSeconds) => {
    const rate = { requestsPerMinute, rateScope: "path" } as const;
    using simulation = new Simulation({ provisioningSeconds: 5, ...cursor, ...rate });
    let hasPaused = pauseSeconds === 0;
    // The pause begins when the POSTs of the first minute have used the limit up, and later ones need a new baseline.
    simulation.faultFor = (sent) => {
      if (hasPaused || !isListing(sent) || simulation.seconds < 80) return undefined;
      hasPaused = true;
      return tooMany(`${pauseSeconds}`);
    };
    const run = simulation.begin({ ...cursor, requestsPerMinute });
    await simulation.timeline.untilEnd(run.engine.up(program(count)));
    expect(run.engine.failed).toEqual([]);
    expect(hasPaused).toBe(true);
    expect(simulation.ids).toHaveLength(count);
  },
);

test("in a 429 storm, the Info column says what the service answers, and when the next try is", async () => {
  using simulation = new Simulation();
  let refusals = 0;
  simulation.faultFor = (sent) =>
    (isPost(sent) || isListing(sent)) && refusals++ < 8 ? tooMany("12") : undefined;
  const run = await simulation.run((engine) => engine.up(program(2)));
  expect(run.engine.failed).toEqual([]);
  const shown = run.statuses.filter((text) => /^429, next try in 1[12] s, \d+ s of /.test(text));
  expect(shown.length).toBeGreaterThanOrEqual(2);
});

test("a listing that is repeated after a 503 shows that in the Info column, also in a refresh", async () => {
  using simulation = new Simulation();
  await simulation.run((engine) => engine.up(program(1)));
  let refusals = 0;
  simulation.faultFor = (sent) =>
    isListing(sent) && refusals++ < 2 ? { kind: "status", status: 503, acted: false } : undefined;
  const run = await simulation.run((engine) => engine.refresh());
  expect(run.engine.failed).toEqual([]);
  const [id = ""] = simulation.ids;
  expect(run.statuses).toEqual([expect.stringMatching(`^503, .*1 s of 5 min, ${id}$`)]);
});
