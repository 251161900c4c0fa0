/** Tests that an answer whose ids are numbers is refused as that, wherever it is needed. */
import { expect, test } from "@jest/globals";
import type { Fault } from "./faults";
import type { SentRequest } from "./network";
import { Simulation, program, type Run } from "./simulation";

const numbers = "the ids in the service's listing are numbers, not texts";
const listing: Fault = {
  kind: "body",
  text: '{"object":"list","data":[{"id":4711,"name":"web-canary"}],"has_more":false}',
};
const isListing = ({ method, path }: SentRequest) =>
  method === "GET" && path.startsWith("/v2/instances");
const messageOf = ({ engine }: Run) => engine.failed[0]?.error.message;

test("if a listing has numbers as ids, a create says so, and sends nothing", async () => {
  using simulation = new Simulation();
  simulation.faultFor = (sent) => (isListing(sent) ? listing : undefined);
  const run = await simulation.run((engine) => engine.up(program(1)));
  expect(messageOf(run)).toContain(numbers);
  expect(messageOf(run)).toContain("Check that compute:baseUrl");
  expect(simulation.posts).toBe(0);
});

test("if a listing has numbers as ids, refresh and delete say so, and the state stays (G3)", async () => {
  using simulation = new Simulation();
  await simulation.run((engine) => engine.up(program(1)));
  simulation.faultFor = (sent) => (isListing(sent) ? listing : undefined);
  for (const run of [
    await simulation.run((engine) => engine.refresh()),
    await simulation.run((engine) => engine.destroy()),
  ]) {
    expect(messageOf(run)).toContain(numbers);
    expect(simulation.stack.ids).toEqual(simulation.ids);
  }
  expect(simulation.ids).toHaveLength(1);
});

test("if only some ids are numbers, the warning of a refresh says that one could not be read, and why", async () => {
  using simulation = new Simulation();
  await simulation.run((engine) => engine.up(program(1)));
  const text = '{"object":"list","data":[{"id":"i-other"},{"id":4711}],"has_more":false}';
  simulation.faultFor = (sent) => (isListing(sent) ? { kind: "body", text } : undefined);
  const run = await simulation.run((engine) => engine.refresh());
  expect(run.warnings).toEqual([
    expect.stringContaining("it holds an item that can't be read (its id is a number, not a text)"),
  ]);
  expect(simulation.stack.ids).toEqual(simulation.ids);
});

test("a 202 whose id is a number is an unclear answer: the create says what it was, and its instance is found by name", async () => {
  using simulation = new Simulation();
  simulation.faultFor = ({ method }) =>
    method === "POST" ? { kind: "body", text: '{"id":4711,"name":"web-canary"}' } : undefined;
  const run = await simulation.run((engine) => engine.up(program(1)));
  expect(run.engine.failed).toEqual([]);
  expect(simulation.posts).toBe(1);
  expect(simulation.stack.ids).toEqual(simulation.ids);
});

test("if the answers to the POST and to the search have numbers as ids, the error says both, and nothing more is sent (G2)", async () => {
  using simulation = new Simulation();
  simulation.faultFor = (sent) => {
    if (sent.method === "POST") return { kind: "body", text: '{"id":4711,"name":"web-canary"}' };
    return isListing(sent) && simulation.posts > 0 ? listing : undefined;
  };
  const run = await simulation.run((engine) => engine.up(program(1)));
  const message = messageOf(run);
  expect(message).toContain(
    "POST /v2/instances: the body of the answer has wrong or missing fields: id (a number, not a text)",
  );
  expect(message).toContain(numbers);
  expect(message).not.toMatch(/4711|web-canary/);
  expect(simulation.posts).toBe(1);
});
