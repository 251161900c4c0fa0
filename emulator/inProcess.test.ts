/** Tests that the emulator gives the same responses without sockets as with them, and that it can be reset. */
import { expect, test } from "@jest/globals";
import { startEmulator } from "./index";
import { startInProcess, type InProcessRequest } from "./inProcess";
import { seeded } from "./random";

const authorization = "Bearer sk_test_acme_1";
const post = (name: string): InProcessRequest => ({
  method: "POST",
  target: "/v2/instances",
  authorization,
  contentType: "application/json",
  body: JSON.stringify({ name, flavor_id: "f", image_id: "i", vpc_id: "v" }),
});
const list = { method: "GET", target: "/v2/instances?limit=5", authorization };
const conversation: InProcessRequest[] = [
  { method: "GET", target: "/v2/account", authorization },
  { method: "GET", target: "/v2/account" },
  post("web"),
  { ...post("web"), contentType: "text/plain" },
  { ...post("web"), body: "{" },
  list,
  { method: "GET", target: "/v2/instances?limit=0", authorization },
  { method: "PUT", target: "/v2/instances", authorization },
  { method: "DELETE", target: "/v2/instances/i-1", authorization },
  { method: "GET", target: "/v2/flavors", authorization },
];
const options = () => ({
  random: seeded(7),
  clock: { now: () => 1_700_000_000_000 },
  destroyPath: "/v2/instances/{id}",
});

test("responses are the same as over sockets: status, headers and body", async () => {
  using service = startInProcess(options());
  await using emulator = await startEmulator(options());
  for (const request of conversation) {
    const { method, target, body } = request;
    const headers = {
      ...(request.authorization && { Authorization: request.authorization }),
      ...(request.contentType && { "Content-Type": request.contentType }),
    };
    const sent = await fetch(emulator.origin + target, { method, headers, ...(body && { body }) });
    const answer = service.answer(request);
    expect(answer).toMatchObject({ status: sent.status, body: await sent.text(), acted: sent.ok });
    // The server of Node adds Date, Connection and Keep-Alive.
    expect(Object.fromEntries(sent.headers)).toMatchObject(answer.headers);
  }
  const log = (source: typeof emulator | typeof service) => source.control.requests();
  expect(log(service)).toEqual(log(emulator));
});

test("instance faults and list faults apply to the request with which they are given, or for which they are scripted", () => {
  using service = startInProcess(options());
  service.answer(post("web"), [{ kind: "endsAs", status: "LOST" }]);
  service.control.finishProvisioning();
  expect(JSON.parse(service.answer(list).body)).toMatchObject({ data: [{ status: "LOST" }] });
  expect(JSON.parse(service.answer(list, [{ kind: "omitItem" }]).body)).toMatchObject({ data: [] });
  service.control.fault({ kind: "showStatus", status: "ODD" });
  expect(JSON.parse(service.answer(list).body)).toMatchObject({ data: [{ status: "ODD" }] });
  service.control.fault({ kind: "reset" });
  expect(() => service.answer(list)).toThrow("without sockets there is no reset");
});

test("a reset restores the initial state", () => {
  let random = seeded(1);
  using service = startInProcess({ ...options(), random: () => random(), requestsPerMinute: 2 });
  const run = () => {
    random = seeded(1);
    return [post("a"), post("b"), post("c"), list].map((request) => service.answer(request));
  };
  service.control.setAccount({ json: "other" });
  const first = run();
  expect(first.map(({ status }) => status)).toEqual([202, 202, 429, 200]);
  service.control.fault({ kind: "omitItem" });
  service.control.declareToken("sk_test_acme_1", { state: "revoked" });
  service.reset();
  expect(run()).toEqual(first);
  expect(service.control.requests()).toHaveLength(4);
});
