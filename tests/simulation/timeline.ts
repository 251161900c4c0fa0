/**
 * The virtual time of the simulation. Events happen one after another. Before each event, everything that is ready to
 * run has run. Nothing waits for real time, so the same seed produces the same history however busy the
 * machine is.
 */

interface Event {
  /** In milliseconds since the beginning. */
  at: number;
  run: () => void;
}

/** A queue of events. The time is that of the last event that has run. */
export class Timeline {
  readonly #maxEvents: number;
  /** The time in milliseconds since the beginning. */
  now = 0;
  /** The number of events so far. */
  #happened = 0;
  readonly #events: Event[] = [];

  /** A simulation with more than `maxEvents` events counts as endless. */
  constructor(maxEvents = 60_000) {
    this.#maxEvents = maxEvents;
  }

  /** Schedules `run` in `ms` milliseconds. */
  after(ms: number, run: () => void): void {
    this.#plan({ at: this.now + Math.max(0, ms), run });
  }

  /**
   * Runs one event after another until `done` returns true.
   * @throws if no event is left before that, or if the number of events exceeds the limit
   */
  async run(done: () => boolean): Promise<void> {
    await drained();
    while (!done()) {
      const next = this.#events.pop();
      if (!next) throw new Error("no event is left, and the simulation has not ended");
      if (++this.#happened > this.#maxEvents) throw new Error("the history never ends");
      this.now = next.at;
      next.run();
      await drained();
    }
  }

  /** Lets `ms` milliseconds pass. */
  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.after(ms, () => (isOver = true));
    await this.run(() => isOver);
  }

  /**
   * Inserts an event. The list is sorted with the latest event first. Of two events at one moment, the one planned
   * first runs first.
   */
  #plan(event: Event): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as Event).at > event.at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }
}

/** Resolves once all that is ready has run: every callback of a settled promise runs before that of `setImmediate`. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
