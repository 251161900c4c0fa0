/** The search for secrets in everything a command prints and leaves on disk (G8). */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { encryptionSalt, openLog, saltsIn } from "./engineLogs";

/**
 * Texts that may turn up at the service only: every token and user data in these tests holds one. JSON, URLs
 * and HTML each write the one of user data in another way.
 */
export const canaries = {
  token: "canarytoken5e1f",
  userData: 'canary-"user<data>/9b3c+é',
  name: "canary-name-77aa",
  /** Of a state backend. */
  password: "canarypass8b4e",
  /** Of Pulumi Cloud, which the engine hands to every plugin. */
  accessToken: "pul-canaryaccess2c6d",
} as const;

/** A part of a secret as long as this gives it away; a shorter one is chance. */
const partLength = 8;

type Form = (text: string) => string[];

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const html = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** How a secret may be written, by the one or other writer of a log. */
export const forms: Readonly<Record<string, Form>> = {
  plain: (text) => [text],
  "upper case": (text) => [text.toUpperCase()],
  "lower case": (text) => [text.toLowerCase()],
  JSON: (text) => [json(text), json(json(text))],
  "JSON as Go writes it": (text) => [
    json(text).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  ],
  URL: (text) => [encodeURIComponent(text), encodeURI(text)],
  HTML: (text) => [html(text), html(text).replaceAll('"', "&quot;")],
  hex: (text) => {
    const hex = Buffer.from(text).toString("hex");
    return [hex, hex.toUpperCase()];
  },
  Base64: base64Forms,
  "Base64 for URLs": (text) => base64Forms(text).map(urlSafe),
};

type Canary = keyof typeof canaries;
const all = Object.keys(canaries) as Canary[];

/** How a part of a canary may be written, in bytes; never shorter than `partLength`. */
interface Needle {
  canary: Canary;
  bytes: Buffer;
}

/** What may stand where four bytes at a multiple of four are these: a needle, from that byte of it on. */
interface Clue {
  needle: Needle;
  from: number;
}

/**
 * A needle of eight bytes or more, wherever it stands, has four bytes at a multiple of four among its
 * first seven. So one look at each four bytes of a text finds them all, of which there are thousands.
 */
const clues = new Map<number, Clue[]>();
/** Quicker to ask than the map, and mostly says no. */
const mayBeClue = new Uint8Array(1 << 16);
const slot = (four: number) => (Math.imul(four, 0x9e3779b1) >>> 16) & 0xffff;

for (const canary of all) {
  const written = parts(canaries[canary]).flatMap((part) =>
    Object.values(forms).flatMap((form) => form(part)),
  );
  for (const text of new Set(written)) {
    const needle = { canary, bytes: Buffer.from(text) };
    for (let from = 0; from < 4; from++) {
      const four = needle.bytes.readInt32LE(from);
      clues.set(four, [...(clues.get(four) ?? []), { needle, from }]);
      mayBeClue[slot(four)] = 1;
    }
  }
}

/** Throws when `text` holds a part of a canary, in any of the forms. */
export function refuseSecrets(
  where: string,
  text: string | Buffer,
  which: readonly Canary[] = all,
): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const four = bytes.readInt32LE(at);
    if (mayBeClue[slot(four)] === 0) continue;
    for (const { needle, from } of clues.get(four) ?? []) {
      const start = at - from;
      const found = bytes.subarray(Math.max(0, start), start + needle.bytes.length);
      if (!found.equals(needle.bytes) || !which.includes(needle.canary)) continue;
      const ctx = bytes.subarray(Math.max(0, start - 80), start + 40).toString();
      throw new Error(`G8 broken: ${where} shows a secret: …${ctx}…`);
    }
  }
}

const programs = ["Pulumi.yaml", "index.js"];

/**
 * Every file below but programs, which the test wrote; the engine's own logs are opened. Symbolic links
 * are not followed.
 */
export function refuseSecretsOnDisk(folder: string): void {
  const files = filesBelow(folder).map((path) => ({ path, bytes: readFileSync(path) }));
  const salts = new Set([encryptionSalt, ...files.flatMap(({ bytes }) => saltsIn(bytes))]);
  for (const { path, bytes } of files) {
    refuseSecrets("the name of a file", path);
    if (basename(dirname(path)) !== "logs") refuseSecrets(path, bytes);
    else {
      const { encrypted, text } = openLog(path, bytes, [...salts]);
      // The engine writes the backend's address into the others, with its password.
      refuseSecrets(path, text, encrypted ? all : all.filter((it) => it !== "password"));
    }
  }
}

function filesBelow(folder: string): string[] {
  // `recursive` would follow symbolic links.
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && !programs.includes(entry.name) ? [path] : [];
  });
}

/** Each stretch of `partLength` characters: whatever longer part is shown holds one of them. */
export function parts(secret: string): string[] {
  const starts = Array.from({ length: secret.length - partLength + 1 }, (_, start) => start);
  return starts.map((start) => secret.slice(start, start + partLength));
}

/** What Base64 makes of a text that stands 0, 1 or 2 bytes after a multiple of three. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from("-".repeat(offset) + text).toString("base64");
    // Characters at both ends hold bits of what stands beside.
    return encoded.replace(/=+$/, "").slice([0, 2, 3][offset], -1);
  });
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}
