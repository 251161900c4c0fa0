/** How the journal tells of a name: in clear, or as a keyed hash where the program made it secret (G8). */
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";

const hashed = "secret:";

type Key = Pick<Settings, "apiToken">;

export function notedName(name: string, secret: boolean, key: Key): string {
  return secret ? hashed + keyedFingerprint(key.apiToken, name, 32) : name;
}

export function isHashed(noted: string): boolean {
  return noted.startsWith(hashed);
}

/** Whether `noted` tells of this name. After a rotated token no secret name is known again. */
export function isNoted(noted: string, name: string, key: Key): boolean {
  return noted === name || noted === notedName(name, true, key);
}
