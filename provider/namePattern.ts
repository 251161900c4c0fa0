/** The pattern of a name, in the commands and in the arguments of functions. */

/** What a pattern may have, for the help and the schema. */
export const namePatternHelp = "in which * stands for any characters, and ? for one";

/** Whether the name matches the pattern. Case does not count, as in comparisons of hostnames. */
export function matchesNamePattern(pattern: string, name: string): boolean {
  const literal = pattern.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  const source = literal.replace(/\*+/g, ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "isu").test(name);
}
