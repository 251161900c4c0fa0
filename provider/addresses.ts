/** Recognizes this machine's addresses, and removes passwords from addresses of state backends. */

/** Whether a `URL.hostname` is an address of this machine: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/** Returns the text without the passwords in its addresses, such as that of a database. User names stay. */
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
