/** The figures of bench/results.json as Markdown, for README.md and docs/performance.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/support/paths";
import { amount, partNames, round, type Figure, type Results } from "../figure";

/** What README.md shows: the figures by which a user chooses, each as what is measured and beside what. */
const chosen: readonly (readonly [what: RegExp, against: RegExp])[] = [
  [/^1000 instances at once: until all/, /^the slowest/],
  [/^1000 instances within .*: until all/, /^the slowest/],
  [/^up of \d+ instances(: requests)?$/, /^a dynamic provider/],
  [/^refresh of 1000 instances: list requests/, /pages/],
  [/^preview with a refresh of \d+ instances$/, /^terraform/],
  [/^the single executable: pulumi up of one instance/, /^a Go provider/],
  [/^the single executable: size to download/, /^a Go provider/],
];

/** What docs/performance.md shows; the rest is in the file. */
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

export function chosenRows(): string[][] {
  const isChosen = ({ what, against }: Figure) =>
    chosen.some((patterns) => patterns[0].test(what) && patterns[1].test(against));
  return figures().filter(isChosen).map(row);
}

export function measuredRows(): string[][] {
  return figures()
    .filter(({ what }) => shown.some((pattern) => pattern.test(what)))
    .map(row);
}

function figures(): Figure[] {
  const text = readFileSync(join(root, "bench", "results.json"), "utf8");
  const { parts } = JSON.parse(text) as Results;
  return partNames.flatMap((name) => parts[name]?.figures ?? []);
}

function row({ what, unit, ours, against, theirs, ratio }: Figure): string[] {
  const theirAmount = `${against}: ${amount(theirs.median, unit)}`;
  return [what, amount(ours.median, unit), theirAmount, `${round(ratio)} ×`];
}
