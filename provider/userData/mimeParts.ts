/** Takes a MIME message apart as cloud-init does, with the tolerance of Python's parser of e-mail (RFC 2045 and 2046). */

/** A part that is no multipart, with its type and the names of its headers in lower case, and what it holds. */
export interface MimePart {
  type: string;
  headers: readonly string[];
  bytes: Buffer;
}

interface Entity {
  headers: ReadonlyMap<string, string>;
  body: string;
}

/** How deep messages are taken apart. */
const maxDepth = 10;

/** Returns the parts of the message, and of the messages in it. */
export function mimePartsOf(text: string, depth = 0): MimePart[] {
  const { headers, body } = entityOf(text);
  const declared = headers.get("content-type") ?? "";
  const type = /^\s*([^\s;/]+\/[^\s;/]+)\s*(?:;|$)/.exec(declared)?.[1]?.toLowerCase();
  if (type?.startsWith("multipart/")) {
    if (depth >= maxDepth) return [];
    return textsBetween(body, declared).flatMap((part) => mimePartsOf(part, depth + 1));
  }
  const encoding = headers.get("content-transfer-encoding") ?? "";
  const bytes = decoded(body, encoding.trim().toLowerCase());
  return [{ type: type ?? "text/plain", headers: [...headers.keys()], bytes }];
}

/** The headers end at an empty line, or at a line that is none. */
function entityOf(text: string): Entity {
  const headers = new Map<string, string>();
  const lines = text.split(/(?<=\n)/);
  let last: string | undefined;
  let count = 0;
  for (const line of lines) {
    const header = /^([\x21-\x39\x3b-\x7e]+):(.*)/s.exec(line);
    // A continuation of nothing is left out.
    const isContinuation = /^[ \t]/.test(line);
    if (!header && !isContinuation) break;
    if (header) {
      const [, name = "", value = ""] = header;
      last = name.toLowerCase();
      // Of two, the first counts.
      if (headers.has(last)) last = undefined;
      else headers.set(last, value.trimEnd());
    } else if (last !== undefined) headers.set(last, `${headers.get(last)} ${line.trim()}`);
    count += 1;
  }
  const separator = /^\r?\n$/.test(lines[count] ?? "") ? 1 : 0;
  return { headers, body: lines.slice(count + separator).join("") };
}

/** Returns the texts between the boundaries. What is before the first one is no part. */
function textsBetween(body: string, contentType: string): string[] {
  const [, quoted, bare] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return [];
  const parts: string[][] = [];
  for (const line of body.split(/(?<=\n)/)) {
    const text = line.trimEnd();
    if (text === `--${boundary}--`) break;
    if (text === `--${boundary}`) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  // The line break before a boundary belongs to it.
  return parts.map((lines) => lines.join("").replace(/\r?\n$/, ""));
}

function decoded(body: string, encoding: string): Buffer {
  if (encoding === "base64") return Buffer.from(body, "base64");
  // Python takes letters of Latin-1 as bytes, and writes others in ASCII.
  if (encoding !== "quoted-printable")
    return Buffer.from(body.replace(/[^\0-\xff]/g, "x"), "latin1");
  const latin1 = Buffer.from(body, "utf8")
    .toString("latin1")
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(latin1, "latin1");
}
