/** Tests that a create refuses answers whose ids are numbers as that. */
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
