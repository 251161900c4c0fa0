/** Reads the body of a request to the emulator, and splits the target. Validates nothing. exchange.ts uses this file. */
import type { IncomingMessage } from "node:http";

/**
 * The service's API document shows no limit ("Size limits on fields: not shown"). This one only protects the
 * emulator.
 */
export const maxBodyBytes = 10 * 1024 * 1024;

/** A request to the service. */
export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  contentType: string | undefined;
  /** Undefined if the body is larger than `maxBodyBytes`. */
  body: Buffer | undefined;
}

/**
 * Reads a body. Returns undefined if the body is larger than `maxBodyBytes`. Such a body is still read to its end,
 * because a caller whose connection is closed while it writes may never see the response. Rejects if the caller goes
 * away.
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
  const queryStart = target.indexOf("?");
  return queryStart < 0
    ? { path: target, query: new URLSearchParams() }
    : {
        path: target.slice(0, queryStart),
        query: new URLSearchParams(target.slice(queryStart + 1)),
      };
}

/** Decodes a segment of a path. Returns undefined if the percent-encoding is malformed. */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
