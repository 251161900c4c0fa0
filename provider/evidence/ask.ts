/** Asks a witness about an instance, with as many listings as it takes. */
import type { ListingSource } from "./listing";
import {
  mayStillTell,
  nextLookAt,
  seeAfter,
  witnessOf,
  type Known,
  type Question,
  type Verdict,
} from "./witness";

/** What `ask` tells its caller and gets from it. */
interface Asking {
  /** Returns what the session knows when a listing arrives. */
  readonly known?: () => Known;
  /** Called when a listing was not enough, and another one is awaited. */
  readonly onOpen?: () => void;
}

/**
 * Returns the verdict of listings that began after the session's last write: a listed instance takes one, and the proof that
 * an instance is absent takes two or more. Waits between two listings as `nextLookAt` says. An incomplete
 * listing ends the search.
 *
 * @throws the error of a failed listing, or the reason of `signal`
 */
export async function ask(
  listings: ListingSource,
  question: Question,
  signal: AbortSignal,
  { known = () => ({}), onOpen = () => undefined }: Asking = {},
): Promise<Verdict> {
  const required = listings.recent();
  let witness = witnessOf(question);
  for (;;) {
    const listing = await listings.get(required, signal);
    const { verdict, witness: next } = seeAfter(listings, witness, listing, known());
    if (!mayStillTell(verdict) || !listing.complete) return verdict;
    onOpen();
    witness = next;
    required.notBefore = nextLookAt(witness, listing.endedAt);
  }
}
