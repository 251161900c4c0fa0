/** What the service makes of a request, over whatever it came: sockets (exchange.ts), or none (inProcess.ts). */
import { requestIdPrefix, tokenKindOf } from "../provider/api/contract";
import { isInstanceFault, isListFault, type Behaviour } from "./faults/kinds";
import { distort } from "./faults/list";
import type { FaultList, ScriptedFault } from "./faults/script";
import { contractBreach, envelope, ServiceError, type Answer } from "./http/answers";
import { nameIn, parseTarget, type ServiceRequest } from "./http/request";
import type { InstanceEffects } from "./instances/lifecycle";
import { randomHex, type RandomSource } from "./random";
import type { LoggedRequest, RequestLog } from "./requestLog";
import type { Router } from "./router";
import type { Service } from "./service";
import { bearerToken } from "./tokens";

export interface Acting {
  service: Service;
  router: Router;
  faults: FaultList;
  requests: RequestLog;
}

export const newRequestId = (random: RandomSource) => `${requestIdPrefix}${randomHex(random, 24)}`;

export type Received = Omit<ServiceRequest, "path" | "query"> & { target: string };

export interface Arrival {
  /** As the service reads it. */
  request: ServiceRequest;
  /** Its entry in the log. */
  entry: LoggedRequest;
  /** The scripted faults that it meets. */
  striking: ScriptedFault[];
}

export function receive(
  { requests, faults, service }: Acting,
  { target, ...received }: Received,
): Arrival {
  const request = { ...received, ...parseTarget(target) };
  const entry = requests.add({
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
  const striking = faults.striking({ ...entry, query: request.query });
  entry.faults = striking.map(({ kind }) => kind);
  return { request, entry, striking };
}

/** The service does what was asked; the result is what it would answer. */
export function act(
  { router, service }: Acting,
  { request, entry, striking }: Arrival,
  more: readonly Behaviour[] = [],
): Answer {
  const faults = [...striking.map(({ behaviour }) => behaviour), ...more];
  const bug = (reason: string): Answer => {
    service.settings.errorLog(
      `emulator bug: ${request.method} ${request.path} ${request.requestId}: ${reason}`,
    );
    return envelope({ status: 500, code: "emulator_bug", message: reason }, request.requestId);
  };
  entry.acted = true;
  let answer: Answer;
  try {
    answer = router.answer(request, effects(faults));
  } catch (error) {
    answer =
      error instanceof ServiceError ? envelope(error, request.requestId) : bug(String(error));
  }
  const breach = contractBreach(answer);
  if (breach !== undefined) answer = bug(`the answer breaks the contract: ${breach}`);
  return distort(answer, faults.filter(isListFault), request.requestId);
}

function effects(behaviours: readonly Behaviour[]): InstanceEffects {
  const result: InstanceEffects = {};
  for (const fault of behaviours.filter(isInstanceFault))
    if (fault.kind === "neverLeavesProvisioning") result.neverLeavesProvisioning = true;
    else if (fault.kind === "endsAs") result.endsAs = fault.status;
    else result.appearsAfterSeconds = fault.seconds;
  return result;
}
