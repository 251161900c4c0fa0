/** Tests of a session's connection to the service, with a fake service. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { TimedOut } from "../abort";
import { OperationFailed } from "../errors";
import { answered, failed } from "../testing/fakeService";
import { errorOf, liveToken, scene } from "../testing/scene";
import { temporaryFolder } from "../testing/temporaryFolder";

const never = new AbortController().signal;

test("the account is requested once in a session, when it is first needed", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => ({ id: "acc-1" });
  expect(service.calls).toEqual([]);
  const all = await Promise.all([session.connection.open(never), session.connection.open(never)]);
  await session.connection.open(never);
  expect(service.calls).toEqual(["account"]);
  expect(all[0]?.origin.account).toBe("acc-1");
});

test("with validateCredentials false, the account is never requested", async () => {
  const { session, service } = scene({ validateCredentials: false });
  await session.connection.open(never);
  expect(service.calls).toEqual([]);
});

test("a 401 is one clear error, and the account is not requested again", async () => {
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

test("a 403 for the account is one warning, since the token may still list and create", async () => {
  const { session, service, messages } = scene();
  service.accountAnswer = () => {
    throw answered(403, "GET");
  };
  await session.connection.open(never);
  await session.connection.open(never);
  expect(messages.warnings).toEqual([expect.stringContaining("could not be checked")]);
});

test.each([answered(503, "GET"), failed("unreachable", "refused", "GET")])(
  "after a failure that may pass, the account is requested again: %s",
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

test("a response without a usable id leaves the origin without an account", async () => {
  for (const answer of [undefined, "text", { id: 5 }, { id: "" }, null]) {
    const { session, service } = scene();
    service.accountAnswer = () => answer;
    expect((await session.connection.open(never)).origin).not.toHaveProperty("account");
  }
});

test("an account request that hangs is waited for until the time-out of the operation", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => new Promise(() => undefined);
  const { signal } = session.operation(5);
  expect(await errorOf(session.connection.open(signal))).toBeInstanceOf(TimedOut);
});

test("if the client can't be made, this is an error of the settings, not a defect", async () => {
  const { session, ctx } = scene();
  ctx.createApi = () => {
    throw new Error("HTTPS_PROXY is no address");
  };
  const error = await errorOf(session.connection.open(never));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("HTTPS_PROXY is no address");
});

/** A session whose token came from a file, with the function that the client calls after a 401. */
async function withTokenFile() {
  const { session, ctx, service, messages } = scene();
  const file = join(temporaryFolder(), "token");
  session.settings.apiTokenFile = file;
  let renewToken: ((refused: string) => string | undefined) | undefined;
  ctx.createApi = (options) => {
    ({ renewToken } = options);
    return service;
  };
  await session.connection.api();
  const write = (content: string) => writeFileSync(file, content);
  const renew = (refused: string) => renewToken?.(refused);
  return { session, ctx, messages, file, write, renew };
}

test("after a 401, the token is read from its file anew, and removed from messages from then on (G8)", async () => {
  const { session, ctx, messages, file, write, renew } = await withTokenFile();
  write(`${liveToken}\n`);
  expect(renew(liveToken)).toBeUndefined();
  expect(session.connection.renewals).toBe(0);
  write("sk_live_rotated_canary\n");
  expect(renew(liveToken)).toBe("sk_live_rotated_canary");
  // Another request was sent with the old token, and is now refused.
  expect(renew(liveToken)).toBe("sk_live_rotated_canary");
  expect(session.connection.renewals).toBe(1);
  expect(messages.all).toEqual([
    `info the service refused the token; the run continues with the new one in ${file}`,
  ]);
  expect(ctx.redactor.redact("sk_live_rotated_canary")).toBe("[secret]");
});

test.each([
  ["sk_test_rotated_canary", "holds a test token now, but this run began with a live one"],
  ["", "is empty"],
])("if the file has no usable token then (%j), one warning says why", async (content, why) => {
  const { session, messages, file, write, renew } = await withTokenFile();
  write(content);
  for (let n = 0; n < 2; n++) expect(renew(liveToken)).toBeUndefined();
  expect(session.connection.renewals).toBe(0);
  expect(messages.all).toEqual([
    `warning the service refused the token, and there is no new one: COMPUTE_API_TOKEN_FILE (${file}) ${why}`,
  ]);
});

test("a token that is not from a file is never renewed", async () => {
  const { session, ctx, service } = scene();
  let hasRenewal: boolean | undefined;
  ctx.createApi = ({ renewToken }) => {
    hasRenewal = renewToken !== undefined;
    return service;
  };
  await session.connection.api();
  expect(hasRenewal).toBe(false);
});
