/** Turns an answer that is no success into an error that says what the service said (G9). */
import { STATUS_CODES } from "node:http";
import { type RequestFailure, RequestError, type ServiceError } from "../errors";
import { type Answer, type Call, type Link, isSuccess } from "./exchange";
import { readEnvelope } from "./envelope";
import { excerpt } from "./text";

export const refuseErrors: Link = (next) => async (call) => {
  const answer = await next(call);
  if (isSuccess(answer.status)) return answer;
  throw new RequestError(failureOf(call, answer));
};

function failureOf(call: Call, answer: Answer): RequestFailure {
  const { method, path } = call;
  const service = readEnvelope(answer, call.clean);
  const cause = service?.message ?? withoutMessage(call, answer, service);
  return { kind: "answered", method, path, status: answer.status, service, cause };
}

function withoutMessage(call: Call, answer: Answer, service: ServiceError | undefined): string {
  const phrase = STATUS_CODES[answer.status] ?? "an error";
  const seen = service ? undefined : excerpt(answer, call.clean);
  return `the service answered ${phrase}${seen ? `: ${seen}` : ""}`;
}
