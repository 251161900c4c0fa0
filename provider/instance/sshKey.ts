/** What is wrong with an SSH key of an Instance, which is the ID or the fingerprint of a key that the service has. */
import { createHash } from "node:crypto";

/** The text of a public key, also with options before it (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"). */
const publicKey =
  /(?:^|\s)(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\S+|sk-\S+@openssh\.com)\s+(AAAA[A-Za-z0-9+/]*=*)/;

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY|^PuTTY-User-Key-File/m;

/** `/a`, `~/a`, `./a`, `C:\\a`, and names as `ssh-keygen` gives them. A SHA-256 in Base64 may begin with `/`, too. */
const path =
  /^(?![\w+/]{43}=?$)(~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]|\.pub$|^id_(rsa|dsa|ecdsa|ed25519)$/;

/** Returns a clause, which quotes nothing of the key but its fingerprint. */
export function sshKeyProblem(key: string): string | undefined {
  if (privateKey.test(key)) {
    return "is a private key, which nobody else should have. Give the ID or the fingerprint of its public key";
  }
  const [, blob] = publicKey.exec(key) ?? [];
  if (blob !== undefined) {
    const fingerprint = fingerprintOf(Buffer.from(blob, "base64")) ?? printed;
    return `is the text of a public key. Give its ID, or ${fingerprint}`;
  }
  if (path.test(key)) {
    return `looks like the path of a file. Give the ID of the key, or ${printed}`;
  }
  return /^\d+ (SHA256|MD5):/.test(key)
    ? "is a line of `ssh-keygen -l`. Give only the fingerprint in it"
    : undefined;
}

const printed = "its fingerprint, SHA256:… (`ssh-keygen -lf FILE` prints it)";

/** Returns undefined if the key is cut off. It is fields that each begin with their length (RFC 4253, section 6.6). */
function fingerprintOf(blob: Buffer): string | undefined {
  let end = 0;
  while (end + 4 <= blob.length) end += 4 + blob.readUInt32BE(end);
  if (end !== blob.length) return undefined;
  const hash = createHash("sha256").update(blob).digest("base64");
  return `SHA256:${hash.replace(/=+$/, "")}`;
}
