/** Tests how callers share listings, and how new a listing has to be for them. */
import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { errorOf } from "../testing/scene";
import { VirtualClock } from "../testing/virtualClock";
import { ListingSource, recentMs, type FetchedListing } from "./listing";

const never = new AbortController().signal;

/** A listing source whose listings end only when the test calls `end` with their number. */
function controlledListings() {
  const clock = new VirtualClock();
  const requested: PromiseWithResolvers<FetchedListing>[] = [];
  const listings = new ListingSource(
    () => {
      const pending = Promise.withResolvers<FetchedListing>();
      requested.push(pending);
      return pending.promise;
    },
    clock,
    () => never,
    new Set(),
  );
  const end = (n: number) =>
    requested[n]?.resolve({
      items: new Map(),
      complete: true,
      unreadable: 0,
      completeStatuses: new Set(),
    });
  return { clock, listings, requested, end };
}

test("a listing is shared for two seconds, and no longer", async () => {
  const { clock, listings, requested, end } = controlledListings();
  const first = listings.get(listings.recent(), never);
  end(0);
  await first;
  await clock.advance(recentMs);
  await listings.get(listings.recent(), never);
  expect(requested.length).toBe(1);
  await clock.advance(1);
  void listings.get(listings.recent(), never);
  expect(requested.length).toBe(2);
});

test("300 Reads that come together share one listing, which is not from before the session's last write (G3, G7)", async () => {
  const { listings, requested, end } = controlledListings();
  const early = listings.get(listings.recent(), never);
  const write = listings.markWrite();
  const reads = Array.from({ length: 300 }, () => listings.get(listings.recent(), never));
  // The next listing begins when the one under way has ended.
  expect(requested.length).toBe(1);
  end(0);
  await early;
  await new Promise(setImmediate);
  end(1);
  const [shared, ...others] = new Set(await Promise.all(reads));
  expect(others).toEqual([]);
  expect(shared?.beginMark).toBeGreaterThan(write);
  expect(requested.length).toBe(2);
});

test("a listing with a later `notBefore` begins at that time", async () => {
  const { clock, listings, end } = controlledListings();
  const early = listings.get(listings.recent(), never);
  end(0);
  await early;
  const later = listings.get({ notBefore: 3000 }, never);
  await clock.advance(3000);
  end(1);
  expect((await later).begunAt).toBe(3000);
});

test("a listing that fails rejects for all callers, and the next call begins a new listing", async () => {
  const { listings, requested, end } = controlledListings();
  const both = [listings.get({}, never), listings.get({}, never)];
  const error = new Error("no");
  requested[0]?.reject(error);
  expect(await Promise.all(both.map(errorOf))).toEqual([error, error]);
  const next = listings.get({}, never);
  end(1);
  expect((await next).complete).toBe(true);
});

test("if the signal of one caller is aborted, neither the listing nor the wait of other callers ends", async () => {
  const { listings, end } = controlledListings();
  const impatient = new AbortController();
  const one = listings.get({}, impatient.signal);
  const other = listings.get({}, never);
  impatient.abort(new Canceled());
  expect(await errorOf(one)).toBeInstanceOf(Canceled);
  end(0);
  expect((await other).complete).toBe(true);
});

test("a caller whose signal is aborted already begins no listing", async () => {
  const { listings, requested } = controlledListings();
  const error = await errorOf(listings.get({}, AbortSignal.abort(new Canceled())));
  expect(error).toBeInstanceOf(Canceled);
  expect(requested.length).toBe(0);
});
