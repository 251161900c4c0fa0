/** Tests that the lines on requests and the errors show no secrets (G8). */
import { inspect } from "node:util";
import { expect, test } from "@jest/globals";
import { VirtualClock } from "../testing/virtualClock";
import { answer, cut, reset } from "./testing/scriptedServer";
import {
  create,
  createBody,
  failedPost,
  failureOf,
  never,
  testClient,
  testToken,
  times,
  withServer,
} from "./testing/testClient";

const list = "GET /v2/instances?limit=5&after=%1Btok";

test("one line is written per request, with method, path, status, bytes, request_id and time", async () => {
  const lines: string[] = [];
  const clock = new VirtualClock();
  clock.autoAdvance();
  const error = { code: "down", message: "wait\n", request_id: "req_9" };
  const cursor = { parameter: "after", value: "\u001btok" };
  await withServer(
    [
      { expect: list, react: answer(500, { error }) },
      { expect: list, react: cut(200, "{") },
      { expect: list, react: answer(200, { data: [], has_more: false }) },
    ],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl, { clock, log: (line) => lines.push(line) });
      await client.listPage({ limit: 5, cursor }, never);
    },
  );
  expect(lines).toEqual([
    "GET /v2/instances?limit=5&after=%1Btok 500 65 bytes req_9 in 0 ms",
    "GET /v2/instances?limit=5&after=%1Btok unanswered: the connection broke in the middle of the answer (HTTP 200) after 0 ms",
    "GET /v2/instances?limit=5&after=%1Btok 200 28 bytes in 0 ms",
  ]);
});

test("no request line and no error shows the token or the user data, whatever the service answers (G8)", async () => {
  const lines: string[] = [];
  const user_data = Buffer.from("#!/bin/sh\necho canary-user-data\n").toString("base64");
  const echo = `Bearer ${testToken} ${user_data}`;
  const body = { ...createBody, user_data };
  const post = "POST /v2/instances";
  await withServer(
    [
      { expect: post, react: answer(400, echo) },
      { expect: post, react: answer(400, { error: { message: echo, doc_url: echo } }) },
      { expect: post, react: answer(202, echo) },
      { expect: post, react: cut(202, echo) },
      { expect: post, react: reset },
      ...times(1, { expect: "GET /v2/account", react: answer(403, echo) }),
    ],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl, { log: (line) => lines.push(line) });
      const failures = [];
      for (let post = 0; post < 5; post++) {
        failures.push(await failedPost(create(client, { body })));
      }
      failures.push(await failureOf(client.account(never)));
      const written = [...lines, ...failures.map((failure) => inspect(failure, { depth: 9 }))];
      expect(lines).toHaveLength(6);
      expect(written.join("\n")).not.toContain(testToken);
      const posts = [...lines, ...failures.slice(0, 5).map((failure) => inspect(failure))];
      expect(posts.join("\n")).not.toContain(user_data);
      expect(posts.join("\n")).not.toContain("canary-user-data");
    },
  );
});

test("no half of a secret is shown, even if the answer puts the secret behind much white space (G8)", async () => {
  const secret = "canary-name-of-the-instance";
  const react = answer(404, `${" ".repeat(16_384 - secret.length / 2)}${secret}`);
  await withServer([{ expect: "GET /v2/account", react }], async ({ baseUrl }) => {
    const redact = (text: string) => text.replaceAll(secret, "[secret]");
    const failure = await failureOf(testClient(baseUrl, { redact }).account(never));
    expect(failure.message).toMatch(/Not Found: \[secret\] \(HTTP 404\)$/);
  });
});

test("after a create with user data, an error shows only the status, the code and the request_id of an answer (G8)", async () => {
  const body = { ...createBody, user_data: Buffer.from("#!/bin/sh").toString("base64") };
  const more = { message: "line 1: #!/bi", doc_url: "https://docs.example/#!/bi" };
  const error = { code: "bad_name", request_id: "req_1", ...more };
  const post = "POST /v2/instances";
  await withServer(
    [
      { expect: post, react: answer(400, { error }) },
      { expect: post, react: answer(400, { error: { message: more.message } }) },
      { expect: post, react: answer(400, "line 1: #!/bi") },
      { expect: post, react: answer(307, "", { location: "https://acme.example/#!/bi" }) },
      { expect: post, react: answer(400, { error }) },
    ],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      const seen = [];
      for (let sent = 0; sent < 4; sent++) seen.push(await create(client, { body }));
      const notShown = "(more is not shown, because it may repeat the user data)";
      const bad = `POST /v2/instances: the service answered Bad Request ${notShown}`;
      expect(
        seen.map((outcome) => "failure" in outcome && [outcome.kind, outcome.failure.message]),
      ).toEqual([
        ["refused", `${bad} (HTTP 400, code bad_name, request_id req_1)`],
        // With a message, it is the documented envelope: surely refused.
        ["refused", `${bad} (HTTP 400)`],
        ["unclear", `${bad} (HTTP 400)`],
        ["unclear", expect.not.stringContaining("acme")],
      ]);
      // Without user data, the message is shown.
      expect((await failedPost(create(client))).message).toContain(more.message);
    },
  );
});
