/**
 * Guesses which of several names was misspelled, for messages about settings, inputs, arguments and commands.
 */
import { distance } from "fastest-levenshtein";

/**
 * Returns the candidate that `word` is probably a misspelling of, for "did you mean". Returns undefined if no
 * candidate is similar enough. Upper case and punctuation do not count as differences.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const normalize = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const [mostSimilar] = candidates
    .map((candidate) => ({ candidate, editCount: distance(normalize(word), normalize(candidate)) }))
    .sort((a, b) => a.editCount - b.editCount);
  return mostSimilar && mostSimilar.editCount <= Math.max(2, Math.floor(word.length / 4))
    ? mostSimilar.candidate
    : undefined;
}
