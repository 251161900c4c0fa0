/** Returns a number in [0, 1). With a seeded source, ids, shuffles and provisioning times are repeatable. */
export type RandomSource = () => number;

/** The generator mulberry32, which produces the same numbers for the same seed. */
export function seeded(seed: number): RandomSource {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a string of `digits` random hexadecimal digits. */
export function randomHex(random: RandomSource, digits: number): string {
  let hex = "";
  while (hex.length < digits) hex += Math.floor(random() * 16).toString(16);
  return hex;
}

/** Returns the items in random order (Fisher and Yates). */
export function shuffle<T>(random: RandomSource, items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
