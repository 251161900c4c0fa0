/** Whether it is 127.0.0.0/8, ::1 or localhost, as `URL.hostname` writes them: an address of this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
