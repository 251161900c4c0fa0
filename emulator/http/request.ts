/** Requests as the emulator's own code sees them: read whole, but not validated. */
import type { IncomingMessage } from "node:http";

/** "Size limits on fields: not shown"; this limit only protects the emulator. */
export const mostBodyBytes = 10 * 1024 * 1024;

/** A request to the service. */
export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  contentType: string | undefined;
  /** Undefined if it is larger than `mostBodyBytes`. */
  body: Buffer | undefined;
}

/**
 * Reads a body. A body that is too large is read to its end, and the result is undefined: a caller that is cut off
 * while it writes may never see the response. Rejects if the caller goes away.
 */
export async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes <= mostBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return sizeBytes > mostBodyBytes ? undefined : Buffer.concat(chunks);
}

/** The parts of a target such as `/v2/instances?limit=5`. A malformed target is just an unknown path. */
export function parseTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** A segment of a path; undefined if its percent-encoding is malformed. */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
