/** Short hexadecimal digests, by which values are compared or named without being stored. */
import { createHmac, hash } from "node:crypto";

/** Returns the first `length` digits of the SHA-256 digest. */
export function fingerprint(what: string | Uint8Array, length: number): string {
  return hash("sha256", what).slice(0, length);
}

/**
 * Returns the first `length` digits of an HMAC of `what`. Without the key, nobody can test a guess of `what` against the
 * digest, so `what` may hold a secret (secrets stay secret: G8).
 */
export function keyedFingerprint(key: string, what: string, length: number): string {
  return createHmac("sha256", key).update(what).digest("hex").slice(0, length);
}
