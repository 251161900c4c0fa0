/**
 * Finds user data that cloud-init would ignore, which one would otherwise notice only on the running server. No text of
 * this file quotes the user data, because it is secret (G8).
 */
import type { PropertyMap } from "../propertyValue";
import { isSameUserData, readUserData, type UserData } from "./userData";

/**
 * How user data begins, in lower case. cloud-init ignores the case, and white space before it.
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

/** User data of which there is more than a hash. */
type ScriptText = Extract<UserData, { form: "text" }>;

/** To parse a larger cloud-config would hold up the other resources. */
const maxParsedBytes = 64 * 1024;

/**
 * Returns a warning if cloud-init would ignore the user data in the checked inputs. Does not judge user data that is
 * not known yet, of which there is only a hash, or that the existing instance has: only a replacement could change that.
 */
export async function userDataWarning(
  checked: PropertyMap,
  olds: PropertyMap,
): Promise<string | undefined> {
  const userData = readUserData(checked);
  if (userData?.form !== "text" || isSameUserData(olds, checked)) return undefined;
  const reason = isRecognized(userData.bytes)
    ? await cloudConfigProblem(userData.bytes)
    : headerProblem(userData);
  return reason === undefined
    ? undefined
    : `cloud-init would ignore ${userData.input}: ${reason}. Ignore this warning if the image reads its user data with another program`;
}

function isRecognized(bytes: Buffer): boolean {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = beginningOf(bytes);
  // Like cloud-init, this looks for a MIME header anywhere in the beginning.
  const isMime = text.includes("mime-version:");
  return isGzip || isMime || headers.some((header) => text.startsWith(header));
}

/** Returns the beginning in lower case, without the white space before it. */
function beginningOf(bytes: Buffer): string {
  // `trimStart` would remove a byte order mark, too, which cloud-init does not.
  const text = bytes.toString("utf8", 0, 4096).replace(/^[ \t\r\n\v\f]+/, "");
  return text.toLowerCase();
}

function headerProblem({ input, bytes }: ScriptText): string {
  const text = beginningOf(bytes);
  if (text.startsWith("\ufeff")) {
    return "it begins with a byte order mark (BOM), which hides the header. Remove the mark";
  }
  if (text.startsWith("---")) {
    return 'it begins with "---", but the header #cloud-config has to come first. Remove that line, or move it below the header';
  }
  if (isBase64OfRecognized(bytes)) {
    return input === "userData"
      ? "it is in Base64. Give it as userDataBase64, or as plain text"
      : "it was encoded in Base64 twice. Encode it once";
  }
  if (/^[ \t]*#cloud-config/m.test(text)) {
    return "its header #cloud-config is not at its beginning. Move it to the first line";
  }
  return "it does not begin with a header that cloud-init knows, such as #cloud-config or #!/bin/sh";
}

function isBase64OfRecognized(bytes: Buffer): boolean {
  const text = bytes.toString("latin1").trim();
  return /^[A-Za-z0-9+/\s]+=*$/.test(text) && isRecognized(Buffer.from(text, "base64"));
}

/** Says why cloud-init can't use a cloud-config. Undefined if it can, or if this can't be judged. */
async function cloudConfigProblem(bytes: Buffer): Promise<string | undefined> {
  const isCloudConfig = /^#cloud-config(?!-)/.test(beginningOf(bytes));
  if (!isCloudConfig || bytes.length > maxParsedBytes) return undefined;
  const text = bytes.toString("utf8");
  // For cloud-init's parser, but not for this one, these characters end a line.
  if (/[\u0085\u2028\u2029]/.test(text)) return undefined;
  const { isMap, LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const { errors, contents } = parseDocument(text, {
    lineCounter,
    prettyErrors: false, // They quote the text.
    // At least as tolerant as cloud-init: the last of two equal keys counts, and no tag is judged.
    strict: false,
    uniqueKeys: false,
    schema: "failsafe",
  });
  const [error] = errors;
  if (error) {
    if (isOnlyOfThisParser(error)) return undefined;
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
 * Whether cloud-init's parser may accept what this parser refuses: data that is nested too deeply, or a quoted string
 * or flow collection whose next lines are not indented, or a comment right after a comma.
 */
function isOnlyOfThisParser({ code, message }: { code: string; message: string }): boolean {
  return code === "RESOURCE_EXHAUSTION" || /^(Missing closing|Flow |Comments must)/.test(message);
}
