/** Removes passwords from the addresses of state backends before the commands print or record them. */

/**
 * Returns the text without the passwords of the addresses in it. An address of a database, for example, can
 * hold one. User names stay.
 */
export function withoutPasswords(text: string): string {
  return (
    text
      // The engine reads everything up to the last @ before the path as the password.
      .replace(/(?<=[a-z]:\/\/[^\s/?#:@]*):[^\s/?#]*(?=@)/gi, "")
      // The engine's PostgreSQL driver also accepts a password as a query parameter.
      .replace(/&password=[^\s&#]*/gi, "")
      .replace(/\?password=[^\s&#]*(&?)/gi, (_, more: string) => (more ? "?" : ""))
  );
}
