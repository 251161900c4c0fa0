/** Keeps user data (the cloud-init script, a secret, G8) out of messages about error responses, which may repeat it. */
import { printable } from "../../redaction";
import type { CreateBody } from "../contract";

/** How many characters in a row a text must share with the script to be withheld. Fewer are likely to be chance. */
const sharedLength = 6;

/** What a message has instead of a text that is withheld. */
export const withheld = "(not shown, because it shares text with the user data)";

/**
 * Returns a function that does what `redact` does, unless the text shares `sharedLength` characters in a row with the
 * script of the create, or with its Base64. Then it returns `withheld`.
 */
export function withholdUserData(
  { user_data: encoded }: CreateBody,
  redact: (text: string) => string,
): (text: string) => string {
  if (!encoded) return redact;
  // The script is decoded only when it is needed, since most requests are not refused.
  let script: string | undefined;
  return (text) => {
    script ??= normalized(Buffer.from(encoded, "base64").toString("utf8"));
    const shown = normalized(text);
    return shares(shown, encoded) || shares(shown, script) ? withheld : redact(text);
  };
}

/** As `oneLine` (response.ts) and `redact` do, makes one line, without control characters. */
function normalized(text: string): string {
  return printable(text).replace(/\s+/g, " ");
}

/** Whether the texts have `sharedLength` characters in a row in common. `long` may have megabytes. */
function shares(short: string, long: string): boolean {
  const parts = new Set<string>();
  const lastDigests = new Uint8Array(1 << 16);
  let digest = 0;
  for (let end = 1; end <= short.length; end++) {
    digest = nextDigest(digest, short.charCodeAt(end - 1));
    if (end < sharedLength) continue;
    parts.add(short.slice(end - sharedLength, end));
    lastDigests[digest] = 1;
  }
  for (let end = 1; end <= long.length; end++) {
    digest = nextDigest(digest, long.charCodeAt(end - 1));
    // The digest rules out most parts, which is faster than to look for each of them.
    if (lastDigests[digest] === 1 && parts.has(long.slice(end - sharedLength, end))) return true;
  }
  return false;
}

/** Returns the digest of the last four characters: each further one shifts the fifth out. */
function nextDigest(digest: number, charCode: number): number {
  return ((digest << 4) ^ charCode) & 0xffff;
}
