/** An answer on its way out. */
import type { ServerResponse } from "node:http";
import { bodyText, type Answer } from "./answers";

/** "Responses are JSON." Returns the status. */
export function send(response: ServerResponse, answer: Answer): number {
  const text = bodyText(answer);
  sendHead(response, answer, Buffer.byteLength(text));
  response.end(text);
  return answer.status;
}

/** All but the body, which has so many bytes. */
export function sendHead(response: ServerResponse, answer: Answer, length: number): void {
  response.writeHead(answer.status, headersOf(answer, length));
}

export function headersOf(answer: Answer, length: number): Record<string, string> {
  const hasBody = answer.text !== undefined || answer.json !== undefined;
  return {
    ...answer.headers,
    ...(hasBody && { "Content-Type": answer.contentType ?? "application/json" }),
    ...(answer.status !== 204 && { "Content-Length": String(length) }),
  };
}
