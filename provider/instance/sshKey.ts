/** What is wrong with an SSH key of an Instance, which is the ID or the fingerprint of a key that the service has. */
import { createHash } from "node:crypto";

/** The text of a public key, also with options before it (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"). */
const publicKey =
  /(?:^|\s)(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\S+|sk-\S+@openssh\.com)\s+(AAAA[A-Za-z0-9+/]*=*)/;

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY|^PuTTY-User-Key-File/m;

/** Returns a clause, which quotes nothing of the key but its fingerprint. */
export function sshKeyProblem(key: string): string | undefined {
  if (privateKey.test(key)) {
    return "is a private key, which nobody else should have. Give the ID or the fingerprint of its public key";
  }
  const [, blob] = publicKey.exec(key) ?? [];
  if (blob === undefined) return undefined;
  const hash = createHash("sha256").update(blob, "base64").digest("base64");
  return `is the text of a public key. Give its ID, or SHA256:${hash.replace(/=+$/, "")}`;
}
