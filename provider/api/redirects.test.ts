/** Tests that the client follows no redirect. */
import { expect, test } from "@jest/globals";
import { answer, redirect, ScriptedServer } from "./testing/scriptedServer";
import { create, failureOf, never, testClient, withServer } from "./testing/testClient";

const account = "GET /v2/account";
const post = "POST /v2/instances";

test("a redirect to another origin is refused, so the other origin gets no token (G8)", async () => {
  await using other = await ScriptedServer.start([]);
  await withServer(
    [{ expect: account, react: redirect(302, `${other.baseUrl}/account?secret=1`) }],
    async ({ baseUrl }) => {
      const failure = await failureOf(testClient(baseUrl).account(never));
      expect(failure).toMatchObject({ kind: "answered", status: 302, path: "/v2/account" });
      expect(failure.message).toBe(
        `GET /v2/account: redirected to http://127.0.0.1:${other.port}, which is not followed: ` +
          "nothing was sent there (HTTP 302)",
      );
    },
  );
  expect(other.connections).toBe(0);
});

test.each([
  [301, "https://127.0.0.1/v2", "https://127.0.0.1, which"],
  [302, "//evil.test/v2", "http://evil.test, which"],
  [303, "/v3/account?secret=1", "another path of http://127.0.0.1:PORT, which"],
  [308, "http://[", "no address, which"],
])("a %d to %s is refused, and no query is shown", async (status, location, target) => {
  const react = redirect(status, location);
  await withServer([{ expect: account, react }], async ({ baseUrl, port }) => {
    const failure = await failureOf(testClient(baseUrl).account(never));
    expect(failure).toMatchObject({ kind: "answered", status });
    expect(failure.message).toContain(`redirected to ${target.replace("PORT", `${port}`)}`);
    expect(failure.message).not.toContain("secret");
  });
});

test("a redirected POST is not sent again, and its outcome is unclear (G2)", async () => {
  await withServer([{ expect: post, react: redirect(307, "/v2/instances/") }], async (server) => {
    const failure = { kind: "answered", status: 307 };
    expect(await create(testClient(server.baseUrl))).toMatchObject({ kind: "unclear", failure });
  });
});

test.each([304, 302])("a %d without a location is an error", async (status) => {
  await withServer([{ expect: account, react: answer(status) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status });
  });
});
