/**
 * Recognizes the addresses of this machine, and removes passwords from the addresses of state backends. The settings, the
 * client of the service, the ledger and the commands use it.
 */

/** Whether a `URL.hostname` is an address of this machine: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/**
 * Returns the text without the passwords of the addresses in it. The address of a state backend, for example of a
 * database, can hold a password. User names stay.
 */
export function withoutPasswords(text: string): string {
  return (
    text
      // The engine reads everything up to the last @ before the path as the password.
      .replace(/(?<=[a-z]:\/\/[^\s/?#:@]*):[^\s/?#]*(?=@)/gi, "")
      // The engine's PostgreSQL driver also accepts a password as a query parameter.
      .replace(/&password=[^\s&#]*/gi, "")
      .replace(/\?password=[^\s&#]*(&?)/gi, (_, separator: string) => (separator ? "?" : ""))
  );
}
