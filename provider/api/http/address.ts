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
  /** From a path of the document (/v2/…) to the one on this origin, and back. */
  toTarget(path: string): string;
  toPath(target: string): string;
}

/** @throws when the address is not one that a token may be sent to. */
export function addressOf(baseUrl: string): Address {
  const url = new URL(baseUrl);
  const loopback = isLoopback(url.hostname);
  // Configuration says the same, with better words; this is the last gate before a token leaves.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback)) {
    throw new Error("the base address must be https (http is for loopback only)");
  }
  const pathname = url.pathname.replace(/\/+$/, "");
  if (!pathname.endsWith("/v2")) throw new Error("the path of the base address must end in /v2");
  const prefix = pathname.slice(0, -"/v2".length);
  return {
    origin: url.origin,
    host: url.host,
    loopback,
    toTarget: (path) => prefix + path,
    toPath: (target) => (target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target),
  };
}
