/** Tests which outcome a POST has for each error. */
import { expect, test } from "@jest/globals";
import { type FailureKind, RequestError, type ServiceError } from "./requestError";
import { answeredBroken, outcomeOf } from "./postOutcome";

const never = new AbortController().signal;

function failure(kind: FailureKind, status?: number, service?: ServiceError): RequestError {
  return new RequestError({ kind, method: "POST", path: "/p", cause: kind, status, service });
}

test.each<[FailureKind, number | undefined, ServiceError | undefined, string]>([
  ["unsendable", undefined, undefined, "notSent"],
  ["unreachable", undefined, undefined, "notSent"],
  ["unanswered", undefined, undefined, "unclear"],
  ["unanswered", 400, undefined, "unclear"],
  ["unreadable", 202, undefined, "unclear"],
  ["answered", 429, undefined, "rateLimited"],
  ["answered", 429, { message: "m" }, "rateLimited"],
  ["answered", 400, { message: "m" }, "refused"],
  ["answered", 402, { code: "c" }, "refused"],
  ["answered", 400, { requestId: "req_1" }, "unclear"],
  ["answered", 401, undefined, "unclear"],
  ["answered", 307, undefined, "unclear"],
  ["answered", 500, { message: "m" }, "unclear"],
  ...[411, 413, 414, 415, 431].map(
    (status) =>
      ["answered", status, undefined, "refused"] satisfies [FailureKind, number, undefined, string],
  ),
  ...[408, 409, 425, 499].map(
    (status) =>
      ["answered", status, { message: "m" }, "unclear"] satisfies [
        FailureKind,
        number,
        ServiceError,
        string,
      ],
  ),
])("after a failure %s, %s, %j the outcome is %s", (kind, status, service, outcome) => {
  const error = failure(kind, status, service);
  expect(outcomeOf(error, never)).toEqual({ kind: outcome, failure: error });
});

test("only the reason of the signal `unsent` shows that nothing was sent", () => {
  const reason = new Error("cancelled");
  const unsent = AbortSignal.abort(reason);
  expect(outcomeOf(reason, unsent)).toEqual({ kind: "notSent", failure: reason });
  expect(outcomeOf(reason, never)).toMatchObject({ kind: "unclear", failure: { cause: reason } });
  expect(outcomeOf("odd", unsent)).toMatchObject({ kind: "unclear" });
});

test("`answeredBroken` is true only for a complete response with 500, 502 or 503", () => {
  const broken = [500, 502, 503].map((status) => answeredBroken(failure("answered", status)));
  expect(broken).toEqual([true, true, true]);
  expect(answeredBroken(failure("answered", 504))).toBe(false);
  expect(answeredBroken(failure("unanswered", 500))).toBe(false);
});
