/**
 * Generates the name of an instance if the program gives none, and recognizes generated names. Such a
 * name consists of the resource's name, a tag, and four random characters. The tag is the same in every
 * run for the same resource of the same stack. Check, Create and the create protocol use this file.
 */
import { createHash, randomBytes } from "node:crypto";
import { logicalName } from "../advice";
import { reveal, type PropertyMap } from "../propertyValue";

/**
 * Keys of two inputs that record who chose the name. `generatedKey` means that this provider generated
 * the name, and `proposedKey` that the engine proposed it (`pulumi:autonaming`). The value of each is the
 * chosen name, and an input counts only while its value equals the input `name`.
 */
export const generatedKey = "__generated";
export const proposedKey = "__proposed";

/** Returns who chose the input `name`: this provider, the engine, or the program ("explicit"). */
export function nameKind(inputs: PropertyMap): "generated" | "proposed" | "explicit" {
  const name = reveal(inputs["name"] ?? null);
  if (typeof name !== "string") return "explicit";
  if (reveal(inputs[generatedKey] ?? null) === name) return "generated";
  if (reveal(inputs[proposedKey] ?? null) === name) return "proposed";
  return "explicit";
}

/** The maximum length of one label of a hostname (RFC 1123). */
const maxLabelLength = 63;
const tagLength = 4;
const randomLength = 4;
const base32Alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Generates a valid hostname from the resource's logical name, "-", the tag, and four characters that the seed
 * determines. An empty seed is replaced with random bytes, so that two names differ. `scope` is the id of the provider
 * resource.
 */
export function generatedName(urn: string, scope: string, randomSeed: Uint8Array): string {
  const seed = randomSeed.length > 0 ? randomSeed : randomBytes(32);
  return `${hostnameBase(urn)}-${tagOf(urn, scope)}${base32(seed, randomLength)}`;
}

/**
 * Returns the tag of a resource of a stack. `pulumi stack rename` does not change the tag. The tag changes if the
 * resource is renamed, gets another type or parent type (even with `aliases`), or uses another provider resource.
 *
 * @param scope the id of the provider resource, which is the same in every run of a stack
 */
export function tagOf(urn: string, scope: string): string {
  const types = urn.split("::")[2] ?? "";
  return base32([scope, types, logicalName(urn)].join("\n"), tagLength);
}

/**
 * Whether the listed name ends with "-", this tag and four characters, like each name that was generated with the tag.
 */
export function hasTag(name: string | undefined, tag: string): boolean {
  if (name === undefined) return false;
  const suffix = name.slice(-(tagLength + randomLength + 1)).toLowerCase();
  return suffix.startsWith(`-${tag}`) && /^[a-z2-7]{4}$/.test(suffix.slice(-randomLength));
}

/** Returns `length` base-32 characters of the SHA-256 hash of `data`. */
function base32(data: string | Uint8Array, length: number): string {
  const digest = createHash("sha256").update(data).digest();
  return [...digest.subarray(0, length)].map((byte) => base32Alphabet[byte % 32]).join("");
}

/** Returns the logical name in lower case, with only the characters that a hostname may have. */
function hostnameBase(urn: string): string {
  const base = logicalName(urn)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxLabelLength - tagLength - randomLength - 1)
    .replace(/^-+|-+$/g, "");
  return base || "instance";
}
