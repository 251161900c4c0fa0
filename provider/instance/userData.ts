/**
 * Finds user data that cloud-init would ignore. Without a warning, one would notice that only on the running server.
 * `provider.ts` warns of it in Check. No text of this file quotes the user data, because it is secret (G8).
 */
import { reveal, type PropertyMap } from "../propertyValue";
import { userDataBytes } from "./definition";

/**
 * The ways in which user data for cloud-init begins, in lower case. cloud-init ignores the case, and white space before it.
 * https://docs.cloud-init.io/en/latest/explanation/format.html
 */
const headers = [
  "#!",
  "#cloud-config", // Also #cloud-config-archive and #cloud-config-jsonp.
  "#cloud-boothook",
  "#include", // Also #include-once.
  "#part-handler",
  "#upstart-job",
  "## template:",
];

/** The user data, and the input that holds it. */
interface UserData {
  name: "userData" | "userDataBase64";
  bytes: Buffer;
}

/**
 * The maximum size in bytes of a cloud-config that is parsed. To parse a larger one would hold up the other resources.
 */
const maxParsedBytes = 64 * 1024;

/**
 * Returns a warning if cloud-init would ignore the user data in the checked inputs. Does not judge user data that is
 * not known yet, or that the existing instance has already, since only a replacement could change the user data.
 */
export async function userDataWarning(
  checked: PropertyMap,
  olds: PropertyMap,
): Promise<string | undefined> {
  const userData = readUserData(checked);
  if (!userData || userData.bytes.length === 0) return undefined;
  if (readUserData(olds)?.bytes.equals(userData.bytes)) return undefined;
  const reason = isRecognized(userData.bytes)
    ? await cloudConfigProblem(userData.bytes)
    : headerProblem(userData);
  return reason === undefined
    ? undefined
    : `cloud-init would ignore ${userData.name}: ${reason}. Ignore this warning if the image reads its user data with another program`;
}

function readUserData(inputs: PropertyMap): UserData | undefined {
  for (const name of ["userData", "userDataBase64"] as const) {
    const value = reveal(inputs[name] ?? null);
    const bytes = typeof value === "string" ? userDataBytes({ [name]: value }) : undefined;
    if (bytes) return { name, bytes };
  }
  return undefined;
}

/** Whether cloud-init recognizes user data that begins like this. */
function isRecognized(bytes: Buffer): boolean {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = beginningOf(bytes);
  return (
    isGzip ||
    // Like cloud-init, this looks for a MIME header anywhere in the beginning.
    text.includes("mime-version:") ||
    headers.some((header) => text.startsWith(header))
  );
}

/** Returns the first characters of the user data, in lower case and without the white space before them. */
function beginningOf(bytes: Buffer): string {
  // `trimStart` would remove a byte order mark, too, which cloud-init does not.
  return bytes
    .toString("utf8", 0, 4096)
    .replace(/^[ \t\r\n\v\f]+/, "")
    .toLowerCase();
}

/** Says why cloud-init does not recognize the user data. */
function headerProblem({ name, bytes }: UserData): string {
  const text = beginningOf(bytes);
  if (text.startsWith("\ufeff")) {
    return "it begins with a byte order mark (BOM), which hides the header. Remove the mark";
  }
  if (text.startsWith("---")) {
    return 'it begins with "---", but the header #cloud-config has to come first. Remove that line, or move it below the header';
  }
  if (isBase64Of(bytes, isRecognized)) {
    return name === "userData"
      ? "it is in Base64. Give it as userDataBase64, or as plain text"
      : "it was encoded in Base64 twice. Encode it once";
  }
  if (/^[ \t]*#cloud-config/m.test(text)) {
    return "its header #cloud-config is not at its beginning. Move it to the first line";
  }
  return "it does not begin with a header that cloud-init knows, such as #cloud-config or #!/bin/sh";
}

/** Whether these bytes are the Base64 form of bytes that fulfil the condition. */
function isBase64Of(bytes: Buffer, condition: (decoded: Buffer) => boolean): boolean {
  const text = bytes.toString("latin1").trim();
  return /^[A-Za-z0-9+/\s]+=*$/.test(text) && condition(Buffer.from(text, "base64"));
}

/**
 * Says why cloud-init can't use a cloud-config. Undefined if it can, if that is not judged, and for any other user
 * data.
 */
async function cloudConfigProblem(bytes: Buffer): Promise<string | undefined> {
  if (bytes.length > maxParsedBytes) return undefined;
  if (!/^#cloud-config(?!-)/.test(beginningOf(bytes))) return undefined;
  // For cloud-init's parser, but not for this one, these characters end a line. So the user data is not judged.
  const text = bytes.toString("utf8");
  if (/[\u0085\u2028\u2029]/.test(text)) return undefined;
  const { isMap, LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const { errors, contents } = parseDocument(text, {
    lineCounter,
    // The parser's pretty messages quote the text.
    prettyErrors: false,
    // At least as tolerant as the parser of cloud-init: the last of two equal keys counts, and no tag is judged.
    strict: false,
    uniqueKeys: false,
    schema: "failsafe",
  });
  const [error] = errors;
  if (error && isOnlyOfThisParser(error)) return undefined;
  if (error) {
    const { line } = lineCounter.linePos(error.pos[0]);
    return `it begins with #cloud-config, but is not valid YAML (line ${line})`;
  }
  // Without any keys, there is nothing to ignore.
  const isEmpty = contents === null || /^(|~|null)$/i.test(String(contents).trim());
  return isEmpty || isMap(contents)
    ? undefined
    : "it begins with #cloud-config, but its YAML is not a mapping of keys to values";
}

/**
 * Whether cloud-init's parser may accept what this parser refuses with this error: data that is nested too deeply for this
 * parser, or a quoted string or flow collection that goes on at a place where only cloud-init's parser allows that.
 */
function isOnlyOfThisParser({ code, message }: { code: string; message: string }): boolean {
  return code === "RESOURCE_EXHAUSTION" || /^(Missing closing|Flow |Comments must)/.test(message);
}
