/** Errors of Node's own. In a test they are no `instanceof Error`: jest gives each test file an `Error` of its own. */
export function isMissing(error: unknown): boolean {
  return fieldOf(error, "code") === "ENOENT";
}

export function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Record<string, unknown>)[name]
    : undefined;
}
