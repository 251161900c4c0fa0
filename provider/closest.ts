/** Guesses which name was misspelled. */
import { distance } from "fastest-levenshtein";

/**
 * Returns the candidate that `word` probably misspells, for "did you mean", or undefined if none is similar enough.
 * Case and punctuation do not count.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const normalize = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const [mostSimilar] = candidates
    .map((candidate) => ({ candidate, editCount: distance(normalize(word), normalize(candidate)) }))
    .sort((a, b) => a.editCount - b.editCount);
  const { length } = word;
  const mostEdits = Math.max(Math.min(2, Math.floor(length / 2)), Math.floor(length / 4));
  return mostSimilar && mostSimilar.editCount <= mostEdits ? mostSimilar.candidate : undefined;
}
