/** Short hexadecimal digests, by which values are compared or named without being stored. */
import { createHmac, hash } from "node:crypto";

/** Returns the first `length` digits of the SHA-256 digest. */
export function fingerprint(what: string | Uint8Array, length: number): string {
  return hash("sha256", what).slice(0, length);
}

/**
 * Returns the first `length` digits of an HMAC. It is for a secret `what`, or one that contains a secret: nobody can
 * test a guess of it against the digest without the key (secrets stay secret: G8).
 */
export function keyedFingerprint(key: string, what: string, length: number): string {
  return createHmac("sha256", key).update(what).digest("hex").slice(0, length);
}
