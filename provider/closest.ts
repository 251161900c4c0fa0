import { distance } from "fastest-levenshtein";

/** The candidate that `word` was probably meant to be, for "did you mean". */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const fold = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(fold(word), fold(candidate)) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(2, Math.floor(word.length / 4)) ? best.candidate : undefined;
}
