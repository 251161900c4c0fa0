/** Quotes words for a shell, in commands that we print and scripts that we write. */

/** Quotes a word for a POSIX shell, if necessary. */
export function posixQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a word of a command that a person types, if necessary: for PowerShell on Windows, else for a POSIX shell. */
export function shellQuote(word: string, platform = process.platform): string {
  if (platform !== "win32") return posixQuote(word);
  return /^[\w%+=:./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
}

/** Quotes the path of a program, with which such a command begins. PowerShell would print a path in quotes. */
export function programQuote(path: string, platform = process.platform): string {
  const quoted = shellQuote(path, platform);
  return platform === "win32" && quoted !== path ? `& ${quoted}` : quoted;
}
