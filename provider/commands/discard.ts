/**
 * `pulumi-resource-compute discard [URN]`: forgets a create that an earlier run left open (G1), once a
 * person knows that nothing of it runs. Without a URN, lists them.
 */
import { importCommand } from "../advice";
import { shownNote } from "../journal/notedName";
import type { Command } from "./command";
import { openCreates, type OpenCreate } from "./openCreates";

export const discard: Command = {
  positionals: "[URN]",
  mostPositionals: 1,
  async run({ positionals: [urn] }, { env, print, warn }) {
    const noted = openCreates(env, warn);
    if (urn === undefined) {
      if (noted.length === 0) print("No create is left open.");
      for (const it of noted) describe(it).forEach((line) => print(line));
      return 0;
    }
    const found = noted.filter(({ entry }) => entry.urn === urn);
    if (found.length === 0) {
      print(`No create is left open for ${urn}.`);
      return 1;
    }
    const meant = meantBy(found);
    if (!meant) {
      warn(
        `Several state backends have an open create for ${urn}, and none of them is the one that is used here. Set PULUMI_BACKEND_URL, or log in with \`pulumi login\`, and run it again.`,
      );
      return 1;
    }
    return forget(meant, print) ? 0 : 1;
  },
};

/** Stacks of two backends may have the same URN: those of the one used here, or of the only other one. */
function meantBy(found: readonly OpenCreate[]): readonly OpenCreate[] | undefined {
  const here = found.filter(({ isHere }) => isHere);
  if (here.length > 0) return here;
  return new Set(found.map(({ journal }) => journal)).size === 1 ? found : undefined;
}

function forget(noted: readonly OpenCreate[], print: (line: string) => void): boolean {
  const gone = noted.filter(({ journal, entry }) => journal.clear(entry, entry.urn));
  for (const { entry } of gone) {
    const { name, baseUrl, at } = entry;
    print(`Forgotten: the create of "${shownNote(name)}" at ${baseUrl} (${at}).`);
  }
  return gone.length === noted.length;
}

function describe({ entry, isHere }: OpenCreate): string[] {
  const { urn, name, baseUrl, tokenKind, at, id } = entry;
  return [
    urn,
    `  "${shownNote(name)}" at ${baseUrl} (${tokenKind} token), begun ${at}${id ? `, instance ${id}` : ""}`,
    ...(isHere ? [] : ["  by a run with another state backend than the one that is used here"]),
    `  take it over: ${importCommand(entry, id ?? "<id>")}`,
  ];
}
