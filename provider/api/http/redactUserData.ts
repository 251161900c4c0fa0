/**
 * A service, or a proxy before it, may repeat a request in an error page. User data is a secret (G8), so
 * whatever part of it comes back is redacted.
 */
import { redactionMark } from "../../redaction";
import type { CreateBody } from "../contract";

/** Characters. A shorter match is chance, and shows nothing. */
const shortestMatch = 6;

/**
 * Extends `redact` to every run of characters that is also in the script of this body, or in its Base64.
 * A whole word that another field of the body holds too (the name, an image) stays.
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
    // Decoded only now, since most requests are not refused. White space is as `oneLine` leaves it.
    const script = Buffer.from(encoded, "base64").toString("utf8").replace(/\s+/g, " ");
    const matches = commonParts([script, encoded], redacted);
    if (matches.size === 0) return redacted;
    const parts = redacted.split(redactionMark);
    return parts.map((part) => hideMatches(part, matches, otherFields)).join(redactionMark);
  };
}

/** The parts of `shortestMatch` characters that `text` has in common with one of the sources. */
function commonParts(sources: readonly string[], text: string): ReadonlySet<string> {
  const wanted = new Set<string>();
  // A script may have megabytes, so only parts with the hash of a wanted one are cut out of it.
  const wantedHashes = new Uint8Array(2 ** 16);
  for (let at = 0; at + shortestMatch <= text.length; at++) {
    wanted.add(text.slice(at, at + shortestMatch));
    wantedHashes[hashOfPart(text, at)] = 1;
  }
  const found = new Set<string>();
  for (const source of sources) {
    for (let at = 0; at + shortestMatch <= source.length; at++) {
      if (wantedHashes[hashOfPart(source, at)] === 0) continue;
      const part = source.slice(at, at + shortestMatch);
      if (wanted.has(part)) found.add(part);
    }
  }
  return found;
}

/** 16 bits, made of every other character of a part. */
function hashOfPart(text: string, at: number): number {
  const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 2), text.charCodeAt(at + 4)];
  return (a ^ (b << 5) ^ (c << 10)) & 0xffff;
}

function hideMatches(text: string, matches: ReadonlySet<string>, otherFields: string): string {
  const isHidden = new Uint8Array(text.length);
  for (let at = 0; at + shortestMatch <= text.length; at++) {
    if (matches.has(text.slice(at, at + shortestMatch))) isHidden.fill(1, at, at + shortestMatch);
  }
  for (const { 0: whole, index } of text.matchAll(/\S+/g)) {
    const word = whole.replace(/^["'`([{<]+|["'`)\]}>.,:;!?]+$/g, "");
    if (word.length < shortestMatch || !otherFields.includes(word)) continue;
    const at = index + whole.indexOf(word);
    isHidden.fill(0, at, at + word.length);
  }
  let result = "";
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && isHidden[end] === isHidden[start]) end++;
    const run = text.slice(start, end);
    const secret = run.trim();
    const hides = isHidden[start] === 1 && secret.length >= shortestMatch;
    result += hides ? run.replace(secret, () => redactionMark) : run;
  }
  return result;
}
