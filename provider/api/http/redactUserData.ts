/** Redacts user data (the cloud-init script, a secret, G8) in error responses, which may repeat the request. */
import { redactionMark } from "../../redaction";
import type { CreateBody } from "../contract";

/** The length of the shortest match, in characters. A shorter match is likely to be chance, and reveals nothing. */
const shortestMatch = 6;

/**
 * Returns a function that does what `redact` does, and also redacts every run of at least `shortestMatch` characters
 * that is in the script or its Base64. A word of that length stays if it is in the name of a field, or in another field
 * (the name, the image).
 */
export function redactUserData(
  body: CreateBody,
  redact: (text: string) => string,
): (text: string) => string {
  const { user_data: encoded, ...others } = body;
  if (!encoded) return redact;
  const otherFields = [...Object.keys(body), ...Object.values(others).flat()].join("\n");
  return (text) => {
    const redacted = redact(text);
    // The script is decoded only here, since most requests are not refused. As in `oneLine` (response.ts), white space
    // becomes one space.
    const script = Buffer.from(encoded, "base64").toString("utf8").replace(/\s+/g, " ");
    const harmless = new Set(partsOf(redacted));
    for (const part of partsOf(script)) harmless.delete(part);
    for (const part of partsOf(encoded)) harmless.delete(part);
    const pieces = redacted.split(redactionMark);
    return pieces.map((piece) => hide(piece, harmless, otherFields)).join(redactionMark);
  };
}

/** Yields every part of `shortestMatch` characters, one by one: a script may have megabytes. */
function* partsOf(text: string): Generator<string> {
  for (let at = 0; at + shortestMatch <= text.length; at++) {
    yield text.slice(at, at + shortestMatch);
  }
}

/** Replaces what is not harmless in `text` with the redaction mark, but keeps the words of other fields. */
function hide(text: string, harmless: ReadonlySet<string>, otherFields: string): string {
  const isHidden = new Uint8Array(text.length);
  for (const [at, part] of [...partsOf(text)].entries()) {
    if (!harmless.has(part)) isHidden.fill(1, at, at + shortestMatch);
  }
  for (const { 0: wordWithQuotes, index } of text.matchAll(/\S+/g)) {
    const word = wordWithQuotes.replace(/^["'`([{<]+|["'`)\]}>.,:;!?]+$/g, "");
    if (word.length < shortestMatch || !otherFields.includes(word)) continue;
    const at = index + wordWithQuotes.indexOf(word);
    isHidden.fill(0, at, at + word.length);
  }
  let result = "";
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && isHidden[end] === isHidden[start]) end++;
    const run = text.slice(start, end);
    const secret = run.trim();
    const isSecret = isHidden[start] === 1 && secret.length >= shortestMatch;
    result += isSecret ? run.replace(secret, () => redactionMark) : run;
  }
  return result;
}
