/** Generates the name of an instance if the program gives none, and recognizes generated names. */
import { createHash, randomBytes } from "node:crypto";
import { logicalName, typesOf } from "../pulumi/urn";
import { reveal, type PropertyMap } from "../pulumi/propertyValue";

/**
 * The keys of two inputs that record who chose the name: this provider generated it, or the engine proposed it
 * (`pulumi:autonaming`). The value is the chosen name, and counts only while it equals the input `name`.
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
const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/** Whether RFC 1123 allows the name. The service's document says "hostname", and not what a hostname may have. */
export function isHostname(name: string): boolean {
  const labels = name.split(".");
  return name.length <= 253 && labels.every((l) => l.length <= maxLabelLength && label.test(l));
}

const tagLength = 4;
const randomLength = 4;
const base32Alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Generates a valid hostname: the resource's logical name, "-", the tag, and four characters that the seed determines.
 * Without a seed, they are random. `scope` is the id of the provider resource, or empty if it is not known.
 */
export function generatedName(urn: string, scope: string, randomSeed: Uint8Array): string {
  const seed = randomSeed.length > 0 ? randomSeed : randomBytes(32);
  return `${hostnameBase(urn)}-${tagOf(urn, scope)}${base32(seed, randomLength)}`;
}

/**
 * Returns the tag of a resource of a stack: four characters that are the same in every run, even after `pulumi stack
 * rename`. The tag changes if the resource is renamed, gets another type or parent type (even with `aliases`), or uses
 * another provider resource, whose id is `scope`.
 */
export function tagOf(urn: string, scope: string): string {
  return base32([scope, typesOf(urn), logicalName(urn)].join("\n"), tagLength);
}

/** The random characters at the end of a generated name, and the domain that a service may add. */
const randomEnd = new RegExp(`^[a-z2-7]{${randomLength}}(\\..*)?$`);

/** Whether the listed name was generated for this resource. A service may change its case. */
export function isNameFor(name: string | undefined, urn: string, scope: string): boolean {
  const start = `${hostnameBase(urn)}-${tagOf(urn, scope)}`;
  const listed = name?.toLowerCase() ?? "";
  return listed.startsWith(start) && randomEnd.test(listed.slice(start.length));
}

/** Returns `length` base-32 characters of the SHA-256 hash of `data`. */
function base32(data: string | Uint8Array, length: number): string {
  const digest = createHash("sha256").update(data).digest();
  return [...digest.subarray(0, length)].map((byte) => base32Alphabet[byte % 32]).join("");
}

/** Returns the logical name in a URN with only the characters that a hostname may have. */
function hostnameBase(urn: string): string {
  const base = logicalName(urn)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxLabelLength - tagLength - randomLength - 1)
    .replace(/^-+|-+$/g, "");
  return base || "instance";
}
