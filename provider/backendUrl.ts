/**
 * The text without the passwords of the addresses in it, such as that of a state backend in a database; the
 * user name stays.
 */
export function withoutPasswords(text: string): string {
  return (
    text
      // The password ends at the last @ before the path, as the engine reads it.
      .replace(/(?<=[a-z]:\/\/[^\s/?#:@]*):[^\s/?#]*(?=@)/gi, "")
      // The engine's PostgreSQL driver takes a password here, too.
      .replace(/&password=[^\s&#]*/gi, "")
      .replace(/\?password=[^\s&#]*(&?)/gi, (_, more: string) => (more ? "?" : ""))
  );
}
