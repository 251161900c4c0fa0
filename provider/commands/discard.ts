/**
 * `pulumi-resource-compute discard [URN]`: forgets a create that an earlier run left open (G1), once a
 * person knows that nothing of it runs. Without a URN, lists them.
 */
import { importCommand } from "../advice";
import { journalFolders } from "../journal/folder";
import { Journal, type JournalEntry } from "../journal/journal";

/** Gives the exit code. */
export async function discard(
  [urn, ...rest]: readonly string[],
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  if (rest.length > 0 || urn?.startsWith("-")) {
    print("Usage: pulumi-resource-compute discard [URN]");
    return 2;
  }
  const noted = journalFolders(env).flatMap((folder) => {
    const journal = new Journal(folder, print);
    const open = journal.entries().filter((entry) => !entry.answered);
    return open.map((entry) => ({ journal, entry }));
  });
  if (urn === undefined) {
    if (noted.length === 0) print("No create is left open.");
    for (const { entry } of noted) print(describe(entry));
    return 0;
  }
  const found = noted.filter(({ entry }) => entry.urn === urn);
  for (const { journal, entry } of found) {
    journal.clear(entry, urn);
    print(`Forgotten: the create of "${entry.name}" at ${entry.baseUrl} (${entry.at}).`);
  }
  if (found.length === 0) print(`No create is left open for ${urn}.`);
  return found.length > 0 ? 0 : 1;
}

function describe({ urn, name, baseUrl, tokenKind, at, id }: JournalEntry): string {
  return [
    urn,
    `  "${name}" at ${baseUrl} (${tokenKind} token), begun ${at}${id ? `, instance ${id}` : ""}`,
    `  take it over: ${importCommand(urn, id ?? "<id>")}`,
  ].join("\n");
}
