import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { errorOf } from "../testing/scene";
import { VirtualClock } from "../testing/virtualClock";
import { ListingSource, recentMs } from "./listing";

const never = new AbortController().signal;
type Findings = Awaited<ReturnType<ConstructorParameters<typeof ListingSource>[0]>>;

/** Listings that end when they are told to. */
function controlled() {
  const clock = new VirtualClock();
  const taken: PromiseWithResolvers<Findings>[] = [];
  const listings = new ListingSource(
    () => {
      const one = Promise.withResolvers<Findings>();
      taken.push(one);
      return one.promise;
    },
    clock,
    () => never,
  );
  const end = (n: number) =>
    taken[n]?.resolve({
      items: new Map(),
      complete: true,
      unreadable: 0,
      completeStatuses: new Set(),
    });
  return { clock, listings, taken, end };
}

test("Reads that arrive together share one listing (G7)", async () => {
  const { listings, taken, end } = controlled();
  const reads = Array.from({ length: 300 }, () => listings.get(listings.recent, never));
  end(0);
  const shared = new Set(await Promise.all(reads));
  expect(taken.length).toBe(1);
  expect(shared.size).toBe(1);
});

test("a listing is shared for two seconds, and no longer", async () => {
  const { clock, listings, taken, end } = controlled();
  const first = listings.get(listings.recent, never);
  end(0);
  await first;
  await clock.advance(recentMs);
  await listings.get(listings.recent, never);
  expect(taken.length).toBe(1);
  await clock.advance(1);
  void listings.get(listings.recent, never);
  expect(taken.length).toBe(2);
});

test("a Read never takes a listing begun before this process's last write (G3)", async () => {
  const { listings, taken, end } = controlled();
  const early = listings.get(listings.recent, never);
  const write = listings.markWrite();
  const late = listings.get(listings.recent, never);
  end(0);
  await early;
  await new Promise(setImmediate);
  expect(taken.length).toBe(2);
  end(1);
  expect((await late).begun).toBeGreaterThan(write);
});

test("those for whom the listing under way is too old share the one after it", async () => {
  const { listings, taken, end } = controlled();
  const early = listings.get(listings.recent, never);
  listings.markWrite();
  const late = Array.from({ length: 50 }, () => listings.get(listings.recent, never));
  end(0);
  await early;
  await new Promise(setImmediate);
  end(1);
  await Promise.all(late);
  expect(taken.length).toBe(2);
});

test("who wants a listing from later on gets one begun then", async () => {
  const { clock, listings, end } = controlled();
  const early = listings.get(listings.recent, never);
  end(0);
  await early;
  const later = listings.get({ notBefore: 3000 }, never);
  await clock.advance(3000);
  end(1);
  expect((await later).begunAt).toBe(3000);
});

test("a listing that fails does so for all who wait for it, and the next begins anew", async () => {
  const { listings, taken, end } = controlled();
  const both = [listings.get({}, never), listings.get({}, never)];
  const error = new Error("no");
  taken[0]?.reject(error);
  expect(await Promise.all(both.map(errorOf))).toEqual([error, error]);
  const next = listings.get({}, never);
  end(1);
  expect((await next).complete).toBe(true);
});

test("who gives up ends neither the listing nor the others' wait", async () => {
  const { listings, end } = controlled();
  const impatient = new AbortController();
  const one = listings.get({}, impatient.signal);
  const other = listings.get({}, never);
  impatient.abort(new Canceled());
  expect(await errorOf(one)).toBeInstanceOf(Canceled);
  end(0);
  expect((await other).complete).toBe(true);
});

test("who has been ended begins no listing", async () => {
  const { listings, taken } = controlled();
  const error = await errorOf(listings.get({}, AbortSignal.abort(new Canceled())));
  expect(error).toBeInstanceOf(Canceled);
  expect(taken.length).toBe(0);
});
