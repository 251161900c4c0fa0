/**
 * How the journal and messages tell of a name: in clear, unless the program made it secret (G8). The
 * journal then has a keyed hash.
 */
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";
import { blot } from "../text";

const hashed = "secret:";

type Key = Pick<Settings, "apiToken">;

export function notedName(name: string, secret: boolean, key: Key): string {
  return secret ? hashed + keyedFingerprint(key.apiToken, name, 32) : name;
}

/** In a message, where a name too short to be looked for would stand in clear. */
export function shownName(name: string, secret: boolean): string {
  return secret ? blot : name;
}

/** For a noted name. */
export function shownNote(noted: string): string {
  return shownName(noted, isHashed(noted));
}

export function isHashed(noted: string): boolean {
  return noted.startsWith(hashed);
}

/** Whether `noted` tells of this name. After a rotated token no secret name is known again. */
export function isNoted(noted: string, name: string, key: Key): boolean {
  return noted === name || noted === notedName(name, true, key);
}
