/**
 * A Pulumi property value, as the rest of the provider sees it: plain JSON, plus two cases of its
 * own. How each travels (signatures, sentinels) is known to `rpc/` alone.
 */
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

/** Made without a prototype, so that a key such as `__proto__` is a key like any other. */
export interface PropertyMap {
  readonly [key: string]: PropertyValue;
}

/** A value that the engine encrypts in the state. */
export class Secret {
  constructor(readonly value: PropertyValue) {}
}

/** A value that is known only after another resource has been made (previews only). */
export class Unknown {
  private constructor() {}
  static readonly value = new Unknown();
}

/** An asset, an archive, a reference or what is newer: no property of ours takes one, and none is opened. */
export class Opaque {
  constructor(readonly fields: PropertyMap) {}
}

/** Builds a map from entries, leaving out what is undefined. */
export function propertyMap(
  entries: Readonly<Record<string, PropertyValue | undefined>>,
): PropertyMap {
  const map = Object.create(null) as Record<string, PropertyValue>;
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined) map[key] = value;
  }
  return map;
}

/** `Array.isArray`, which for a read-only array forgets what is in it. */
export function isList(value: PropertyValue | undefined): value is readonly PropertyValue[] {
  return Array.isArray(value);
}

export function isMap(value: PropertyValue | undefined): value is PropertyMap {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret) &&
    !(value instanceof Unknown) &&
    !(value instanceof Opaque)
  );
}

/** The value without its secret wrappers, at every depth. */
export function reveal(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return reveal(value.value);
  if (isList(value)) return value.map((item) => reveal(item));
  if (isMap(value)) {
    const revealed = Object.entries(value).map(([key, item]) => [key, reveal(item)] as const);
    return propertyMap(Object.fromEntries(revealed));
  }
  return value;
}

/** Whether any part of the value is not known yet. */
export function hasUnknown(value: PropertyValue | undefined): boolean {
  return some(value, (part) => part instanceof Unknown);
}

/** Whether any part of the value is a secret. */
export function hasSecret(value: PropertyValue | undefined): boolean {
  return some(value, (part) => part instanceof Secret);
}

/** Every text inside a secret, at any depth: what must never be printed. */
export function secretTexts(value: PropertyValue | undefined, inside = false): string[] {
  if (value instanceof Secret) return secretTexts(value.value, true);
  if (typeof value === "string") return inside ? [value] : [];
  if (isList(value)) return value.flatMap((item) => secretTexts(item, inside));
  if (isMap(value)) return Object.values(value).flatMap((item) => secretTexts(item, inside));
  return [];
}

/** `value`, made secret when `like` was one. */
export function secretLike(
  like: PropertyValue | undefined,
  value: PropertyValue | undefined,
): PropertyValue | undefined {
  return value !== undefined && hasSecret(like) && !hasSecret(value) ? new Secret(value) : value;
}

function some(value: PropertyValue | undefined, test: (part: PropertyValue) => boolean): boolean {
  if (value === undefined) return false;
  if (test(value)) return true;
  if (value instanceof Secret) return some(value.value, test);
  if (isList(value)) return value.some((item) => some(item, test));
  if (isMap(value)) return Object.values(value).some((item) => some(item, test));
  return false;
}
