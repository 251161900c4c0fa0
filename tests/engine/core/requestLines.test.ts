/** Tests that a past run can be asked for its requests, which only its encrypted log has unless COMPUTE_DEBUG=1. */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { instances, userData } from "../support/programs";
import { isOldest } from "../support/stack";

/** Selects the messages about requests in a decrypted log. docs/troubleshoot.md has this command. */
const ask = `pulumi logs decrypt --latest | grep -E '"msg":".*(GET|POST|DELETE) /'`;

/** Method, target, status and request_id. */
const requestLine = /^(\w+ \S+ \d{3}) \d+ bytes( req_\S+)? in \d+ ms$/;

test("the encrypted log of a run has each of its requests once with status and request_id, and no secret; the run prints none", async () => {
  const inputs = { userData };
  const program = instances({ web: { inputs }, db: { inputs } });
  await using fixture = await Fixture.create({ program, service: { provisioningSeconds: 1 } });
  const { stack, control } = fixture;
  for (const method of ["GET", "POST"])
    control.fault({ method, path: "/v2/instances", kind: "status", status: 429, after: 1 });

  const printed = await stack.up();

  expect(printed).not.toContain("/v2/instances");
  // This engine writes no logs.
  if (isOldest) return;
  const records = (await stack.type(ask)).split("\n").filter((line) => line.startsWith("{"));
  const logged = records.flatMap((record) => {
    const { msg } = JSON.parse(record) as { msg: string };
    // The engine writes each message twice: as it comes, and as it passes it on.
    if (msg.startsWith("eventSink")) return [];
    return msg.split("\n").flatMap((line) => {
      const [, outcome, requestId = ""] = requestLine.exec(line) ?? [];
      return outcome === undefined ? [] : [outcome + requestId];
    });
  });
  const sent = control.requests().map(({ id, method, path, query, status = NaN }) => {
    const parameters = new URLSearchParams(query).toString();
    const target = parameters === "" ? path : `${path}?${parameters}`;
    // Of the service's answers, only errors have a request_id.
    return `${method} ${target} ${status}${status === 429 ? ` ${id}` : ""}`;
  });
  expect(logged.sort()).toEqual(sent.sort());
  expect(logged.filter((line) => / 429 req_/.test(line))).toHaveLength(2);
  // Everything that is printed, and every log on disk, is searched for secrets.
});
