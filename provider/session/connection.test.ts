/** Tests of a session's connection to the service, with a fake service. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { TimedOut } from "../abort";
import type { ClientOptions } from "../api/options";
import { OperationFailed } from "../errors";
import { answered, failed } from "../testing/fakeService";
import { errorOf, liveToken, scene } from "../testing/scene";
import { temporaryFolder } from "../testing/temporaryFolder";

const never = new AbortController().signal;

test.each([
  [true, ["account"], "acc-1"],
  [false, [], undefined],
])(
  "with validateCredentials %j, the account is requested at most once",
  async (validateCredentials, calls, account) => {
    const { session, service } = scene({ validateCredentials });
    const { connection } = session;
    service.accountAnswer = () => ({ id: "acc-1" });
    expect(service.calls).toEqual([]);
    await Promise.all([connection.open(never), connection.open(never)]);
    expect((await connection.open(never)).origin.account).toBe(account);
    expect(service.calls).toEqual(calls);
  },
);

test("after a 401, every call fails with the same error, and the account is not requested again", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => {
    throw answered(401, "GET");
  };
  for (let n = 0; n < 2; n++) {
    const error = await errorOf(session.connection.open(never));
    expect(error).toBeInstanceOf(OperationFailed);
    expect(error.message).toContain("invalid, expired or revoked");
  }
  expect(service.calls).toEqual(["account"]);
});

test("a 403 for the account causes one warning, since the token may still list and create", async () => {
  const { session, service, messages } = scene();
  service.accountAnswer = () => {
    throw answered(403, "GET");
  };
  await session.connection.open(never);
  await session.connection.open(never);
  expect(messages.warnings).toEqual([expect.stringContaining("could not be checked")]);
});

test.each([answered(503, "GET"), failed("unreachable", "refused", "GET")])(
  "after the transient failure %s, the account is requested again",
  async (fault) => {
    const { session, service } = scene();
    service.accountAnswer = () => {
      service.accountAnswer = () => ({});
      throw fault;
    };
    expect(await errorOf(session.connection.open(never))).toBe(fault);
    await session.connection.open(never);
    expect(service.calls).toEqual(["account", "account"]);
  },
);

test.each([undefined, "text", { id: 5 }, { id: "" }, null])(
  "the response %j leaves the origin without an account",
  async (answer) => {
    const { session, service } = scene();
    service.accountAnswer = () => answer;
    expect((await session.connection.open(never)).origin).not.toHaveProperty("account");
  },
);

test("an account request that hangs fails with the time-out of the operation", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => new Promise(() => undefined);
  const { signal } = session.operation(5);
  expect(await errorOf(session.connection.open(signal))).toBeInstanceOf(TimedOut);
});

test("if the client can't be made, the error blames the settings and is no defect", async () => {
  const { session, ctx } = scene();
  ctx.createApi = () => {
    throw new Error("HTTPS_PROXY is no address");
  };
  const error = await errorOf(session.connection.open(never));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("HTTPS_PROXY is no address");
});

const newToken = "sk_live_rotated_canary";

/**
 * Makes a session whose token came from a file. `listed` has the ids that the service lists for each token. With
 * `isOpen`, the session has an origin and a listing.
 */
async function withTokenFile(listed: Record<string, string[]> = {}, isOpen = true) {
  const world = scene();
  const { session, ctx, service } = world;
  const file = join(temporaryFolder(), "token");
  session.settings.apiTokenFile = file;
  let renewToken: ClientOptions["renewToken"];
  ctx.createApi = (options) => {
    renewToken ??= options.renewToken;
    const items = (listed[options.token] ?? []).map((id) => ({ id }));
    const own = Object.create(service) as typeof service;
    return Object.assign(own, { listPage: async () => ({ items, hasMore: false, unreadable: 0 }) });
  };
  const { connection } = session;
  await connection.api();
  if (isOpen) await connection.open(never);
  if (isOpen) await session.listings.get({}, never);
  const write = (content: string) => writeFileSync(file, content);
  return { ...world, file, write, renew: (token: string) => renewToken?.(token) };
}
const sameTenant = { [liveToken]: ["i-1", "i-2"], [newToken]: ["i-2"] };

test("after a 401, the token is read from its file again, and the new token is removed from messages (G8)", async () => {
  const { ctx, messages, file, write, renew } = await withTokenFile(sameTenant);
  write(`${newToken}\n`);
  // Two requests are refused at once.
  expect(await Promise.all([renew(liveToken), renew(liveToken)])).toEqual([newToken, newToken]);
  // A request that was sent with the old token is refused only now.
  expect(await renew(liveToken)).toBe(newToken);
  expect(messages.all).toEqual([
    `info the service refused the token; the run continues with the new one in ${file}`,
  ]);
  expect(ctx.redactor.redact(newToken)).toBe("[secret]");
});

test("the file is read once after each 401, so a token that is replaced there too late is found after the next one", async () => {
  const { write, renew } = await withTokenFile(sameTenant);
  write(liveToken);
  expect(await renew(liveToken)).toBeUndefined();
  write(newToken);
  expect(await renew(liveToken)).toBe(newToken);
});

test.each([
  ["", "is empty", sameTenant],
  [liveToken, "still holds the refused token", sameTenant],
  ["sk_test_rotated_canary", "holds a test token now, but this run began with a live one", {}],
  [newToken, "may be another tenant's", {}],
  [newToken, "may be another tenant's", { [liveToken]: ["i-1"], [newToken]: ["i-9"] }],
])(
  "with a file that has %j, the token is not renewed, and one warning says why: %s (G3)",
  async (content, why, listed) => {
    const { messages, write, renew } = await withTokenFile(listed);
    write(content);
    for (let n = 0; n < 2; n++) expect(await renew(liveToken)).toBeUndefined();
    expect(messages.all).toEqual([
      expect.stringMatching(
        /^warning the service refused the token, and no other can be used: the file .* \(COMPUTE_API_TOKEN_FILE\) /,
      ),
    ]);
    expect(messages.all[0]).toContain(why);
  },
);

test("an instance that this session has created shows that the new token is of its tenant", async () => {
  const { session, write, renew } = await withTokenFile({ [newToken]: ["i-own"] });
  session.creates.instances.set("i-own", "made");
  write(newToken);
  expect(await renew(liveToken)).toBe(newToken);
});

test("if the first token was never accepted, the origins of the session have the hash of the new one", async () => {
  const { session, write, renew } = await withTokenFile({}, false);
  const { tokenHash: first } = session.connection.place();
  write(newToken);
  expect(await renew(liveToken)).toBe(newToken);
  const { origin } = await session.connection.open(never);
  expect(origin.tokenHash).not.toBe(first);
  expect(session.settings.apiToken).toBe(newToken);
});

test("a token that is not from a file is never renewed", async () => {
  const { session, ctx, service } = scene();
  const options: ClientOptions[] = [];
  ctx.createApi = (clientOptions) => {
    options.push(clientOptions);
    return service;
  };
  await session.connection.api();
  expect(options).toMatchObject([{ renewToken: undefined }]);
});
