/** The figures of bench/results.json as Markdown, for the README. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/support/paths";
import { amount, partNames, round, type Figure, type Results } from "../figure";

/** What the README shows of a whole run; the rest is in the file. */
const shown = [
  /^\d+ instances? at once: until all/,
  /^1000 instances within/,
  /^up of \d+ instances/,
  /^refresh of \d+ instances: list requests/,
  /^preview with a refresh/,
  /^start until the first answer/,
  /^memory after/,
  /^the single executable/,
  /^pulumi (preview|up) of one instance/,
  /^pulumi up of \d+ new instances/,
];

export function measuredRows(): string[][] {
  const text = readFileSync(join(root, "bench", "results.json"), "utf8");
  const { parts } = JSON.parse(text) as Results;
  return partNames
    .flatMap((name) => parts[name]?.figures ?? [])
    .filter(({ what }) => shown.some((pattern) => pattern.test(what)))
    .map(row);
}

function row({ what, unit, ours, against, theirs, ratio }: Figure): string[] {
  const theirAmount = `${against}: ${amount(theirs.median, unit)}`;
  return [what, amount(ours.median, unit), theirAmount, `${round(ratio)} ×`];
}
