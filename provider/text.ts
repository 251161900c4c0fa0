/** What leaves the plugin for a person's eyes passes through here (G8). */

/** Shorter ones are ordinary words: blanking them would garble the text and hide nothing. */
const shortest = { secret: 6, line: 16 } as const;

/** Keeps newlines and tabs; drops what could move a terminal's cursor or reorder its text. */
const controlCharacters =
  // eslint-disable-next-line no-control-regex -- these are what must go
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export class Cleaner {
  readonly #secrets = new Set<string>();
  #longestFirst: string[] | undefined;

  /** From now on `secret`, and each longer line of it, is blanked wherever it turns up. */
  hide(secret: string): void {
    const whole = [secret.trim(), JSON.stringify(secret.trim()).slice(1, -1)];
    const lines = secret.split(/\r?\n/).map((line) => line.trim());
    for (const text of whole) if (text.length >= shortest.secret) this.#secrets.add(text);
    for (const text of lines) if (text.length >= shortest.line) this.#secrets.add(text);
    this.#longestFirst = undefined;
  }

  clean(text: string): string {
    // Once more after the control characters, one of which may have stood inside a secret.
    return this.#redact(this.#redact(text).toWellFormed().replace(controlCharacters, ""));
  }

  #redact(text: string): string {
    // Longest first, so that a secret's line does not leave the rest of it behind.
    this.#longestFirst ??= [...this.#secrets].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#longestFirst) {
      if (secret.length <= result.length) result = result.replaceAll(secret, "[secret]");
    }
    return result;
  }
}
