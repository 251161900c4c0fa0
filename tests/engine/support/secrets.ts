/** Searches everything that a command prints or leaves on disk for secrets (G8: no secret leaks). */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { encryptionSalt, openLog, saltsIn, secretsIn } from "./engineLogs";

/**
 * Strings that only the service may see: every token and all user data of these tests contain one. The canary of user
 * data has characters that JSON, URLs and HTML write in different ways.
 */
export const canaries = {
  token: "canarytoken5e1f",
  userData: 'canary-"user<data>/9b3c+é',
  name: "canary-name-77aa",
  /** Part of the password of a state backend. */
  password: "canarypass8b4e",
  /** The access token of Pulumi Cloud, which the engine passes to every plugin. */
  accessToken: "pul-canaryaccess2c6d",
} as const;

/** The shortest part of a secret that counts as a leak. A shorter match may be chance. */
const partLength = 8;

type Form = (text: string) => string[];

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const html = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

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
  "Base64 for URLs": (text) =>
    base64Forms(text).map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
};

type Canary = keyof typeof canaries;
const all = Object.keys(canaries) as Canary[];

/** A part of a canary in one of the forms. */
interface Needle {
  canary: Canary;
  bytes: Buffer;
}

/**
 * The needles with an offset, by their four bytes at this offset as an integer. A needle has at least eight bytes, so
 * wherever it is in a file, one of its first four offsets is at a multiple of four there. One lookup for every four
 * bytes of a file finds all of the thousands of needles.
 */
const clues = new Map<number, { needle: Needle; from: number }[]>();
/** Has a 1 at the slot of each clue, which rules out most values faster than the map. */
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

/** @throws if `text` contains a part of a canary in any of the forms */
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
      const excerpt = bytes.subarray(Math.max(0, start - 80), start + 40).toString();
      throw new Error(`G8 broken: ${where} shows a secret: …${excerpt}…`);
    }
  }
}

/**
 * Searches every file in a folder, and the engine's decrypted logs. With `hash` as `compute:userDataInState`, also decrypts
 * each secret of a state, and searches it for user data.
 *
 * @throws if one contains a secret
 */
export function refuseSecretsOnDisk(folder: string, userDataInState = "secret"): void {
  const files = filesBelow(folder).map((path) => ({ path, bytes: readFileSync(path) }));
  const salts = new Set([encryptionSalt, ...files.flatMap(({ bytes }) => saltsIn(bytes))]);
  if (userDataInState === "hash") {
    for (const { path, bytes } of files) {
      refuseSecrets(`a secret in ${path}`, secretsIn(bytes, [...salts]), ["userData"]);
    }
  }
  for (const { path, bytes } of files) {
    refuseSecrets("the name of a file", path);
    if (basename(dirname(path)) !== "logs") refuseSecrets(path, bytes);
    else {
      const { encrypted, text } = openLog(path, bytes, [...salts]);
      // The engine itself writes the address of the backend, with its password, to logs that are not encrypted.
      refuseSecrets(path, text, encrypted ? all : all.filter((canary) => canary !== "password"));
    }
  }
}

/** Symbolic links are not followed, as `recursive` would do. Programs have secrets, because the test wrote them. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && !["Pulumi.yaml", "index.js"].includes(entry.name) ? [path] : [];
  });
}

/** Returns all substrings of `partLength` characters. Every longer part of the secret contains one of them. */
export function parts(secret: string): string[] {
  const starts = Array.from({ length: secret.length - partLength + 1 }, (_, start) => start);
  return starts.map((start) => secret.slice(start, start + partLength));
}

/** Returns the Base64 of a string that begins 0, 1 or 2 bytes after a multiple of three. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from("-".repeat(offset) + text).toString("base64");
    // The characters at both ends also depend on the neighbouring bytes, so they are cut off.
    return encoded.replace(/=+$/, "").slice([0, 2, 3][offset], -1);
  });
}
