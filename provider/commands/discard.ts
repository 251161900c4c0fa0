/**
 * `pulumi-resource-compute discard [URN]`: forgets a create that an earlier run left open (G1), once a
 * person knows that nothing of it runs. Without a URN, lists them.
 */
import { importCommand } from "../advice";
import type { JournalEntry } from "../journal/entry";
import { shownNote } from "../journal/notedName";
import type { Command } from "./command";
import { openCreates } from "./openCreates";

export const discard: Command = {
  positionals: "[URN]",
  mostPositionals: 1,
  async run({ positionals: [urn] }, { env, print }) {
    const noted = openCreates(env, print);
    if (urn === undefined) {
      if (noted.length === 0) print("No create is left open.");
      for (const { entry } of noted) describe(entry).forEach((line) => print(line));
      return 0;
    }
    const found = noted.filter(({ entry }) => entry.urn === urn);
    for (const { journal, entry } of found) {
      journal.clear(entry, urn);
      print(
        `Forgotten: the create of "${shownNote(entry.name)}" at ${entry.baseUrl} (${entry.at}).`,
      );
    }
    if (found.length === 0) print(`No create is left open for ${urn}.`);
    return found.length > 0 ? 0 : 1;
  },
};

function describe(entry: JournalEntry): string[] {
  const { urn, name, baseUrl, tokenKind, at, id } = entry;
  return [
    urn,
    `  "${shownNote(name)}" at ${baseUrl} (${tokenKind} token), begun ${at}${id ? `, instance ${id}` : ""}`,
    `  take it over: ${importCommand(entry, id ?? "<id>")}`,
  ];
}
