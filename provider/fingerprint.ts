/** Short hexadecimal digests, which stand for values that are not stored. */
import { createHmac, hash } from "node:crypto";

/** Returns the first `length` digits of the SHA-256 digest. */
export function fingerprint(what: string | Uint8Array, length: number): string {
  return hash("sha256", what).slice(0, length);
}

/**
 * Returns the first `length` digits of an HMAC of `what`, which may hold a secret (G8): without the key, nobody can
 * test a guess against the digest.
 */
export function keyedFingerprint(key: string, what: string, length: number): string {
  return createHmac("sha256", key).update(what).digest("hex").slice(0, length);
}
