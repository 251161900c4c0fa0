/** Pulumi's property values in types of our own. Only `rpc/` knows how a message encodes them. */

/** Plain JSON, a secret, an unknown value, or a value that the provider does not open. */
export type PropertyValue =
  | null
  | boolean
  | number
  | string
  | readonly PropertyValue[]
  | PropertyMap
  | Secret
  | Unknown
  | Opaque;

/** Properties by name, without a prototype, so that `constructor` is a key like any other. */
export interface PropertyMap {
  readonly [key: string]: PropertyValue;
}

/** A value that the engine encrypts in the state. */
export class Secret {
  constructor(readonly value: PropertyValue) {}
}

/** A value that is known only after something was created or updated. It occurs only in previews. */
export class Unknown {
  private constructor() {}
  static readonly value = new Unknown();
}

/** What an `Opaque` value is. */
export type OpaqueKind = "asset" | "archive" | "resource" | "newer";

/** An asset, an archive, a reference to a resource, or a newer kind of value. Check and Invoke refuse it. */
export class Opaque {
  constructor(
    readonly fields: PropertyMap,
    readonly kind: OpaqueKind,
  ) {}
}

/** Returns a map of these entries, without undefined values. */
export function propertyMap(
  entries: Readonly<Record<string, PropertyValue | undefined>>,
): PropertyMap {
  const map = Object.create(null) as Record<string, PropertyValue>;
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined) map[key] = value;
  }
  return map;
}

/** Whether the value is a list. `Array.isArray` would narrow a read-only array to `any[]`. */
export function isList(value: PropertyValue | undefined): value is readonly PropertyValue[] {
  return Array.isArray(value);
}

/** Whether the value is a plain map of properties. */
export function isMap(value: PropertyValue | undefined): value is PropertyMap {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return ![Secret, Unknown, Opaque].some((kind) => value instanceof kind);
}

/** Returns a map with the same keys, whose values are those that `change` returns. */
export function mapValues<T>(
  map: Readonly<Record<string, T>>,
  change: (value: T) => PropertyValue,
): PropertyMap {
  return propertyMap(
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)])),
  );
}

/** Returns the value without `Secret` wrappers, at every depth. */
export function reveal(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return reveal(value.value);
  if (isList(value)) return value.map(reveal);
  return isMap(value) ? mapValues(value, reveal) : value;
}

/**
 * Returns JSON for a comparison: the same for two values, whatever the order of the keys in their maps. Take the secrets and the
 * unknown parts out of the value before.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Whether any part of the value is not known yet. */
export function hasUnknown(value: PropertyValue | undefined): boolean {
  return nestedIn(value).some(({ part }) => part instanceof Unknown);
}

/** Whether any part of the value is a secret. */
export function hasSecret(value: PropertyValue | undefined): boolean {
  return nestedIn(value).some(({ part }) => part instanceof Secret);
}

/** Returns every string inside a secret, at any depth. */
export function secretStrings(value: PropertyValue | undefined): string[] {
  return nestedIn(value).flatMap(({ part, isInSecret }) =>
    isInSecret && typeof part === "string" ? [part] : [],
  );
}

/** Returns the value and what it contains, at any depth, except in values that the provider does not open. */
function nestedIn(
  value: PropertyValue | undefined,
  isInSecret = false,
): { part: PropertyValue; isInSecret: boolean }[] {
  if (value === undefined) return [];
  const own = { part: value, isInSecret };
  if (value instanceof Secret) return [own, ...nestedIn(value.value, true)];
  const items = isList(value) || isMap(value) ? Object.values(value) : [];
  return [own, ...items.flatMap((item: PropertyValue) => nestedIn(item, isInSecret))];
}

/** Whether the value is given. Null counts as left out. */
export function isGiven(value: PropertyValue | undefined): value is PropertyValue {
  return value !== undefined && reveal(value) !== null;
}

/** Returns `value`, as a secret if it is derived from a secret `original`. */
export function secretLike(
  original: PropertyValue | undefined,
  value: PropertyValue | undefined,
): PropertyValue | undefined {
  return value !== undefined && hasSecret(original) && !hasSecret(value)
    ? new Secret(value)
    : value;
}
