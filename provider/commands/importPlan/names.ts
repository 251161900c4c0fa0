/** Names for resources, made from the names of instances: the same ones each time, no two alike. */
import type { ListItem } from "../../api/contract";

/** Far longer than any hostname; a service may give anything. */
const longest = 100;

/**
 * A name for each, in their order. Where several would have the same one, or the stack has it already,
 * the id makes the difference, whichever else there may be at the next plan.
 */
export function namesFor(items: readonly ListItem[], taken: readonly string[]): string[] {
  const plain = items.map(({ name, id }) => fit(name ?? "") || fit(id) || "instance");
  const used = new Set(taken.map(identifier));
  const wishes = new Map<string, number>();
  for (const name of plain) wishes.set(identifier(name), (wishes.get(identifier(name)) ?? 0) + 1);
  return items.map(({ id }, at) => {
    const name = plain[at] ?? "";
    const alone = wishes.get(identifier(name)) === 1 && !used.has(identifier(name));
    const wish = alone ? name : `${name}-${fit(id)}`;
    let unique = wish;
    for (let n = 2; used.has(identifier(unique)); n++) unique = `${wish}-${n}`;
    used.add(identifier(unique));
    return unique;
  });
}

/** What every language and every shell takes as it is. */
function fit(text: string): string {
  return text
    .slice(0, longest)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

/** As generated code may name its variable: names that differ in signs only would be the same one. */
function identifier(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "_");
}
