/** Tests that the client follows no redirect. */
import { expect, test } from "@jest/globals";
import { answer, redirect, ScriptedServer } from "./testing/scriptedServer";
import { create, failureOf, never, testClient, withServer } from "./testing/testClient";

const account = "GET /v2/account";
const post = "POST /v2/instances";

test("a redirect to another origin is refused, so the other origin gets no token (G8)", async () => {
  const other = await ScriptedServer.start([]);
  await withServer(
    [{ expect: account, react: redirect(302, `${other.baseUrl}/account?secret=1`) }],
    async ({ baseUrl }) => {
      const failure = await failureOf(testClient(baseUrl).account(never));
      expect(failure).toMatchObject({ kind: "answered", status: 302, path: "/v2/account" });
      expect(failure.message).toBe(
        `GET /v2/account: redirected to http://127.0.0.1:${other.port}, which is not followed: ` +
          "nothing was sent there. If the service is there, set compute:baseUrl to it (HTTP 302)",
      );
    },
  );
  expect(other.connections).toBe(0);
  await other.done();
});

test.each([
  ["https://127.0.0.1/v2", "https://127.0.0.1, which"],
  ["//evil.test/v2", "http://evil.test, which"],
  ["ftp://x", "an address that cannot be used"],
  ["javascript:alert(1)", "an address that cannot be used"],
  ["http://[", "an address that cannot be used"],
])("a redirect to %s is refused", async (location, target) => {
  await withServer([{ expect: account, react: redirect(307, location) }], async ({ baseUrl }) => {
    const { message } = await failureOf(testClient(baseUrl).account(never));
    expect(message).toContain(`redirected to ${target}`);
  });
});

test.each([301, 302, 303, 307, 308])(
  "a %d to another path of the service is refused too, and its query is not shown",
  async (status) => {
    const react = redirect(status, "/v3/account?secret=1");
    await withServer([{ expect: account, react }], async ({ baseUrl, port }) => {
      const failure = await failureOf(testClient(baseUrl).account(never));
      expect(failure).toMatchObject({ kind: "answered", status });
      expect(failure.message).toContain(`another path of http://127.0.0.1:${port}, which`);
      expect(failure.message).not.toContain("secret");
    });
  },
);

test("a redirected POST is not sent again, and its outcome is unclear (G2)", async () => {
  await withServer([{ expect: post, react: redirect(307, "/v2/instances/") }], async (server) => {
    const outcome = await create(testClient(server.baseUrl));
    expect(outcome).toMatchObject({
      kind: "unclear",
      failure: { kind: "answered", status: 307 },
    });
  });
});

test("a 304, or a redirect without a location, is an error", async () => {
  await withServer([{ expect: account, react: answer(304) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status: 304 });
  });
  await withServer([{ expect: account, react: answer(302) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status: 302 });
  });
});
