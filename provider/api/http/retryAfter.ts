/** The Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3). The document does not show one. */

/** A service that asks for more than this is asked again all the same. */
const longestMs = 5 * 60_000;

/** Milliseconds to wait; undefined when there is no guidance in it. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  // "Now" from a service that just said "too many" is no guidance either.
  return ms > 0 ? Math.min(ms, longestMs) : undefined;
}
