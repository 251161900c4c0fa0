/** Short digests in hexadecimal: long enough to tell two things apart. */
import { createHmac, hash } from "node:crypto";

/** The first `length` digits of the SHA-256 digest. */
export function fingerprint(what: string | Uint8Array, length: number): string {
  return hash("sha256", what).slice(0, length);
}

/** For a secret, or a text that holds one: nobody without the key can try guesses against it (G8). */
export function keyedFingerprint(key: string, what: string, length: number): string {
  return createHmac("sha256", key).update(what).digest("hex").slice(0, length);
}
