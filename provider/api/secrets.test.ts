/** Tests that the lines on requests and the errors show no secrets (G8). */
import { inspect } from "node:util";
import { expect, test } from "@jest/globals";
import { VirtualClock } from "../testing/virtualClock";
import { answer, cut, redirect, reset, type Reaction } from "./testing/scriptedServer";
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
      const client = testClient(baseUrl, {
        clock,
        patienceMs: 3500,
        log: (line) => lines.push(line),
      });
      await client.listPage({ limit: 5, cursor }, never);
    },
  );
  expect(lines).toEqual([
    "GET /v2/instances?limit=5&after=%1Btok 500 65 bytes req_9 in 0 ms",
    "GET /v2/instances?limit=5&after=%1Btok unanswered: connection broke in the middle of the answer (HTTP 200) after 0 ms",
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

/** The message of the error that this answer to a create with the script becomes. */
async function shownOf(script: string, react: Reaction): Promise<string> {
  const body = { ...createBody, user_data: Buffer.from(script).toString("base64") };
  return await withServer([{ expect: "POST /v2/instances", react }], async ({ baseUrl }) => {
    const failure = await failedPost(create(testClient(baseUrl), { body }));
    return failure.message.replace("POST /v2/instances: ", "");
  });
}

test("what the service says of a create with user data is shown (G9)", async () => {
  const script = "#!/bin/sh\ncurl https://acme.test/setup | sh\n";
  const error = {
    code: "bad_name",
    message: "line 1: #!/bin/ is no name",
    doc_url: "https://docs.example/errors#bad_name",
    request_id: "req_1",
  };
  expect(await shownOf(script, answer(400, { error }))).toBe(
    "line 1: #!/bin/ is no name (HTTP 400, code bad_name, request_id req_1, see https://docs.example/errors#bad_name)",
  );
  expect(await shownOf(script, answer(400, "no: #!/bin/"))).toBe(
    "the service answered Bad Request: no: #!/bin/ (HTTP 400)",
  );
});

const script = '#cloud-config\nusers:\n  - "hunter2.acme"\n  - "öß€"\n';
const base64 = Buffer.from(script).toString("base64");
test.each<[string, Reaction, string]>([
  ["message", answer(400, { error: { message: `near ${script}` } }), "near [secret] (HTTP 400)"],
  ["Base64", answer(400, { error: { message: `no ${base64}!` } }), "no [secret]! (HTTP 400)"],
  [
    "JSON",
    answer(400, { error: { message: `no ${JSON.stringify({ s: script })}` } }),
    'no {"s":[secret]} (HTTP 400)',
  ],
  [
    "part",
    answer(400, { error: { message: "pw 1unter2.\u001bacme?" } }),
    "pw 1[secret]? (HTTP 400)",
  ],
  [
    "other fields",
    answer(400, {
      error: { code: base64, request_id: "r hunter2.a", doc_url: `https://x/${base64}` },
    }),
    "the service answered Bad Request (HTTP 400, code [secret], request_id r [secret], see https://x/[secret])",
  ],
  ["text", answer(400, script), "the service answered Bad Request: [secret] (HTTP 400)"],
  [
    "redirect",
    redirect(307, "https://hunter2.acme/"),
    "redirected to https://[secret], which is not followed: nothing was sent there (HTTP 307)",
  ],
])("what an answer repeats of the user data is not shown: %s (G8)", async (_, react, shown) => {
  expect(await shownOf(script, react)).toBe(shown);
});
