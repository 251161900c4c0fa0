/**
 * Opens the logs of the engine, so that secrets.ts can search them. Since 3.249 the engine writes everything that
 * `-v=9` prints to the folder `logs` of the Pulumi home, a log for each command. Without a stack, the log is gzip. Else it
 * is `PLOG`, a byte 1, the length of the session key in two bytes, and that key, encrypted like the secrets of the stack.
 * Each chunk follows with its length in four bytes, a nonce of twelve bytes, and gzip in AES-256-GCM.
 */
import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { constants, gunzipSync } from "node:zlib";

/** The passphrase of all stacks in these tests. */
export const passphrase = "test";
/** The salt of all stacks without a settings file of their own. Passphrase and salt make the key of a stack. */
export const encryptionSalt =
  "v1:oYXw745B8XY=:v1:h327IGqQLyEp4wdo:hdmZWxt749m3Lu+V24bLq1tok29Emw==";

const magic = "PLOG\u0001";
const keyStart = magic.length + 2;
const nonceLength = 12;
const tagLength = 16;

/** Returns the salts in the settings or the state of a stack. */
export function saltsIn(bytes: Buffer): string[] {
  return bytes.toString("latin1").match(/\bv1:[\w+/]{11}=:v1:[\w+/]+=*:[\w+/]+=*/g) ?? [];
}

/**
 * The log lines in which the engine and the Node.js SDK of Pulumi write properties, whatever a provider does. They
 * are allowed only in an encrypted log.
 */
const enginePropertyLines = new RegExp(
  '^\\{"time":"[^"]+","level":"\\w+","msg":"(' +
    "(Unm|M)arshaling property for RPC|Planner decided |" +
    '(eventSink::Debug\\(%v\\)","pulumi.log.arg0":"<\\{%reset%\\}>)?RegisterResource RPC (prepared|finished): )',
);

/** A log in clear text. */
export interface OpenedLog {
  encrypted: boolean;
  /** The lines of the log. An encrypted log lacks the lines in which the engine itself writes properties. */
  text: Buffer;
}

/** Opens a log. @throws if it is neither gzip nor encrypted with a key of one of these salts */
export function openLog(path: string, bytes: Buffer, salts: readonly string[]): OpenedLog {
  const encrypted = bytes.subarray(0, magic.length).toString("latin1") === magic;
  try {
    if (!encrypted) return { encrypted, text: unpacked(bytes) };
    const lines = decryptLog(bytes, salts).toString("latin1").split("\n");
    const text = lines.filter((line) => !enginePropertyLines.test(line)).join("\n");
    return { encrypted, text: Buffer.from(text, "latin1") };
  } catch (cause) {
    throw new Error(`${path} can't be opened`, { cause });
  }
}

/** Returns the secrets in a file of a state, decrypted, one after the other. */
export function secretsIn(bytes: Buffer, salts: readonly string[]): Buffer {
  const found = bytes.toString("latin1").matchAll(/"ciphertext": *"(v1:[^"]+)"/g);
  return Buffer.concat([...found].map(([, text = ""]) => opened(text, salts)));
}

function decryptLog(bytes: Buffer, salts: readonly string[]): Buffer {
  const keyEnd = keyStart + bytes.readUInt16BE(magic.length);
  const key = opened(bytes.subarray(keyStart, keyEnd).toString(), salts);
  const chunks: Buffer[] = [];
  for (let at = keyEnd; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    const nonce = bytes.subarray(at + 4, at + 4 + nonceLength);
    chunks.push(unpacked(decrypted(key, nonce, bytes.subarray(at + 4 + nonceLength, end))));
    at = end;
  }
  return Buffer.concat(chunks);
}

/** Decrypts a text that is encrypted like the secrets of a stack. */
function opened(encrypted: string, salts: readonly string[]): Buffer {
  const [version, nonce = "", text = ""] = encrypted.split(":");
  if (version !== "v1") throw new Error(`a ciphertext of another kind: ${encrypted}`);
  for (const salt of salts) {
    try {
      return decrypted(keyOf(salt), Buffer.from(nonce, "base64"), Buffer.from(text, "base64"));
    } catch {
      // This is the salt of another stack.
    }
  }
  throw new Error("none of the salts decrypts a ciphertext");
}

const keys = new Map<string, Buffer>();

function keyOf(salt: string): Buffer {
  const derived = process.env["COMPUTE_TEST_STACK_KEY"];
  if (salt === encryptionSalt && derived !== undefined) return Buffer.from(derived, "hex");
  const known = keys.get(salt) ?? deriveKey(salt);
  keys.set(salt, known);
  return known;
}

/** Derives the key of a stack. Takes half a second by design. */
export function deriveKey(salt: string): Buffer {
  const [, bytes = ""] = salt.split(":");
  return pbkdf2Sync(passphrase, Buffer.from(bytes, "base64"), 1_000_000, 32, "sha256");
}

function decrypted(key: Buffer, nonce: Buffer, text: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce);
  decipher.setAuthTag(text.subarray(-tagLength));
  return Buffer.concat([decipher.update(text.subarray(0, -tagLength)), decipher.final()]);
}

function unpacked(bytes: Buffer): Buffer {
  // An engine that was killed early leaves an empty log.
  if (bytes.length === 0) return bytes;
  // The log of a killed engine may end anywhere, which this option accepts.
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}
