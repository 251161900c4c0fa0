import { expect, test } from "@jest/globals";
import { TimedOut } from "./abort";
import { OperationFailed } from "./errors";
import { answered, failed } from "./testing/fakeService";
import { errorOf, scene } from "./testing/scene";

const never = new AbortController().signal;

test("the account is asked once a process, when first needed", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => ({ id: "acc-1" });
  expect(service.calls).toEqual([]);
  const all = await Promise.all([session.connect(never), session.connect(never)]);
  await session.connect(never);
  expect(service.calls).toEqual(["account"]);
  expect(all[0]?.origin.account).toBe("acc-1");
});

test("validateCredentials false: the account is never asked", async () => {
  const { session, service } = scene({ validateCredentials: false });
  await session.connect(never);
  expect(service.calls).toEqual([]);
});

test("a 401 stops with one clear error, and is not asked for again", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => {
    throw answered(401, "GET");
  };
  for (let n = 0; n < 2; n++) {
    const error = await errorOf(session.connect(never));
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
  await session.connect(never);
  await session.connect(never);
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
    expect(await errorOf(session.connect(never))).toBe(fault);
    await session.connect(never);
    expect(service.calls).toEqual(["account", "account"]);
  },
);

test("an answer without a usable id is no account", async () => {
  for (const answer of [undefined, "text", { id: 5 }, { id: "" }, null]) {
    const { session, service } = scene();
    service.accountAnswer = () => answer;
    expect((await session.connect(never)).origin).not.toHaveProperty("account");
  }
});

test("an account call that hangs is waited for no longer than the operation lasts", async () => {
  const { session, service } = scene();
  service.accountAnswer = () => new Promise(() => undefined);
  const { signal } = session.operation(5);
  expect(await errorOf(session.connect(signal))).toBeInstanceOf(TimedOut);
});

test("a client that can't be made is an error of the settings, not a defect", async () => {
  const { session, around } = scene();
  around.createApi = () => {
    throw new Error("HTTPS_PROXY is no address");
  };
  const error = await errorOf(session.connect(never));
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error.message).toContain("HTTPS_PROXY is no address");
});

test("a cursor that the service ignores is warned of once a process", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.listings.get(session.listings.shareable, never);
  await clock.sleep(10_000);
  await session.listings.get(session.listings.shareable, never);
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});

test("the grace for an answer begins with the end of the operation, and leaves no timer", async () => {
  const { session, clock } = scene();
  const ending = new AbortController();
  const { signal, stop } = session.grace(ending.signal);
  await clock.sleep(60_000);
  expect(signal.aborted).toBe(false);
  ending.abort(new TimedOut(1));
  await clock.sleep(9999);
  expect(signal.aborted).toBe(false);
  await clock.sleep(1);
  await new Promise(setImmediate);
  expect(signal.aborted).toBe(true);
  stop();

  const other = session.grace(ending.signal);
  other.stop();
  expect(clock.sleeping).toBe(0);
  await clock.sleep(20_000);
  expect(other.signal.aborted).toBe(false);
});
