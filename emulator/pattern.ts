/** Whether a string matches a pattern, in which `*` stands for any characters. Undefined matches no pattern. */
export function matchesPattern(pattern: string, value: string | undefined): boolean {
  const source = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
  return value !== undefined && new RegExp(`^${source}$`, "s").test(value);
}
