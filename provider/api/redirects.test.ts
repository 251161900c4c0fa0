import { expect, test } from "@jest/globals";
import { answer, redirect, ScriptedServer } from "./testing/scriptedServer";
import { create, failureOf, never, testClient, times, withServer } from "./testing/testClient";

const account = "GET /v2/account";
const post = "POST /v2/instances";

test("a redirect to another origin is refused: the other one sees no request, so no token (G8)", async () => {
  const other = await ScriptedServer.start([]);
  await withServer(
    [{ expect: account, react: redirect(302, `${other.baseUrl}/account?secret=1`) }],
    async ({ baseUrl }) => {
      const failure = await failureOf(testClient(baseUrl).account(never));
      expect(failure).toMatchObject({ kind: "answered", status: 302, path: "/v2/account" });
      expect(failure.message).toContain(`redirected to http://127.0.0.1:${other.port}, which`);
      expect(failure.message).toContain("the token was not sent there");
      expect(failure.message).not.toContain("secret");
    },
  );
  expect(other.connections).toBe(0);
  await other.done();
});

test.each(["https://127.0.0.1/v2", "ftp://x", "javascript:alert(1)", "http://[", "//evil.test/v2"])(
  "a redirect to %s is refused",
  async (location) => {
    await withServer([{ expect: account, react: redirect(307, location) }], async ({ baseUrl }) => {
      expect((await failureOf(testClient(baseUrl).account(never))).message).toMatch(
        /redirected to/,
      );
    });
  },
);

test("a GET follows three redirects on its own origin", async () => {
  await withServer(
    [
      { expect: account, react: redirect(301, "/v2/account/") },
      { expect: "GET /v2/account/", react: redirect(308, "me?x=1") },
      { expect: "GET /v2/account/me?x=1", react: redirect(303, "?x=2") },
      { expect: "GET /v2/account/me?x=2", react: answer(200, { id: 1 }) },
    ],
    async ({ baseUrl }) => expect(await testClient(baseUrl).account(never)).toEqual({ id: 1 }),
  );
});

test("a fourth redirect is refused", async () => {
  const react = redirect(302, "/v2/account");
  await withServer(times(4, { expect: account, react }), async ({ baseUrl }) => {
    const failure = await failureOf(testClient(baseUrl).account(never));
    expect(failure.message).toMatch(/more than 3 times/);
  });
});

test("a POST follows no redirect, not even on its own origin (G2)", async () => {
  await withServer([{ expect: post, react: redirect(307, "/v2/instances/") }], async (server) => {
    const outcome = await create(testClient(server.baseUrl));
    expect(outcome).toMatchObject({
      kind: "unclear",
      failure: { kind: "answered", status: 307 },
    });
    expect(outcome).toHaveProperty(
      "failure.message",
      expect.stringContaining("a POST never follows"),
    );
  });
});

test("a 304, or a redirect that does not say where to, is an error answer", async () => {
  await withServer([{ expect: account, react: answer(304) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status: 304 });
  });
  await withServer([{ expect: account, react: answer(302) }], async ({ baseUrl }) => {
    expect(await failureOf(testClient(baseUrl).account(never))).toMatchObject({ status: 302 });
  });
});
