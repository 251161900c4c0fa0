/** Short digests, in hexadecimal: enough to tell two things apart, and of no use for finding one. */
import { createHash, createHmac } from "node:crypto";

export function fingerprint(what: string | Uint8Array, length: number): string {
  return createHash("sha256").update(what).digest("hex").slice(0, length);
}

/** Of what is secret, or holds something that is: nobody without the key can try guesses against it (G8). */
export function keyedFingerprint(key: string, what: string, length: number): string {
  return createHmac("sha256", key).update(what).digest("hex").slice(0, length);
}
