/** The name of an instance whose program gives none (DESIGN section 3). */
import { createHash, randomBytes } from "node:crypto";
import { logicalName } from "../../advice";

/** RFC 1123: what one label of a hostname may be long. */
const longestLabel = 63;
const suffixLength = 7;

/** `logical name + "-" + 7 hex`, a valid hostname. A seed that says nothing is replaced: names must differ. */
export function generatedName(urn: string, randomSeed: Uint8Array): string {
  const seed = randomSeed.length > 0 ? randomSeed : randomBytes(32);
  const suffix = createHash("sha256").update(seed).digest("hex").slice(0, suffixLength);
  return `${hostnameBase(urn)}-${suffix}`;
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
