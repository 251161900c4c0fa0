/**
 * One request from arrival to answer: read it, log it, see which faults it meets, let the service act,
 * and send what comes of it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { act, newRequestId, receive, type Acting } from "./acting";
import { deliver } from "./faults/deliver";
import { acts, isDelivery, isTiming } from "./faults/kinds";
import type { ScriptedFault } from "./faults/script";
import type { Answer } from "./http/answers";
import { readBody } from "./http/request";
import { send } from "./http/send";
import { logLine } from "./requestLog";

export interface Exchanges extends Acting {
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
  const requestId = newRequestId(settings.random);
  const body = await readBody(message).catch((): typeof callerLeft => callerLeft);
  if (body === callerLeft) return;
  const arrival = receive(emulator, {
    method: message.method ?? "GET",
    target: message.url ?? "/",
    authorization: message.headers.authorization,
    contentType: message.headers["content-type"],
    ...{ body, requestId },
  });
  const { entry, striking } = arrival;
  const answer = () => act(emulator, arrival);
  entry.status = await run(emulator, striking, answer, response, requestId);
  settings.log?.(logLine(entry, settings.clock.now()));
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
