/** Quotes what a printed command, or a script of ours, has of others. */

/** Quotes a word for a POSIX shell, if necessary. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
