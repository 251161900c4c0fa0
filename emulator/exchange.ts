/**
 * One request from arrival to answer: read it, log it, see which faults it meets, let the service act,
 * and send what comes of it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestIdPrefix, tokenKindOf } from "../provider/api/contract";
import { deliver } from "./faults/deliver";
import {
  acts,
  isDelivery,
  isInstanceFault,
  isListFault,
  isTiming,
  type Behaviour,
} from "./faults/kinds";
import { distort } from "./faults/list";
import type { FaultList, ScriptedFault } from "./faults/script";
import { contractBreach, envelope, ServiceError, type Answer } from "./http/answers";
import { nameIn, parseTarget, readBody, type ServiceRequest } from "./http/request";
import { send } from "./http/send";
import type { InstanceEffects } from "./instances/lifecycle";
import { randomHex } from "./random";
import { logLine, type LoggedRequest, type RequestLog } from "./requestLog";
import type { Router } from "./router";
import type { Service } from "./service";
import { bearerToken } from "./tokens";

export interface Exchanges {
  service: Service;
  router: Router;
  faults: FaultList;
  requests: RequestLog;
  /** Real time; rejects when the emulator is closed. */
  sleep: (milliseconds: number) => Promise<void>;
}

/** In the middle of its own request, so that nobody is left to answer. */
const callerLeft = Symbol("caller left");

export async function exchange(
  emulator: Exchanges,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { settings } = emulator.service;
  const requestId = `${requestIdPrefix}${randomHex(settings.random, 24)}`;
  const request = requestFrom(message, requestId);
  const body = await readBody(message).catch((): typeof callerLeft => callerLeft);
  if (body === callerLeft) return;
  const complete: ServiceRequest = { ...request, body };
  const entry = logged(emulator, complete);
  const striking = emulator.faults.striking({ ...entry, query: request.query });
  entry.faults = striking.map(({ kind }) => kind);
  const answer = answerOnce(emulator, complete, striking, entry);
  entry.status = await run(emulator, striking, answer, response, requestId);
  settings.log?.(logLine(entry, settings.clock.now()));
}

function requestFrom(message: IncomingMessage, requestId: string): Omit<ServiceRequest, "body"> {
  return {
    ...parseTarget(message.url ?? "/"),
    method: message.method ?? "GET",
    authorization: message.headers.authorization,
    contentType: message.headers["content-type"],
    requestId,
  };
}

function logged({ requests, service }: Exchanges, request: ServiceRequest): LoggedRequest {
  return requests.add({
    id: request.requestId,
    method: request.method,
    path: request.path,
    query: Object.fromEntries(request.query),
    at: service.settings.clock.now(),
    tokenKind: tokenKindOf(bearerToken(request.authorization) ?? ""),
    name: nameIn(request.body),
    status: undefined,
    acted: false,
    faults: [],
  });
}

/** The service acts when this is called, and the result says what it would answer. */
function answerOnce(
  emulator: Exchanges,
  request: ServiceRequest,
  striking: readonly ScriptedFault[],
  entry: LoggedRequest,
): () => Answer {
  const { errorLog } = emulator.service.settings;
  const behaviours = striking.map(({ behaviour }) => behaviour);
  const bug = (reason: string): Answer => {
    errorLog(`emulator bug: ${request.method} ${request.path} ${request.requestId}: ${reason}`);
    return envelope({ status: 500, code: "emulator_bug", message: reason }, request.requestId);
  };
  return () => {
    entry.acted = true;
    let answer: Answer;
    try {
      answer = emulator.router.answer(request, effects(behaviours));
    } catch (error) {
      answer =
        error instanceof ServiceError ? envelope(error, request.requestId) : bug(String(error));
    }
    const breach = contractBreach(answer);
    if (breach !== undefined) answer = bug(`the answer breaks the contract: ${breach}`);
    return distort(answer, behaviours.filter(isListFault), request.requestId);
  };
}

function effects(behaviours: readonly Behaviour[]): InstanceEffects {
  const result: InstanceEffects = {};
  for (const fault of behaviours.filter(isInstanceFault))
    if (fault.kind === "neverLeavesProvisioning") result.neverLeavesProvisioning = true;
    else if (fault.kind === "endsAs") result.endsAs = fault.status;
    else result.appearsAfterSeconds = fault.seconds;
  return result;
}

async function run(
  { sleep }: Exchanges,
  striking: readonly ScriptedFault[],
  answer: () => Answer,
  response: ServerResponse,
  requestId: string,
): Promise<number | undefined> {
  const delays = striking.map(({ behaviour }) => behaviour).filter(isTiming);
  for (const delay of delays) if (!delay.acted) await sleep(delay.milliseconds);
  const fault = striking.find(({ behaviour }) => isDelivery(behaviour));
  const delivery = fault && isDelivery(fault.behaviour) ? fault.behaviour : undefined;
  let give = answer;
  if (delays.some(({ acted }) => acted) && acts(delivery)) {
    const ready = answer();
    give = () => ready;
  }
  for (const delay of delays) if (delay.acted) await sleep(delay.milliseconds);
  if (fault === undefined || delivery === undefined) return send(response, give());
  return await deliver(delivery, give, {
    requestId,
    response,
    sleep,
    released: () => fault.whenReleased.then(() => sleep(0)),
  });
}
