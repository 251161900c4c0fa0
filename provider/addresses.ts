/** Recognizes this machine's addresses and those that stand for none, and removes passwords from addresses of state backends. */
import { redactionMark } from "./redaction";

/** Whether a `URL.hostname` is an address of this machine: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/** Whether it is an address that stands for none. To a client, it means its own machine. */
export function isUnspecified(address: unknown): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** Returns the text without the passwords in its addresses, such as that of a database. User names stay. */
export function withoutPasswords(text: string): string {
  return (
    text
      // The engine reads everything up to the last @ before the path as the password.
      .replace(/:(?<=[a-z]:\/\/[^\s/?#:@]*:)[^\s/?#]*(?=@)/gi, "")
      // The engine's PostgreSQL driver also accepts a password as a query parameter.
      .replace(/&password=[^\s&#]*/gi, "")
      .replace(/\?password=[^\s&#]*(&?)/gi, (_, separator: string) => (separator ? "?" : ""))
  );
}

/**
 * Returns a message without the passwords in its addresses, also in those that are no valid ones, because the password has a
 * character such as `/` that should have been escaped.
 */
export function withoutPasswordsInText(message: string): string {
  return (
    withoutPasswords(message)
      .replace(/:(?<=[a-z]:\/\/[^\s/?#:@"'`]*:)[^\s"'`]*(?=@)/gi, "")
      .replace(/(?<=[?&]sslpassword=)[^\s&#"'`]*/gi, redactionMark)
      // The parser of addresses takes what follows the colon for a port, and repeats it.
      .replace(/invalid port "[^"]*"/g, "invalid port")
  );
}
