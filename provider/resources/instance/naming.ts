/** The name of an instance whose program gives none. */
import { randomBytes } from "node:crypto";
import { logicalName } from "../../advice";
import { fingerprint } from "../../fingerprint";

/** RFC 1123: what one label of a hostname may be long. */
const longestLabel = 63;
const suffixLength = 7;

/** `logical name + "-" + 7 hex`, a valid hostname. A seed that says nothing is replaced: names must differ. */
export function generatedName(urn: string, randomSeed: Uint8Array): string {
  const seed = randomSeed.length > 0 ? randomSeed : randomBytes(32);
  return `${hostnameBase(urn)}-${fingerprint(seed, suffixLength)}`;
}

/** Whether a name was made by `generatedName`: then no one else chose it, and its holder is ours (G2). */
export function isGeneratedName(urn: string, name: string): boolean {
  const base = hostnameBase(urn);
  return name.startsWith(`${base}-`) && /^[0-9a-f]{7}$/.test(name.slice(base.length + 1));
}

function hostnameBase(urn: string): string {
  const base = logicalName(urn)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longestLabel - suffixLength - 1)
    .replace(/^-+|-+$/g, "");
  return base || "instance";
}
