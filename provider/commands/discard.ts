/**
 * `pulumi-resource-compute discard [URN]`: forgets a create that an earlier run left open (G1), once a
 * person knows that nothing of it runs. Without a URN, lists them.
 */
import { importCommand } from "../advice";
import { Journal, journalFolder, type JournalEntry } from "../journal/journal";

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
  const journal = new Journal(journalFolder(env), print);
  const entries = journal.entries();
  if (urn === undefined) {
    if (entries.length === 0) print("No create is left open.");
    else print("Noted until a later run shows that the state holds the instance:");
    for (const entry of entries) print(describe(entry));
    return 0;
  }
  const found = entries.filter((entry) => entry.urn === urn);
  for (const entry of found) journal.clear(entry, urn);
  print(
    found.length > 0
      ? `Forgotten: ${found.map((entry) => `the create of "${entry.name}" at ${entry.baseUrl} (${entry.at})`).join(", ")}.`
      : `No create is left open for ${urn}.`,
  );
  return found.length > 0 ? 0 : 1;
}

function describe({ urn, name, baseUrl, tokenKind, at, id }: JournalEntry): string {
  return [
    urn,
    `  "${name}" at ${baseUrl} (${tokenKind} token), begun ${at}${id ? `, instance ${id}` : ""}`,
    `  take it over: ${importCommand(urn, id ?? "<id>")}`,
  ].join("\n");
}
