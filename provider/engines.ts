/** Which Pulumi engines the provider works with. */

/** The oldest one. */
export const oldestEngine = "3.142.0";

/** From this one on, an unfinished instance is read before the next update (`refresh_before_update`). */
export const bestFromEngine = "3.172.0";

/** Compares versions of digits and dots alone. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
