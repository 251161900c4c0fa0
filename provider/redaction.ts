/** Keeps secrets out of all text that leaves the plugin for a person's eyes (G8). */

/** Characters. A shorter secret is an ordinary word: to hide it would garble the text and hide nothing. */
const shortestSecret = 6;
/** Of a secret of several lines, each line that is at least this long is hidden by itself. */
const shortestLine = 16;
/** `hideParts` hides parts of at least this length. */
const partLength = 8;
const shortestWithParts = 16;

/** Stands in the text in place of a secret. */
export const redactionMark = "[secret]";

/** What a terminal, or a program that reads its output, takes for the end of a line. */
const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** What could move a terminal's cursor or reorder its text, but for tabs. */
const controlCharacters =
  // eslint-disable-next-line no-control-regex -- these are the ones to remove
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** One line of well-formed text that moves no cursor; secrets stay in it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(lineBreaks, " ").replace(controlCharacters, "");
}

/** Knows the secrets of this process, and hides them in text. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #longestFirst: string[] | undefined;
  /** Each run of `partLength` characters of the secrets that `hideParts` was given. */
  readonly #parts = new Set<string>();

  /** From now on, hides `secret` and each longer line of it wherever it turns up. */
  hide(secret: string): void {
    const whole = [
      secret.trim(),
      JSON.stringify(secret.trim()).slice(1, -1),
      // As user data crosses the wire.
      Buffer.from(secret).toString("base64"),
    ];
    const lines = secret.split(/\r?\n/).map((line) => line.trim());
    for (const text of whole) if (text.length >= shortestSecret) this.#secrets.add(text);
    for (const text of lines) if (text.length >= shortestLine) this.#secrets.add(text);
    this.#longestFirst = undefined;
  }

  /** From now on, hides every longer part of `secret`: a service may mask or cut what it repeats. */
  hideParts(secret: string): void {
    if (secret.length < shortestWithParts) return;
    for (let end = partLength; end <= secret.length; end++) {
      this.#parts.add(secret.slice(end - partLength, end));
    }
  }

  /**
   * Makes one printable line without secrets: an id, a name or a status from the service must not be able
   * to make lines of its own. The caller splits a message of several lines.
   */
  redact(text: string): string {
    const line = printable(this.#redact(text));
    // Once more, since a removed character may have stood inside a secret.
    return this.#redact(line);
  }

  #redact(text: string): string {
    // Longest first: if a line of a secret went first, the rest of the secret would stay.
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
    for (let end = partLength; end <= text.length; end++) {
      const start = end - partLength;
      if (!this.#parts.has(text.slice(start, end))) continue;
      // A part that overlaps the last one is hidden by the same mark.
      if (start >= done) result += text.slice(done, start) + redactionMark;
      done = end;
    }
    return result + text.slice(done);
  }
}
