/** The script in user data as cloud-init gets it, however it was packed. To pack the same script anew changes nothing. */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";

/** Gzip that unpacks to more than this is compared packed, and not judged. A service takes far smaller scripts. */
const maxUnpackedBytes = 4 * 1024 * 1024;

/** Where cloud-init looks for the header of a MIME message. */
const mimeHeaderLength = 4096;

/**
 * Returns the script in a form to compare, hash or check, never to send: unpacked if it is gzip, with Unix line endings, and
 * with constant boundaries if it is a MIME message. So neither how it was compressed counts, nor the random boundary that many
 * libraries choose anew at each run.
 */
export function unpackedScript(bytes: Buffer): Buffer {
  const script = gunzipped(bytes);
  const unpacked = typeof script === "string" ? bytes : script;
  if (!isUtf8(unpacked)) return unpacked;
  const text = unpacked.toString("utf8").replaceAll("\r\n", "\n");
  return Buffer.from(isMime(text) ? withConstantBoundaries(text) : text, "utf8");
}

/** Whether the bytes begin as gzip does. */
export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Returns the bytes without their gzip, if they have one, or says why they were not unpacked. */
export function gunzipped(bytes: Buffer): Buffer | "broken" | "tooLarge" {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "tooLarge" : "broken";
  }
}

/** Whether cloud-init takes the text for a MIME message. */
export function isMime(text: string): boolean {
  return text.slice(0, mimeHeaderLength).toLowerCase().includes("mime-version:");
}

/**
 * Numbers the boundaries of the message and of the messages in it, in the order of their headers. Only lines that look like such a
 * header or boundary change.
 */
function withConstantBoundaries(text: string): string {
  const header =
    /(?<![^\n])(content-type:\s*multipart\/[^;\n]*;(?:[^\n]|\n[ \t])*?\bboundary=)(?:"([^"\n]+)"|([^\s;"]+))/gi;
  const names = new Map<string, string>();
  const marked = text.replace(header, (_, start: string, quoted?: string, bare?: string) => {
    const boundary = quoted ?? bare ?? "";
    const name = names.get(boundary) ?? `boundary-${names.size + 1}`;
    names.set(boundary, name);
    return `${start}"${name}"`;
  });
  return marked.replace(/^--(.*\S)?[ \t]*$/gm, (line, boundary: string = "") => {
    const end = boundary.endsWith("--") ? "--" : "";
    const name = names.get(boundary.slice(0, boundary.length - end.length));
    return name === undefined ? line : `--${name}${end}`;
  });
}
