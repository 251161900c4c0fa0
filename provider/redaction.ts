/**
 * Removes secrets from every message that the plugin shows to a person (secrets stay secret: G8), and makes
 * each message printable.
 */

/**
 * The minimum length of a secret that is hidden, in characters. A shorter secret is likely to be an ordinary word. To
 * hide such a word would make messages unreadable and would protect nothing.
 */
const minSecretLength = 6;
/** The minimum length, in characters, of a line of a multi-line secret that is also hidden by itself. */
const minLineLength = 16;
/** The minimum length of the parts of a secret that `hideParts` hides, in characters. */
const partLength = 8;
/** The minimum length of a secret whose parts `hideParts` hides, in characters. */
const minLengthForParts = 16;

/** Replaces a secret in a message. */
export const redactionMark = "[secret]";

/** The characters that a terminal, or a program that reads the output, treats as the end of a line. */
const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** The characters that could move a terminal's cursor or reorder its text, except tabs and line feeds. */
const controlCharacters =
  // eslint-disable-next-line no-control-regex -- these are the ones to remove
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text as one well-formed line without control characters, except tabs. Secrets stay in it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(lineBreaks, " ").replace(controlCharacters, "");
}

/** Knows the secrets of this process, and replaces them in messages. */
export class Redactor {
  readonly #secrets = new Set<string>();
  /** The secrets, sorted by length. Undefined until `redact` sorts the secrets again after a change. */
  #longestFirst: string[] | undefined;
  /** Every substring of `partLength` characters of the secrets that were passed to `hideParts`. */
  readonly #parts = new Set<string>();

  /**
   * From now on, `redact` replaces `secret`, its forms in JSON and in Base64, and each of its longer lines. Forms
   * shorter than `minSecretLength` are not replaced.
   */
  hide(secret: string): void {
    const wholeForms = [
      secret.trim(),
      JSON.stringify(secret.trim()).slice(1, -1),
      // User data is sent to the service in Base64.
      Buffer.from(secret).toString("base64"),
    ];
    const lines = secret.split(/\r?\n/).map((line) => line.trim());
    for (const form of wholeForms) if (form.length >= minSecretLength) this.#secrets.add(form);
    for (const line of lines) if (line.length >= minLineLength) this.#secrets.add(line);
    this.#longestFirst = undefined;
  }

  /**
   * From now on, `redact` also replaces every part of `secret` of at least `partLength` characters, since a service
   * that repeats a secret in an error may mask or cut off a part of the secret.
   */
  hideParts(secret: string): void {
    if (secret.length < minLengthForParts) return;
    for (let end = partLength; end <= secret.length; end++) {
      this.#parts.add(secret.slice(end - partLength, end));
    }
  }

  /**
   * Returns the text as one printable line without secrets. An id, a name or a status from the service must
   * not be able to add a line to a message. To keep its line breaks, a caller passes a message line by line.
   */
  redact(text: string): string {
    const line = printable(this.#redact(text));
    // Redacted again, since a character that was just removed may have been inside a secret.
    return this.#redact(line);
  }

  #redact(text: string): string {
    // Longest first: if a line of a secret was replaced before the whole secret, the other lines would stay.
    this.#longestFirst ??= [...this.#secrets].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#longestFirst) {
      if (secret.length <= result.length) result = result.replaceAll(secret, redactionMark);
    }
    return this.#parts.size > 0 ? this.#redactParts(result) : result;
  }

  #redactParts(text: string): string {
    let result = "";
    let copiedTo = 0;
    for (let end = partLength; end <= text.length; end++) {
      const start = end - partLength;
      if (!this.#parts.has(text.slice(start, end))) continue;
      // A part that overlaps the previous one shares its mark.
      if (start >= copiedTo) result += text.slice(copiedTo, start) + redactionMark;
      copiedTo = end;
    }
    return result + text.slice(copiedTo);
  }
}
