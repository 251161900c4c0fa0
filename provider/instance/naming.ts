/**
 * The name of an instance if the program gives none: the resource's name, a tag, and four random
 * characters. The tag is the same in every run for the same resource of the same stack.
 */
import { createHash, randomBytes } from "node:crypto";
import { logicalName } from "../advice";
import { reveal, type PropertyMap } from "../propertyValue";

/**
 * Inputs that say who chose the name: this provider generated it, or the engine proposed it
 * (`pulumi:autonaming`). Each holds that name, and counts only while it equals `name`.
 */
export const generatedKey = "__generated";
export const proposedKey = "__proposed";

/** Who chose the name of these inputs. */
export function nameKind(inputs: PropertyMap): "generated" | "proposed" | "explicit" {
  const name = reveal(inputs["name"] ?? null);
  if (typeof name !== "string") return "explicit";
  if (reveal(inputs[generatedKey] ?? null) === name) return "generated";
  if (reveal(inputs[proposedKey] ?? null) === name) return "proposed";
  return "explicit";
}

/** Characters that one label of a hostname may have (RFC 1123). */
const longestLabel = 63;
const tagLength = 4;
const randomLength = 4;
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** A valid hostname: logical name, "-", tag, 4 characters. An empty seed is replaced, so that names differ. */
export function generatedName(urn: string, scope: string, randomSeed: Uint8Array): string {
  const seed = randomSeed.length > 0 ? randomSeed : randomBytes(32);
  return `${hostnameBase(urn)}-${tagOf(urn, scope)}${base32(seed, randomLength)}`;
}

/**
 * The tag of a resource of a stack. `stack rename` does not change it; an alias, or another provider
 * resource, does.
 */
export function tagOf(urn: string, scope: string): string {
  const types = urn.split("::")[2] ?? "";
  return base32([scope, types, logicalName(urn)].join("\n"), tagLength);
}

/** Whether a listed name is one that was generated with this tag. */
export function hasTag(name: string | undefined, tag: string): boolean {
  if (name === undefined) return false;
  const end = name.slice(-(tagLength + randomLength + 1)).toLowerCase();
  return end.startsWith(`-${tag}`) && /^[a-z2-7]{4}$/.test(end.slice(-randomLength));
}

function base32(what: string | Uint8Array, length: number): string {
  const digest = createHash("sha256").update(what).digest();
  return [...digest.subarray(0, length)].map((byte) => alphabet[byte % 32]).join("");
}

function hostnameBase(urn: string): string {
  const base = logicalName(urn)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longestLabel - tagLength - randomLength - 1)
    .replace(/^-+|-+$/g, "");
  return base || "instance";
}
