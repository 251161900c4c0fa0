/** Tells loopback addresses from others, for the transport and the check of the base address. */

/** Whether a `URL.hostname` is an address of this machine: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
