/** Whether a string matches a pattern, in which `*` stands for any characters. Undefined matches no pattern. */
export function matchesPattern(pattern: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return value === first;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= value.length;
}
