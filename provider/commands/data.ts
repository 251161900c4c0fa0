/** What `--json` prints. */
import type { Terminal } from "./command";

export function printData(data: unknown, { print, cleaner }: Terminal): void {
  // Cleaned before: what JSON writes as an escape would be a control character again for its reader.
  const clean = (_: string, value: unknown) =>
    typeof value === "string" ? cleaner.clean(value) : value;
  for (const line of JSON.stringify(data, clean, 2).split("\n")) print(line);
}
