/** The address of a state backend. That of a database may hold the password. */

/** The same text, with the password of each address in it left out: who it is for stays. */
export function withoutPasswords(text: string): string {
  return (
    text
      // The last @ before the path ends it, as the engine reads it.
      .replace(/(?<=[a-z]:\/\/[^\s/?#:@]*):[^\s/?#]*(?=@)/gi, "")
      // The engine's PostgreSQL driver takes it there, too.
      .replace(/&password=[^\s&#]*/gi, "")
      .replace(/\?password=[^\s&#]*(&?)/gi, (_, more: string) => (more ? "?" : ""))
  );
}
