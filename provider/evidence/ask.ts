/** Asks a witness about an instance, with as many listings as it takes. */
import type { ListingSource } from "./listing";
import {
  mayStillTell,
  nextLookAt,
  see,
  witnessOf,
  type Known,
  type Question,
  type Verdict,
} from "./witness";

/**
 * Returns the verdict of listings that began after the session's last write: a listed instance takes one, and the proof that
 * an instance is absent takes two or more. Waits only until the next listing may prove something (`nextLookAt`). An
 * incomplete listing ends the search.
 *
 * @param known returns what the session knows when a listing arrives
 * @throws the error of a failed listing, or the reason of `signal`
 */
export async function ask(
  listings: ListingSource,
  question: Question,
  signal: AbortSignal,
  known: () => Known = () => ({}),
): Promise<Verdict> {
  const required = listings.recent();
  for (let witness = witnessOf(question); ;) {
    const listing = await listings.get(required, signal);
    const { verdict, witness: next } = see(witness, listing, known());
    if (!mayStillTell(verdict) || !listing.complete) return verdict;
    witness = next;
    required.notBefore = nextLookAt(witness, listing.endedAt);
  }
}
