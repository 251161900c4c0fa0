/** What leaves the plugin for a person's eyes passes through here (G8). */

/** Shorter ones are ordinary words: blanking them would garble the text and hide nothing. */
const shortest = { secret: 6, line: 16, part: 8, parted: 16 } as const;

/** What stands for a secret. */
export const redactionMark = "[secret]";

/** What a terminal, or one who reads its output, takes for the end of a line. */
const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** Keeps tabs; drops what could move a terminal's cursor or reorder its text. */
const controlCharacters =
  // eslint-disable-next-line no-control-regex -- these are what must go
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** One line of well-formed text that moves no cursor; secrets stay in it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(lineBreaks, " ").replace(controlCharacters, "");
}

export class Redactor {
  readonly #secrets = new Set<string>();
  #longestFirst: string[] | undefined;
  /** Every stretch of `shortest.part` characters of what no part may be shown of. */
  readonly #parts = new Set<string>();

  /** From now on `secret`, and each longer line of it, is blanked wherever it turns up. */
  hide(secret: string): void {
    const whole = [
      secret.trim(),
      JSON.stringify(secret.trim()).slice(1, -1),
      // As user data crosses the wire.
      Buffer.from(secret).toString("base64"),
    ];
    const lines = secret.split(/\r?\n/).map((line) => line.trim());
    for (const text of whole) if (text.length >= shortest.secret) this.#secrets.add(text);
    for (const text of lines) if (text.length >= shortest.line) this.#secrets.add(text);
    this.#longestFirst = undefined;
  }

  /** And any part of it that tells something, as a service shows it that masks or cuts what it repeats. */
  hideParts(secret: string): void {
    if (secret.length < shortest.parted) return;
    for (let end = shortest.part; end <= secret.length; end++) {
      this.#parts.add(secret.slice(end - shortest.part, end));
    }
  }

  /**
   * One line: an id, a name or a status from the service must not be able to make lines of its own.
   * A message of several is cleaned line by line.
   */
  redact(text: string): string {
    const line = printable(this.#redact(text));
    // Once more, since what is gone now may have stood inside a secret.
    return this.#redact(line);
  }

  #redact(text: string): string {
    // Longest first, so that a secret's line does not leave the rest of it behind.
    this.#longestFirst ??= [...this.#secrets].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#longestFirst) {
      if (secret.length <= result.length) result = result.replaceAll(secret, redactionMark);
    }
    return this.#parts.size > 0 ? this.#redactParts(result) : result;
  }

  #redactParts(text: string): string {
    let result = "";
    let done = 0;
    for (let end = shortest.part; end <= text.length; end++) {
      const start = end - shortest.part;
      if (!this.#parts.has(text.slice(start, end))) continue;
      // What overlaps the last part is of the same one.
      if (start >= done) result += text.slice(done, start) + redactionMark;
      done = end;
    }
    return result + text.slice(done);
  }
}
