/** Delivery faults: how an answer gets to its caller, or does not. */
import type { ServerResponse } from "node:http";
import { bodyText, envelope, type Answer } from "../http/answers";
import { send, sendHead } from "../http/send";
import type { Delivery } from "./kinds";

export interface DeliveryContext {
  requestId: string;
  response: ServerResponse;
  /** Rejects when the emulator is closed. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Resolves when somebody releases the fault; rejects when the emulator was closed by then. */
  released: () => Promise<void>;
}

/**
 * `answer` makes the true answer; it is called at most once, and only where the service acts (for a
 * hang that has not acted: when it is released). Returns the status sent, undefined for none.
 */
export async function deliver(
  fault: Delivery,
  answer: () => Answer,
  context: DeliveryContext,
): Promise<number | undefined> {
  const { response } = context;
  const give = (it: Answer) => send(response, it);
  switch (fault.kind) {
    case "hang": {
      const held = fault.acted ? answer() : undefined;
      await context.released();
      return give(held ?? answer());
    }
    case "reset":
      if (fault.acted) answer();
      return drop(response, fault.orderly);
    case "status": {
      if (fault.acted) answer();
      const headers = retryAfter(fault.retryAfter);
      if (fault.body === undefined) return give(envelope({ ...fault, headers }, context.requestId));
      const contentType = fault.contentType ?? "application/json";
      return give({ status: fault.status, headers, text: fault.body, contentType });
    }
    case "html":
      if (fault.acted) answer();
      return give({ status: fault.status, text: page, contentType: "text/html" });
    case "redirect":
      if (fault.acted) answer();
      return give({ status: fault.status, headers: { Location: fault.location } });
    case "emptyBody":
      return give({ ...bare(answer()), text: "" });
    case "body":
      return give({ ...bare(answer()), text: fault.text, contentType: fault.contentType });
    case "rewrite": {
      const truth = answer();
      return give({ ...bare(truth), json: fault.rewrite(truth.json) });
    }
    case "wrongTypes": {
      const truth = answer();
      return give({ ...bare(truth), json: otherTypes(truth.json) });
    }
    case "cutBody":
      return cut(response, answer(), fault.bytes);
    case "slowDrip":
      return drip(response, answer(), fault.millisecondsPerByte, context);
    case "hugeBody":
      return swell(response, answer(), fault.bytes);
  }
}

const page =
  "<!doctype html><html><head><title>Bad gateway</title></head>" +
  "<body><h1>The page could not be shown</h1></body></html>\n";

function retryAfter(value: string | number | undefined): Record<string, string> {
  return value === undefined ? {} : { "Retry-After": String(value) };
}

/** An answer's status and headers, without its body. */
function bare({ status, headers = {} }: Answer): Answer {
  return { status, headers };
}

function drop(response: ServerResponse, orderly: boolean): undefined {
  if (orderly) response.socket?.end();
  else response.socket?.resetAndDestroy();
  return undefined;
}

/** Swaps every value for one of another JSON type, keeping the keys. */
function otherTypes(value: unknown): unknown {
  if (typeof value === "string") return 7;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return "text";
  if (Array.isArray(value)) return { item: value.map(otherTypes) };
  if (typeof value !== "object") return [];
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, otherTypes(inner)]));
}

async function cut(response: ServerResponse, answer: Answer, bytes: number | undefined) {
  const whole = Buffer.from(bodyText(answer));
  sendHead(response, answer, whole.length);
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(whole.subarray(0, bytes ?? Math.floor(whole.length / 2)), () => {
    resolve();
  });
  await promise;
  // An orderly end of the connection, so that what was written surely arrives first.
  response.socket?.end();
  return answer.status;
}

async function drip(
  response: ServerResponse,
  answer: Answer,
  pause: number,
  { sleep }: DeliveryContext,
) {
  const whole = Buffer.from(bodyText(answer));
  sendHead(response, answer, whole.length);
  for (const byte of whole) {
    if (response.destroyed) break;
    response.write(Buffer.of(byte));
    await sleep(pause);
  }
  response.end();
  return answer.status;
}

async function swell(response: ServerResponse, answer: Answer, bytes: number) {
  const json = bodyText(answer);
  const rest = json.startsWith("{") ? json.slice(1) : `"body":${JSON.stringify(json)}}`;
  const [start, end] = ['{"padding":"', rest === "}" ? '"}' : `",${rest}`];
  sendHead(response, answer, start.length + bytes + Buffer.byteLength(end));
  response.write(start);
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (let left = bytes; left > 0 && !response.destroyed; left -= chunk.length) {
    const free = response.write(left < chunk.length ? chunk.subarray(0, left) : chunk);
    if (!free) await drained(response);
  }
  response.end(end);
  return answer.status;
}

/** Also resolves when the caller goes away. */
function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("drain", resolve).once("close", resolve);
  return promise.finally(() => {
    response.off("drain", resolve).off("close", resolve);
  });
}
