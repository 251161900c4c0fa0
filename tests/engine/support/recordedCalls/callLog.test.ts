/** Tests the reading of the engine's log of its calls, whose entries differ between versions. */
import { expect, test } from "@jest/globals";
import { readCalls } from "./callLog";

test("an entry without a request, as a List has for each further message, is no call of its own", () => {
  const ofProvider = (method: string) => ({
    method: `/pulumirpc.ResourceProvider/${method}`,
    metadata: { kind: "resource" },
  });
  const read = { ...ofProvider("Read"), request: { urn: "web", id: "i-1" } };
  const entries = [
    { ...ofProvider("List"), request: { token: "compute:index:Instance" }, response: {} },
    { ...ofProvider("List"), response: {} },
    { ...read, progress: "request_started" },
    { ...ofProvider("List"), response: {} },
    { ...read, progress: "response_completed", response: { id: "i-1" } },
  ];
  const calls = readCalls(entries.map((entry) => JSON.stringify(entry)).join("\n"));
  expect(calls).toMatchObject([
    { method: "List", answer: "ok" },
    { method: "Read", id: "i-1", answer: "ok", answerId: "i-1" },
  ]);
});
