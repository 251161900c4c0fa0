/** The creates that earlier runs left open (G1), of every state backend of this machine. */
import type { JournalEntry } from "../journal/entry";
import { journalFolder, journalFolders } from "../journal/folder";
import { Journal } from "../journal/journal";

export interface OpenCreate {
  journal: Journal;
  entry: JournalEntry;
  /** Whether a run here has the state backend of the one that noted it, and so goes on with it. */
  isHere: boolean;
}

export function openCreates(env: NodeJS.ProcessEnv, warn: (text: string) => void): OpenCreate[] {
  const here = journalFolder(env);
  return journalFolders(env).flatMap((folder) => {
    const journal = new Journal(folder, warn);
    const open = journal.entries().filter(({ answered, refused }) => !answered && !refused);
    return open.map((entry) => ({ journal, entry, isHere: folder === here }));
  });
}
