/**
 * How records and messages hold a name: in clear, unless the program made it secret (G8). A record then has
 * a keyed hash of it, a message a mark.
 */
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";
import { redactionMark } from "../redaction";

const hashed = "secret:";

type Key = Pick<Settings, "apiToken">;

export function notedName(name: string, secret: boolean, key: Key): string {
  return secret ? hashed + keyedFingerprint(key.apiToken, name, 32) : name;
}

/** For a message: redaction alone passes over names that are too short to be looked for. */
export function shownName(name: string, secret: boolean): string {
  return secret ? redactionMark : name;
}

/** The same for a name as a record holds it. */
export function shownNote(noted: string): string {
  return shownName(noted, isHashed(noted));
}

export function isHashed(noted: string): boolean {
  return noted.startsWith(hashed);
}
