/**
 * Opens the logs that the engine keeps of every command since 3.249, in `logs` of the Pulumi home: all that
 * `-v=9` prints. Of a command without a stack it is gzip. Else it is `PLOG`, a 1, the length of the session
 * key in two bytes, and that key encrypted as the stack's secrets are; then of each chunk its length in four
 * bytes, a nonce of twelve, and gzip in AES-256-GCM. One whose engine was killed may end anywhere.
 */
import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { constants, gunzipSync } from "node:zlib";

/** Of all stacks in these tests. */
export const passphrase = "test";
/** Of each that has no settings file of its own: the key that these two make is known to all. */
export const encryptionSalt =
  "v1:oYXw745B8XY=:v1:h327IGqQLyEp4wdo:hdmZWxt749m3Lu+V24bLq1tok29Emw==";

const magic = "PLOG\u0001";
const keyStart = magic.length + 2;
const nonceLength = 12;
const tagLength = 16;

/** What stacks' settings and states say of how their keys are made from the passphrase. */
export function saltsIn(bytes: Buffer): string[] {
  return bytes.toString("latin1").match(/\bv1:[\w+/]{11}=:v1:[\w+/]+=*:[\w+/]+=*/g) ?? [];
}

/**
 * What the engine and Pulumi's Node.js SDK write of properties on their own account, whatever a provider
 * does. Only a log that is encrypted like the state may hold it.
 */
const ownAccount = new RegExp(
  '^\\{"time":"[^"]+","level":"\\w+","msg":"(' +
    "(Unm|M)arshaling property for RPC|Planner decided |" +
    '(eventSink::Debug\\(%v\\)","pulumi.log.arg0":"<\\{%reset%\\}>)?RegisterResource RPC (prepared|finished): )',
);

export interface OpenedLog {
  encrypted: boolean;
  /** Without what the engine wrote on its own account in an encrypted one. */
  text: Buffer;
}

/** @throws where it is neither form, or no stack with one of these salts has encrypted it */
export function openLog(path: string, bytes: Buffer, salts: readonly string[]): OpenedLog {
  const encrypted = bytes.subarray(0, magic.length).toString("latin1") === magic;
  try {
    if (!encrypted) return { encrypted, text: unpacked(bytes) };
    const lines = decryptLog(bytes, salts).toString("latin1").split("\n");
    const text = lines.filter((line) => !ownAccount.test(line)).join("\n");
    return { encrypted, text: Buffer.from(text, "latin1") };
  } catch (cause) {
    throw new Error(`${path} can't be opened`, { cause });
  }
}

function decryptLog(bytes: Buffer, salts: readonly string[]): Buffer {
  const keyEnd = keyStart + bytes.readUInt16BE(magic.length);
  const key = sessionKey(bytes.subarray(keyStart, keyEnd).toString(), salts);
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

function sessionKey(encrypted: string, salts: readonly string[]): Buffer {
  const [version, nonce = "", text = ""] = encrypted.split(":");
  if (version !== "v1") throw new Error(`a session key of another kind: ${encrypted}`);
  for (const salt of salts) {
    try {
      return decrypted(keyOf(salt), Buffer.from(nonce, "base64"), Buffer.from(text, "base64"));
    } catch {
      // That of another stack.
    }
  }
  throw new Error("no stack here has its key");
}

const keys = new Map<string, Buffer>();

function keyOf(salt: string): Buffer {
  const ready = process.env["COMPUTE_TEST_STACK_KEY"];
  if (salt === encryptionSalt && ready !== undefined) return Buffer.from(ready, "hex");
  const known = keys.get(salt) ?? deriveKey(salt);
  keys.set(salt, known);
  return known;
}

/** Takes half a second, as it is meant to. */
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
  // Of an engine that was killed before it had written anything.
  if (bytes.length === 0) return bytes;
  // Also what ends too early.
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}
