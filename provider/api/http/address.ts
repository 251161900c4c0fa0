/** Where the service is: one origin, the only one that ever gets the token (G8). */

/** 127.0.0.0/8, ::1 and localhost, as `URL.hostname` writes them. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

export interface Address {
  /** Scheme, host and port. */
  origin: string;
  /** Host and port, for messages. */
  host: string;
  loopback: boolean;
  /** What stands before a path of the document (/v2/…) on this origin; mostly nothing. */
  prefix: string;
}

/** Of a base address that `normaliseBaseUrl` of the settings has let through. */
export function addressOf(baseUrl: string): Address {
  const { origin, host, hostname, pathname } = new URL(baseUrl);
  const prefix = pathname.slice(0, -"/v2".length);
  return { origin, host, loopback: isLoopback(hostname), prefix };
}
