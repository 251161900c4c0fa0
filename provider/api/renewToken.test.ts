/** Tests what the client does when the service refuses the token, and there may be a new one. */
import { expect, test } from "@jest/globals";
import { answer, type Step } from "./testing/scriptedServer";
import { create, failureOf, never, testClient, testToken, withServer } from "./testing/testClient";

const newToken = "sk_test_canary_new1";
const envelope = { error: { code: "unauthorized", message: "no" } };
const refused = answer(401, envelope);
const account = "GET /v2/account";
const post = "POST /v2/instances";
const accepted = answer(202, { id: "i-1" });

/** Runs a test. Returns the tokens with which requests were sent, and the tokens that `renewToken` was called with. */
async function tokensOf(
  script: Step[],
  newestToken: string | undefined,
  run: (client: ReturnType<typeof testClient>) => Promise<void>,
): Promise<{ sent: (string | undefined)[]; asked: string[] }> {
  const asked: string[] = [];
  const renewToken = (token: string) => {
    asked.push(token);
    return newestToken;
  };
  return await withServer(script, async ({ baseUrl, seen }) => {
    await run(testClient(baseUrl, { renewToken }));
    return { sent: seen.map(({ headers }) => headers["authorization"]), asked };
  });
}
const [old, renewed] = [`Bearer ${testToken}`, `Bearer ${newToken}`];

test("after a 401, a GET is sent once more with the new token, and so is every later request", async () => {
  const ok = { expect: account, react: answer(200, {}) };
  const tokens = await tokensOf(
    [{ expect: account, react: refused }, ok, ok],
    newToken,
    async (client) => {
      await client.account(never);
      await client.account(never);
    },
  );
  expect(tokens).toEqual({ sent: [old, renewed, renewed], asked: [testToken] });
});

test("a GET is sent again with one new token", async () => {
  const step = { expect: account, react: refused };
  const tokens = await tokensOf([step, step], newToken, async (client) => {
    expect(await failureOf(client.account(never))).toMatchObject({ status: 401 });
  });
  expect(tokens.sent).toEqual([old, renewed]);
});

test("without a new token, the request is not repeated", async () => {
  const script = [account, post].map((expected) => ({ expect: expected, react: refused }));
  const tokens = await tokensOf(script, undefined, async (client) => {
    expect(await failureOf(client.account(never))).toMatchObject({ status: 401 });
    expect(await create(client)).toMatchObject({ kind: "refused" });
  });
  expect(tokens.sent).toEqual([old, old]);
});

test("a POST whose token was refused is not sent again by the client, but its caller may send it again with another permit (G2)", async () => {
  const script = [
    { expect: post, react: refused },
    { expect: post, react: accepted },
  ];
  const tokens = await tokensOf(script, newToken, async (client) => {
    expect(await create(client)).toMatchObject({ kind: "rateLimited", failure: { status: 401 } });
    expect(await create(client)).toMatchObject({ kind: "accepted", accepted: { id: "i-1" } });
  });
  expect(tokens).toEqual({ sent: [old, renewed], asked: [testToken] });
});

test("a POST whose 401 has no error envelope is not repeated: another server may have answered (G2)", async () => {
  const script = [{ expect: post, react: answer(401, "<html>Sign in</html>") }];
  const tokens = await tokensOf(script, newToken, async (client) => {
    expect(await create(client)).toMatchObject({ kind: "unclear" });
  });
  expect(tokens).toEqual({ sent: [old], asked: [] });
});
