/** The pattern of a name, in the commands and in the arguments of functions. */

/** What a pattern may have, for the help and the schema. */
export const namePatternHelp = "in which * stands for any characters, and ? for one";

/**
 * Whether the name matches the pattern. Case does not count, as in comparisons of hostnames. It takes at most as many steps as
 * the pattern has characters times the name's: a regular expression with many stars could take years.
 */
export function matchesNamePattern(pattern: string, name: string): boolean {
  const [expected, given] = [[...pattern.toLowerCase()], [...name.toLowerCase()]];
  let at = 0;
  /** The last star so far, and the place in the name up to which it stands for characters. */
  let star: { at: number; upTo: number } | undefined;
  for (let read = 0; read < given.length;) {
    if (expected[at] === "*") star = { at: at++, upTo: read };
    else if (expected[at] === "?" || expected[at] === given[read]) [at, read] = [at + 1, read + 1];
    // The last star stands for one more character. To change an earlier one can't help.
    else if (star) [at, read] = [star.at + 1, ++star.upTo];
    else return false;
  }
  return expected.slice(at).every((rest) => rest === "*");
}
