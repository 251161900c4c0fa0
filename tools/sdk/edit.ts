/** Changes to what a generator wrote. */
import { readFileSync, writeFileSync } from "node:fs";

/** Puts `insertion` after the one place in the file that says `after`; the generator may have changed. */
export function insert(file: string, after: string, insertion: string): void {
  replace(file, after, after + insertion);
}

export function replace(file: string, old: string, text: string): void {
  const before = readFileSync(file, "utf8");
  if (before.split(old).length !== 2) {
    throw new Error(`${file} is not as the generator used to write it: not one ${old}`);
  }
  writeFileSync(file, before.replace(old, () => text));
}
