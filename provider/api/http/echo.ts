/**
 * A service, or a proxy before it, may repeat a request in an error page. User data is a secret (G8),
 * so what of it comes back is blotted out, however it was cut.
 */
import { redactionMark } from "../../redaction";
import type { CreateBody } from "../contract";

/** Shorter matches are chance, and show nothing. */
const shortest = 6;

/**
 * Every run of characters that stands in the script, or in its Base64, is blotted out; a word that
 * another field of the request holds too (the name, an image) stays.
 */
export function redactUserData(body: CreateBody, redact: (text: string) => string) {
  const { user_data: encoded, ...others } = body;
  if (!encoded) return redact;
  const elsewhere = [...Object.keys(body), ...Object.values(others).flat()].join("\n");
  return (text: string): string => {
    const shown = redact(text);
    // As `oneLine` has made the text. Only now, since most requests are not refused.
    const script = Buffer.from(encoded, "base64").toString("utf8").replace(/\s+/g, " ");
    const known = stretchesIn([script, encoded], shown);
    if (known.size === 0) return shown;
    return shown
      .split(redactionMark)
      .map((part) => hideParts(part, known, elsewhere))
      .join(redactionMark);
  };
}

/** The stretches of `shortest` characters that `text` has in common with the sources. */
function stretchesIn(sources: readonly string[], text: string): ReadonlySet<string> {
  const wanted = new Set<string>();
  // A script may have megabytes: only stretches that have the hash of a wanted one are cut out of it.
  const hashes = new Uint8Array(2 ** 16);
  forEachStretch(text, (at, hash) => {
    wanted.add(text.slice(at, at + shortest));
    hashes[hash] = 1;
  });
  const found = new Set<string>();
  for (const source of sources) {
    forEachStretch(source, (at, hash) => {
      if (hashes[hash] === 0) return;
      const stretch = source.slice(at, at + shortest);
      if (wanted.has(stretch)) found.add(stretch);
    });
  }
  return found;
}

/** Tells where each stretch begins, and a hash of it. */
function forEachStretch(text: string, tell: (at: number, hash: number) => void): void {
  let hash = 0;
  for (let end = 1; end <= text.length; end++) {
    // Each character moves the older ones on by 3 of the 16 bits: after six it has left them.
    hash = ((hash << 3) ^ text.charCodeAt(end - 1)) & 0xffff;
    if (end >= shortest) tell(end - shortest, hash);
  }
}

function hideParts(text: string, known: ReadonlySet<string>, elsewhere: string): string {
  let result = "";
  let from = 0;
  for (const { 0: whole, index } of text.matchAll(/\S+/g)) {
    const word = whole.replace(/^["'`([{<]+|["'`)\]}>.,:;!?]+$/g, "");
    if (word.length < shortest || !elsewhere.includes(word)) continue;
    const at = index + whole.indexOf(word);
    result += hideRuns(text.slice(from, at), known) + word;
    from = at + word.length;
  }
  return result + hideRuns(text.slice(from), known);
}

function hideRuns(text: string, known: ReadonlySet<string>): string {
  let result = "";
  let from = 0;
  for (let start = 0; start < text.length; start++) {
    let end = start;
    for (let at = start; at <= end && known.has(text.slice(at, at + shortest)); at++) {
      end = at + shortest;
    }
    const run = text.slice(start, end).trim();
    if (run.length >= shortest) {
      result += text.slice(from, start) + text.slice(start, end).replace(run, () => redactionMark);
      from = end;
    }
    if (end > start) start = end - 1;
  }
  return result + text.slice(from);
}
