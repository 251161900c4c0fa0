/**
 * Finds user data that cloud-init can't use, which one would otherwise notice only on the running server. No text of this file
 * quotes the user data, because it is secret (G8). `tests/userData` compares it with cloud-init itself.
 */
import { isUtf8 } from "node:buffer";
import type { PropertyMap } from "../propertyValue";
import type { Problem } from "./cloudConfig";
import { mimePartsOf, type MimePart } from "./mimeParts";
import { gunzipped, isGzip, isMime } from "./unpackedScript";
import { isSameUserData, readUserData, type UserData } from "./userData";
import { declaredPartProblem, inPart, isKnownType, partProblem, partTypeOf } from "./userDataPart";

/** Larger user data is not judged, because that takes time. Scripts have some kilobytes. */
const maxJudgedBytes = 512 * 1024;

/** User data of which there is more than a hash. */
type ScriptText = Extract<UserData, { form: "text" }>;

/**
 * Returns a warning if cloud-init can't use the user data in the checked inputs. Does not judge user data that is not known
 * yet, of which there is only a hash, or that the existing instance has: only a replacement could change that.
 */
export async function userDataWarning(
  checked: PropertyMap,
  olds: PropertyMap,
): Promise<string[] | undefined> {
  const userData = readUserData(checked);
  if (userData?.form !== "text" || isSameUserData(olds, checked)) return undefined;
  if (userData.bytes.length > maxJudgedBytes) return undefined;
  // A text that can't be judged is no reason for a Check to fail.
  const problem = await userDataProblem(userData).catch(() => undefined);
  if (!problem) return undefined;
  const { why, remedy, partly } = problem;
  return [
    `cloud-init would ignore ${partly ? "a part of " : ""}${userData.input}: ${why}.`,
    `${remedy} Ignore this warning if the image reads its user data with another program.`,
  ];
}

/** Says why cloud-init can't use the user data. Undefined if it can, if this can't be judged, or if it is for another program. */
export async function userDataProblem({
  input,
  bytes,
}: Pick<ScriptText, "input" | "bytes">): Promise<Problem | undefined> {
  const { unpacked, problem } = gunzipped(bytes);
  if (problem === "broken") return { why: "its gzip is broken", remedy: "Pack it again." };
  if (!unpacked || unpacked.length > maxJudgedBytes) return undefined;
  if (!isUtf8(unpacked)) return notUtf8(unpacked);
  const text = unpacked.toString("utf8");
  const type = partTypeOf(text);
  if (isMime(text) && (type !== undefined || /^[\w-]+:/.test(text)))
    return messageProblem(mimePartsOf(text));
  if (type !== undefined) return partProblem(type, text);
  return isForAnotherProgram(text) || text === "" ? undefined : headerProblem(input, text);
}

function notUtf8(bytes: Buffer): Problem | undefined {
  // In the comments of a list of URLs they do no harm.
  if (partTypeOf(bytes.toString("latin1")) === "include") return undefined;
  const why = "it has bytes that are not UTF-8";
  return { why, remedy: "Save it as UTF-8, without a byte order mark." };
}

function notUtf8Part(declared: string, bytes: Buffer): Problem | undefined {
  if (declared.startsWith("text/x-include")) return undefined;
  const why = "it has letters outside ASCII, or bytes that are not UTF-8";
  const remedy = "Save it as UTF-8, and give it `Content-Transfer-Encoding: base64`.";
  return notUtf8(bytes) && { why, remedy };
}

async function messageProblem(parts: readonly MimePart[]): Promise<Problem | undefined> {
  if (parts.every(({ bytes }) => bytes.length === 0)) {
    return {
      why: "its MIME message has no part with text",
      remedy: "Compare it with its boundary.",
    };
  }
  // A handler may take any type.
  const hasHandler = parts.some(({ type }) => type === "text/part-handler");
  for (const [index, { type, bytes }] of parts.entries()) {
    const { unpacked = bytes } = /gzip|gunzip|compress/.test(type) ? gunzipped(bytes) : {};
    const isPacked = unpacked !== bytes;
    if (hasHandler && !isKnownType(type)) continue;
    const text = unpacked.toString();
    if (partTypeOf(text) === undefined && isForAnotherProgram(text)) continue;
    const problem = isUtf8(unpacked)
      ? await declaredPartProblem(isPacked ? "text/plain" : type, text, "message")
      : notUtf8Part(type, unpacked);
    if (problem) return parts.length === 1 ? problem : inPart(problem, index);
  }
  return undefined;
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

/** Of user data with no known header. */
function headerProblem(input: ScriptText["input"], text: string): Problem {
  if (text.startsWith("\ufeff")) {
    const why = "it begins with a byte order mark (BOM), which hides the header";
    return { why, remedy: "Remove the mark." };
  }
  if (isBase64OfRecognized(text)) {
    return input === "userData"
      ? { why: "it is in Base64", remedy: "Give it as userDataBase64, or as plain text." }
      : { why: "it was encoded in Base64 twice", remedy: "Encode it once." };
  }
  const start = text.slice(0, 4096);
  if (/^#+\s*template:/i.test(start.trimStart())) {
    const why = "its first line is not `## template: jinja` in exactly this form";
    return { why, remedy: "Write one space before `template:` and one before `jinja`." };
  }
  if (/^content-type:\s*multipart\//im.test(start)) {
    const why = "its MIME message does not begin with its headers, or has no MIME-Version";
    return { why, remedy: "Begin it with `MIME-Version: 1.0`, right after the opening quote." };
  }
  if (/^[ \t]*(#cloud-config|#!)/im.test(start)) {
    const why = "text is before its header";
    return { why, remedy: "Move #cloud-config or #!/bin/sh to the first line." };
  }
  const why = "it does not begin with a header that cloud-init knows";
  return { why, remedy: "Put #cloud-config or #!/bin/sh into the first line." };
}

function isBase64OfRecognized(text: string): boolean {
  const trimmed = text.trim();
  if (!/^[A-Za-z0-9+/\s]+=*$/.test(trimmed)) return false;
  const bytes = Buffer.from(trimmed, "base64");
  const inner = bytes.toString("utf8");
  const isRecognized = partTypeOf(inner) !== undefined || isForAnotherProgram(inner);
  return isGzip(bytes) || isMime(inner) || isRecognized;
}
