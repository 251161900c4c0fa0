import type { IncomingMessage } from "node:http";

/** "Size limits on fields: not shown", so this limit only protects the emulator. */
export const maxBodyBytes = 10 * 1024 * 1024;

/** A request before its target is read. */
export interface IncomingRequest {
  method: string;
  /** The path and the query. */
  target: string;
  authorization: string | undefined;
  contentType: string | undefined;
  /** Undefined if the body is larger than `maxBodyBytes`. */
  body: Buffer | undefined;
}

/** A request to the service. */
export interface ServiceRequest extends IncomingRequest {
  path: string;
  query: URLSearchParams;
}

/**
 * Returns the body, or undefined if it is larger than `maxBodyBytes`. Such a body is still read to its end: a caller whose
 * connection is closed while it writes may never see the response. Rejects if the caller goes away.
 */
export async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return sizeBytes > maxBodyBytes ? undefined : Buffer.concat(chunks);
}

/** Splits a target such as `/v2/instances?limit=5`. A malformed target becomes a path that no endpoint has. */
export function parseTarget(target: string): { path: string; query: URLSearchParams } {
  const [path = "", ...query] = target.split("?");
  return { path, query: new URLSearchParams(query.join("?")) };
}

/** Decodes a segment of a path. Returns undefined if the percent-encoding is malformed. */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
