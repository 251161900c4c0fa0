/** Removes secrets from every message for a person (G8), and makes each message printable. */

// All lengths are minimums in characters. To hide ordinary words would make messages unreadable and protect nothing.
const minSecretLength = 6;
/** Of a line of a secret that is also hidden by itself. */
const minLineLength = 16;
/** Of the parts that `hideParts` and `withoutScript` hide. */
const partLength = 8;
/** Of a secret whose parts `hideParts` hides. */
const minLengthForParts = 16;

/** What stands in a message for a secret. */
export const redactionMark = "[secret]";

/** What a terminal, or a program that reads the output, treats as the end of a line. */
const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** The characters that could move a terminal's cursor or reorder its text, except tabs and line feeds. */
const controlCharacters =
  // eslint-disable-next-line no-control-regex -- these are the ones to remove
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text, with its secrets, as one well-formed line without control characters except tabs. */
export function printable(text: string): string {
  return text.toWellFormed().replace(lineBreaks, " ").replace(controlCharacters, "");
}

/** Every substring of `partLength` characters. */
function* windowsOf(text: string): Generator<string> {
  for (let end = partLength; end <= text.length; end++) yield text.slice(end - partLength, end);
}

/** Replaces these parts. A part that overlaps the previous one shares its mark. */
function withoutParts(text: string, parts: ReadonlySet<string>): string {
  let result = "";
  let copiedTo = 0;
  let end = partLength - 1;
  for (const part of windowsOf(text)) {
    end++;
    if (!parts.has(part)) continue;
    const start = end - partLength;
    if (start >= copiedTo) result += text.slice(copiedTo, start) + redactionMark;
    copiedTo = end;
  }
  return result + text.slice(copiedTo);
}

/**
 * Replaces the parts of a printable text that are also in the script of the request: plain, in JSON, or in Base64, as it was
 * sent. The rest of what the service says of the request is shown.
 */
export function withoutScript(text: string, base64: string): string {
  const windows = new Set(windowsOf(text));
  if (windows.size === 0) return text;
  const script = Buffer.from(base64, "base64").toString();
  const repeated = new Set<string>();
  for (const form of [script, JSON.stringify(script), base64]) {
    // Nearly every script and every doc_url has the beginning of an address, which is no secret.
    const comparable = printable(form.replace(/\s+/g, " ")).replace(/https?:\/\//g, "\0");
    for (const part of windowsOf(comparable)) if (windows.has(part)) repeated.add(part);
  }
  return withoutParts(text, repeated);
}

/** Replaces the secrets of this process in messages. */
export class Redactor {
  /** By text: how many calls of `hide` hide it. */
  readonly #secrets = new Map<string, number>();
  /** Undefined after a change, until `redact` sorts the secrets again. */
  #longestFirst: string[] | undefined;
  /** Every substring of `partLength` characters of the secrets of `hideParts`. */
  readonly #parts = new Set<string>();

  /**
   * Until the result is disposed, or else for good, `redact` replaces `secret`, also in JSON and Base64, and each of its
   * longer lines.
   */
  hide(secret: string): Disposable {
    const trimmed = secret.trim();
    // The service gets user data in Base64.
    const base64 = Buffer.from(secret).toString("base64");
    const forms = [trimmed, JSON.stringify(trimmed).slice(1, -1), base64];
    const lines = secret.split(/\r?\n/).map((line) => line.trim());
    const hidden = new Set([
      ...forms.filter((form) => form.length >= minSecretLength),
      ...lines.filter((line) => line.length >= minLineLength),
    ]);
    this.#count(hidden, 1);
    return {
      [Symbol.dispose]: () => {
        this.#count(hidden, -1);
        hidden.clear();
      },
    };
  }

  #count(texts: Iterable<string>, change: 1 | -1): void {
    for (const text of texts) {
      const before = this.#secrets.get(text) ?? 0;
      const count = before + change;
      if (count > 0) this.#secrets.set(text, count);
      else this.#secrets.delete(text);
      if (before === 0 || count === 0) this.#longestFirst = undefined;
    }
  }

  /** From now on, `redact` also replaces parts of `secret`, since a service may mask or cut what it repeats. */
  hideParts(secret: string): void {
    if (secret.length < minLengthForParts) return;
    for (const part of windowsOf(secret)) this.#parts.add(part);
  }

  /** Returns the text as one printable line without secrets. A text from the service can't add a line to a message. */
  redact(text: string): string {
    const line = printable(this.#redact(text));
    // Again, since a character that was just removed may have been inside a secret.
    return this.#redact(line);
  }

  #redact(text: string): string {
    // If a line of a secret was replaced before the whole secret, the other lines would stay.
    this.#longestFirst ??= [...this.#secrets.keys()].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#longestFirst) result = result.replaceAll(secret, redactionMark);
    return this.#parts.size > 0 ? withoutParts(result, this.#parts) : result;
  }
}
