/** The search for secrets in everything a command prints and leaves on disk (G8). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Turn up nowhere but at the service: every token and user data in these tests holds one. That of
 * user data is written differently by JSON, in a URL and in HTML.
 */
export const canaries = {
  token: "canarytoken5e1f",
  userData: 'canary-"user<data>/9b3c+é',
  name: "canary-name-77aa",
  /** Of a state backend. */
  password: "canarypass8b4e",
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

const needles = new Map(
  all.map((canary) => [canary, new Set(parts(canaries[canary]).flatMap(needlesOf))]),
);

function needlesOf(part: string): string[] {
  const written = Object.values(forms).flatMap((form) => form(part));
  // Files are read byte by byte.
  return written.flatMap((text) => [text, Buffer.from(text).toString("latin1")]);
}

const programs = ["Pulumi.yaml", "index.js"];

/** Throws when `text` holds a part of a canary, in any of the forms. */
export function refuseSecrets(where: string, text: string, which: readonly Canary[] = all): void {
  for (const needle of which.flatMap((canary) => [...(needles.get(canary) ?? [])])) {
    const at = text.indexOf(needle);
    if (at >= 0) {
      const around = text.slice(Math.max(0, at - 80), at + 40);
      throw new Error(`G8 broken: ${where} shows a secret: …${around}…`);
    }
  }
}

/** Every file below but programs, which the test wrote. Symbolic links are not followed. */
export function refuseSecretsOnDisk(folder: string): void {
  // `recursive` would follow them.
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) refuseSecretsOnDisk(path);
    else if (entry.isFile() && !programs.includes(entry.name)) {
      refuseSecrets(path, path + readFileSync(path, "latin1"));
    }
  }
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
