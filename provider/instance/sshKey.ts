/** What is wrong with an SSH key of an Instance, which is the ID or the fingerprint of a key that the service has. */
import { createHash } from "node:crypto";

/**
 * A public key in Base64, alone or among what the line of a file has besides (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"). It begins with
 * the length of its type, such as 7 or 11, and the letters ss, ec or sk of that.
 */
const publicKey = /(?:^|\s)(AAAA(?:[BC]3Nz|E2Vj|[GI]nNr)[A-Za-z0-9+/]*=*)(?=[ \t]|\s*$)/;

/** No fingerprint in Base64 has a ~ or a dot. */
const path = /^(?:~|\.{1,2}|[a-z]:)[\\/]|[\\/]\.ssh[\\/]|\.pub$/i;

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY|^PuTTY-User-Key-File/m;

/** Returns a clause, which quotes nothing of the key but its fingerprint. */
export function sshKeyProblem(key: string): string | undefined {
  if (privateKey.test(key)) {
    return "is a private key, which nobody else should have. Give the ID or the fingerprint of its public key";
  }
  if (path.test(key))
    return "is the path of a file. Give the ID of its key, or the fingerprint that ssh-keygen -lf prints";
  const [, blob] = publicKey.exec(key) ?? [];
  if (blob === undefined) return undefined;
  const hash = createHash("sha256").update(blob, "base64").digest("base64");
  return `is the text of a public key. Give its ID, or SHA256:${hash.replace(/=+$/, "")}`;
}
