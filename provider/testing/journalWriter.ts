/**
 * A process that writes a journal as hard as it can: `journalWriter.ts FOLDER NAME ROUNDS`. Leaves
 * open one entry of its own for each round, and prints every warning.
 */
import { Journal } from "../journal/journal";
import { journalEntry } from "./journalEntry";

const [folder = "", name = "", rounds = ""] = process.argv.slice(2);
const journal = new Journal(folder, (text) => process.stdout.write(`${text}\n`));
const before = Array.from({ length: 50 }, (_, n) => `i-${n}-of-${name}`);
const entry = (resource: string) =>
  journalEntry(resource, { at: new Date().toISOString(), before });

for (let round = 0; round < Number(rounds); round++) {
  // The same resource in every process: only its lock keeps two runs of a stack apart.
  const shared = entry("shared");
  journal.write({ ...shared, id: `i-${name}` });
  journal.find(shared, shared.urn);
  new Journal(folder, (text) => process.stdout.write(`${text}\n`)).entries();
  journal.clear(shared, shared.urn);
  journal.write(entry(`${name}-${round}`));
}
