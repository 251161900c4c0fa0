/**
 * Guesses which name a misspelled one was meant to be, for messages about settings, inputs, arguments and
 * commands.
 */
import { distance } from "fastest-levenshtein";

/**
 * Returns the candidate that `word` is probably a misspelling of, for "did you mean". Returns undefined if no
 * candidate is similar enough. Upper case and punctuation do not count as differences.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const normalize = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: distance(normalize(word), normalize(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(2, Math.floor(word.length / 4))
    ? best.candidate
    : undefined;
}
