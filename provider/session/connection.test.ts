import { expect, test } from "@jest/globals";
import { TimedOut } from "../abort";
import { OperationFailed } from "../errors";
import { answered, failed } from "../testing/fakeService";
import { errorOf, scene } from "../testing/scene";

const never = new AbortController().signal;

test("the account is asked once a process, when first needed", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => ({ id: "acc-1" });
  expect(service.calls).toEqual([]);
  const all = await Promise.all([session.connection.open(never), session.connection.open(never)]);
  await session.connection.open(never);
  expect(service.calls).toEqual(["account"]);
  expect(all[0]?.origin.account).toBe("acc-1");
});

test("validateCredentials false: the account is never asked", async () => {
  const { session, service } = scene({ validateCredentials: false });
  await session.connection.open(never);
  expect(service.calls).toEqual([]);
});

test("a 401 stops with one clear error, and is not asked for again", async () => {
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

test("a 403 of the account call is one warning: a narrow token may still list and create", async () => {
  const { session, service, messages } = scene();
  service.accountAnswer = () => {
    throw answered(403, "GET");
  };
  await session.connection.open(never);
  await session.connection.open(never);
  expect(messages.warnings).toEqual([expect.stringContaining("could not be checked")]);
});

test.each([answered(503, "GET"), failed("unreachable", "refused", "GET")])(
  "after a passing fault the account is asked again: %s",
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

test("an answer without a usable id is no account", async () => {
  for (const answer of [undefined, "text", { id: 5 }, { id: "" }, null]) {
    const { session, service } = scene();
    service.accountAnswer = () => answer;
    expect((await session.connection.open(never)).origin).not.toHaveProperty("account");
  }
});

test("an account call that hangs is waited for no longer than the operation lasts", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => new Promise(() => undefined);
  const { signal } = session.operation(5);
  expect(await errorOf(session.connection.open(signal))).toBeInstanceOf(TimedOut);
});

test("a client that can't be made is an error of the settings, not a defect", async () => {
  const { session, ctx } = scene();
  ctx.createApi = () => {
    throw new Error("HTTPS_PROXY is no address");
  };
  const error = await errorOf(session.connection.open(never));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("HTTPS_PROXY is no address");
});
