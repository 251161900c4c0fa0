/**
 * The door of this room, which knows only text: what cloud-init gets of user data (`unpackedScript`), and what it can't use of
 * that (`unusableIn`), which a person would otherwise notice only on the running server. `tests/userData` compares the findings
 * with cloud-init itself. No finding quotes the user data, because it is secret (G8).
 */
import { isUtf8 } from "node:buffer";
import type { Unusable } from "./cloudConfig";
import { mimePartsOf, type MimePart } from "./mimeParts";
import {
  isKnownType,
  messagePart,
  partProblems,
  partTypeOf,
  problemsOfPart,
  problemsOfParts,
  type Part,
} from "./part";
import { gunzipped, isGzip, isMime } from "./unpackedScript";

export { unpackedScript } from "./unpackedScript";

/** Larger user data is not judged, because that takes time. Scripts have some kilobytes. */
const maxJudgedBytes = 512 * 1024;

/**
 * Says why cloud-init can't use the user data. Nothing if cloud-init can use it, if nobody can judge it, and if it is for another
 * program.
 */
export async function unusableIn(userData: Buffer): Promise<Unusable[]> {
  const unpacked = gunzipped(userData);
  if (unpacked === "broken") return [{ why: "its gzip is broken", remedy: "Pack it again." }];
  if (unpacked === "tooLarge" || unpacked.length > maxJudgedBytes) return [];
  // No judge of a text is a reason for a Check to fail.
  return unpackedProblems(unpacked).catch(() => []);
}

async function unpackedProblems(bytes: Buffer): Promise<Unusable[]> {
  if (!isUtf8(bytes)) {
    const why = "it has bytes that are not UTF-8";
    return isHarmless(bytes)
      ? []
      : [{ why, remedy: "Save it as UTF-8, without a byte order mark." }];
  }
  const text = bytes.toString("utf8");
  const type = partTypeOf(text);
  if (isMime(text) && (type !== undefined || /^[\w-]+:/.test(text)))
    return messageProblems(mimePartsOf(text));
  if (type !== undefined) return partProblems(type, text);
  return isForAnotherProgram(text) || text === "" ? [] : headerProblems(text);
}

/** Whether bytes that are not UTF-8 do no harm: in the comments of a list of URLs. */
function isHarmless(bytes: Buffer): boolean {
  return partTypeOf(bytes.toString("latin1")) === "include";
}

async function messageProblems(parts: readonly MimePart[]): Promise<Unusable[]> {
  if (parts.every(({ bytes }) => bytes.length === 0)) {
    const why = "its MIME message has no part with text";
    return [{ why, remedy: "Compare it with its boundary." }];
  }
  // A handler may take any type.
  const hasHandler = parts.some(({ type }) => type === "text/part-handler");
  const judged = parts.map((part) => (hasHandler && !isKnownType(part.type) ? [] : readPart(part)));
  const [only] = judged;
  return only && judged.length === 1 ? problemsOfPart(only) : problemsOfParts(judged);
}

/** Returns the part, unless it is for another program, or says why it can't be read. */
function readPart({ type, headers, bytes }: MimePart): Part | Unusable[] {
  const unpacked = /gzip|gunzip|compress/.test(type) ? gunzipped(bytes) : bytes;
  const content = typeof unpacked === "string" ? bytes : unpacked;
  const text = content.toString();
  if (partTypeOf(text) === undefined && isForAnotherProgram(text)) return [];
  if (isUtf8(content)) return messagePart(content === bytes ? type : "text/plain", text, headers);
  if (type.startsWith("text/x-include") || isHarmless(content)) return [];
  const why = "it has letters outside ASCII, or bytes that are not UTF-8";
  return [{ why, remedy: "Save it as UTF-8, and give it `Content-Transfer-Encoding: base64`." }];
}

/** How user data begins that is for another program than cloud-init. */
const otherPrograms = [
  /^\{[^]*"ignition"\s*:/, // Ignition
  /^"?(version|apiVersion)"?: *"?v1alpha1\b/m, // Talos
  /^\{[^]*"(version|apiVersion)"\s*:\s*"v1alpha1"/, // Talos in JSON
  /^\[\s*"?settings\b|^settings\./, // Bottlerocket
  /^\{[^{}:]*\}\s*:|^with\s+import\s/, // NixOS
  /^#ps1|^rem\s+cmd|^<(powershell|script)>/i, // cloudbase-init
];

function isForAnotherProgram(text: string): boolean {
  // cloudbase-init's own headers are comments elsewhere.
  const start = text.trimStart();
  const code = start.replace(/^(#[^\n]*(\n\s*|$))+/, "");
  return otherPrograms.some((beginning) => beginning.test(start) || beginning.test(code));
}

/** What may be wrong with user data that has no known header, by what shows it. The first that matches counts. */
const headerMistakes: readonly (Unusable & { sign: RegExp })[] = [
  {
    sign: /^\ufeff/,
    why: "it begins with a byte order mark (BOM), which hides the header",
    remedy: "Remove the mark.",
  },
  {
    sign: /^\s*#+\s*template:/i,
    why: "its first line is not `## template: jinja` in exactly this form",
    remedy: "Write one space before `template:` and one before `jinja`.",
  },
  {
    sign: /^content-type:\s*multipart\//im,
    why: "its MIME message does not begin with its headers, or has no MIME-Version",
    remedy: "Begin it with `MIME-Version: 1.0`, right after the opening quote.",
  },
  {
    sign: /^[ \t]*(#cloud-config|#!)/im,
    why: "text is before its header",
    remedy: "Move #cloud-config or #!/bin/sh to the first line.",
  },
  {
    sign: /^/,
    why: "it does not begin with a header that cloud-init knows",
    remedy: "Put #cloud-config or #!/bin/sh into the first line.",
  },
];

function headerProblems(text: string): Unusable[] {
  if (isBase64OfRecognized(text)) {
    const remedy = "Give plain text as userData, or encode it once as userDataBase64.";
    return [{ why: "cloud-init would get it in Base64", remedy }];
  }
  const mistakes = headerMistakes.filter(({ sign }) => sign.test(text.slice(0, 4096)));
  return mistakes.slice(0, 1).map(({ why, remedy }) => ({ why, remedy }));
}

function isBase64OfRecognized(text: string): boolean {
  const trimmed = text.trim();
  if (!/^[A-Za-z0-9+/\s]+=*$/.test(trimmed)) return false;
  const bytes = Buffer.from(trimmed, "base64");
  const inner = bytes.toString("utf8");
  return (
    isGzip(bytes) || isMime(inner) || partTypeOf(inner) !== undefined || isForAnotherProgram(inner)
  );
}
