import type { IncomingMessage, ServerResponse } from "node:http";
import type { EmulatedService, ReceivedRequest } from "./emulatedService";
import { deliver } from "./faults/deliver";
import { doesServiceAct, isDelayFault, isDeliveryFault, type DeliveryFault } from "./faults/kinds";
import { readBody } from "./http/request";
import { sendResponse, type ServiceResponse } from "./http/response";
import { formatLogLine } from "./requestLog";

/** Waits in real time. */
type Sleep = (milliseconds: number) => Promise<void>;

/**
 * Reads a request from a socket, applies the scripted faults, and sends the response. Rejects if the emulator is closed
 * while a fault delays the response.
 */
export async function exchange(
  service: EmulatedService,
  sleep: Sleep,
  message: IncomingMessage,
  socket: ServerResponse,
): Promise<void> {
  let body: Buffer | undefined;
  try {
    body = await readBody(message);
  } catch {
    // The caller went away in the middle of its request, so no response can be sent.
    return;
  }
  const received = service.receive({
    method: message.method ?? "GET",
    target: message.url ?? "/",
    authorization: message.headers.authorization,
    contentType: message.headers["content-type"],
    body,
  });
  received.entry.status = await respond(service, sleep, received, socket);
  service.settings.log?.(formatLogLine(received.entry, service.settings.clock.now()));
}

/** Resolves with the status, or with undefined if a fault kept the response back. */
async function respond(
  service: EmulatedService,
  sleep: Sleep,
  received: ReceivedRequest,
  socket: ServerResponse,
): Promise<number | undefined> {
  let response: ServiceResponse | undefined;
  // The service acts at the first call: before a delay with `acted`, and after any other delay.
  const answer = () => (response ??= service.answer(received));

  const delays = received.faults.map(({ fault }) => fault).filter(isDelayFault);
  for (const { acted, milliseconds } of delays) if (!acted) await sleep(milliseconds);
  const scripted = received.faults.find(({ fault }) => isDeliveryFault(fault));
  const delivery = scripted?.fault as DeliveryFault | undefined;
  if (delays.some(({ acted }) => acted) && doesServiceAct(delivery)) answer();
  for (const { acted, milliseconds } of delays) if (acted) await sleep(milliseconds);
  if (!scripted || !delivery) return sendResponse(socket, answer());
  return await deliver(delivery, answer, {
    requestId: received.requestId,
    socket,
    // Once a test has released the response, `sleep(0)` rejects if the emulator was closed while the request hung.
    waitForRelease: () => scripted.whenReleased.then(() => sleep(0)),
  });
}
