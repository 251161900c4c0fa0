/** Tests of a session's connection to the service, with a fake service. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { TimedOut } from "../abort";
import type { ClientOptions } from "../api/options";
import { RequestError } from "../api/requestError";
import { askAbout } from "../instance/existence";
import { answered, failed } from "../testing/fakeService";
import { errorOf, liveToken, scene } from "../testing/scene";
import { temporaryFolder } from "../testing/temporaryFolder";
import type { Session } from "./session";

const open = (session: Session) => session.connection.open(session.operations.begin(60));

test.each([
  [true, ["account"], "acc-1"],
  [false, [], undefined],
])(
  "with validateCredentials %j, the account is requested at most once",
  async (validateCredentials, calls, account) => {
    const { session, service } = scene({ validateCredentials });
    service.accountAnswer = () => ({ id: "acc-1" });
    expect(service.calls).toEqual([]);
    await Promise.all([open(session), open(session)]);
    expect((await open(session)).origin.account).toBe(account);
    expect(service.calls).toEqual(calls);
  },
);

test("after a 401, every call fails with the same error, and the account is not requested again", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => {
    throw answered(401, "GET");
  };
  for (let n = 0; n < 2; n++) {
    const error = await errorOf(open(session));
    expect(error).toMatchObject({ about: "token" });
  }
  expect(service.calls).toEqual(["account"]);
});

test("a 403 for the account causes one warning, since the token may still list and create", async () => {
  const { session, service, messages } = scene();
  service.accountAnswer = () => {
    throw answered(403, "GET");
  };
  await open(session);
  await open(session);
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
    expect(await errorOf(open(session))).toBe(fault);
    await open(session);
    expect(service.calls).toEqual(["account", "account"]);
  },
);

test.each([undefined, "text", { id: 5 }, { id: "" }, null])(
  "the response %j leaves the origin without an account",
  async (answer) => {
    const { session, service } = scene();
    service.accountAnswer = () => answer;
    expect((await open(session)).origin).not.toHaveProperty("account");
  },
);

test("an account request that hangs fails with the time-out of the operation", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => new Promise(() => undefined);
  expect(await errorOf(session.connection.open(session.operations.begin(5)))).toBeInstanceOf(
    TimedOut,
  );
});

test("if the client can't be made, the error blames the settings and is no defect", async () => {
  const { session, ctx } = scene();
  ctx.createApi = () => {
    throw new Error("HTTPS_PROXY is no address");
  };
  const error = await errorOf(open(session));
  expect(error).toBeInstanceOf(RequestError);
  expect(error.message).toContain("HTTPS_PROXY is no address");
});

const newToken = "sk_live_rotated_canary";

/** Makes a session whose token came from a file. */
async function withTokenFile() {
  const world = scene();
  const { session, ctx, service } = world;
  const file = join(temporaryFolder(), "token");
  session.settings.apiTokenFile = file;
  let renewToken: ClientOptions["renewToken"];
  ctx.createApi = (options) => {
    ({ renewToken } = options);
    return service;
  };
  await open(session);
  const write = (content: string) => writeFileSync(file, content);
  return { ...world, file, write, renew: (token: string) => renewToken?.(token) };
}

test("after a 401, the token is read from its file again, and the new token is removed from messages (G8)", async () => {
  const { ctx, messages, file, write, renew } = await withTokenFile();
  write(`${newToken}\n`);
  // The second request was sent with the old token, too, and is refused later.
  expect([renew(liveToken), renew(liveToken)]).toEqual([newToken, newToken]);
  expect(messages.all).toEqual([
    `info the service refused the token; the run continues with the new one in ${file}`,
  ]);
  expect(ctx.redactor.redact(newToken)).toBe("[secret]");
});

test("the file is read once after each 401, so a token that is replaced there too late is found after the next one", async () => {
  const { write, renew } = await withTokenFile();
  write(liveToken);
  expect(renew(liveToken)).toBeUndefined();
  write(newToken);
  expect(renew(liveToken)).toBe(newToken);
});

test.each([
  ["", "is empty"],
  [liveToken, "still holds the refused token"],
  ["sk_test_rotated_canary", "holds a test token now, but this run began with a live one"],
])(
  "with a file that has %j, the token is not renewed, and one warning says why: %s",
  async (content, why) => {
    const { messages, write, renew } = await withTokenFile();
    write(content);
    for (let n = 0; n < 2; n++) expect(renew(liveToken)).toBeUndefined();
    expect(messages.all).toEqual([
      expect.stringMatching(
        /^warning the service refused the token, and no other can be used: the file .* \(COMPUTE_API_TOKEN_FILE\) /,
      ),
    ]);
    expect(messages.all[0]).toContain(why);
  },
);

test("the origin has the hash of the new token, so that a listing without the run's instances proves nothing (G3)", async () => {
  const { session, service, write, renew } = await withTokenFile();
  const { origin } = await open(session);
  const instance = { id: "i-1", origin, acceptedAt: undefined };
  service.has("i-9");
  write(newToken);
  renew(liveToken);
  const found = await askAbout(session, instance, session.operations.begin(60));
  expect(found.origin.tokenHash).not.toBe(origin.tokenHash);
  expect(found.verdict.kind).toBe("open");
});

test("a token that is not from a file is never renewed", async () => {
  const { session, ctx, service } = scene();
  const options: ClientOptions[] = [];
  ctx.createApi = (clientOptions) => {
    options.push(clientOptions);
    return service;
  };
  await session.connection.api();
  const { apiToken } = session.settings;
  expect(options.map(({ renewToken }) => renewToken?.(apiToken))).toEqual([undefined]);
});
