/** A request as the emulator's own code sees it: read whole, nothing believed yet. */
import type { IncomingMessage } from "node:http";
import { invalidParameter, tooLarge } from "./answers";

/** "Size limits on fields: not shown"; this one only protects the emulator. */
export const bodyLimitBytes = 10 * 1024 * 1024;

export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  contentType: string | undefined;
  /** Undefined: too large. */
  body: Buffer | undefined;
  requestId: string;
}

/**
 * Undefined when the body is too large: it is read to its end all the same, since a caller that is
 * cut off while it writes may never see the answer. Rejects when the caller went away.
 */
export async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= bodyLimitBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > bodyLimitBytes ? undefined : Buffer.concat(chunks);
}

/** Parts of a target such as `/v2/instances?limit=5`; a malformed one is just an unknown path. */
export function parseTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** "Request bodies are JSON." Throws the 400 for malformed JSON, the 413 for too much. */
export function parseJson(body: Buffer | undefined): unknown {
  if (body === undefined) throw tooLarge(bodyLimitBytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw invalidParameter("The request body is not valid JSON.");
  }
}

/** A part of a path; undefined when its percent signs mean nothing. */
export function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** `name` of a body, for the log and for faults that wait for it; undefined where there is none. */
export function nameIn(body: Buffer | undefined): string | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString("utf8"));
    const name =
      typeof json === "object" && json !== null && "name" in json ? json.name : undefined;
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
