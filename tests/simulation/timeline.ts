/**
 * Virtual time. What happens in a history happens one event after another; between two events everything
 * that is ready to run has run. No real time passes, so the same seed gives the same history however busy
 * the machine is.
 */

interface Event {
  at: number;
  run: () => void;
}

export class Timeline {
  readonly #mostEvents: number;
  /** Milliseconds since the beginning of the history. */
  now = 0;
  /** How many events have happened. */
  #happened = 0;
  readonly #events: Event[] = [];

  /** No history takes more events; one that does never ends. */
  constructor(mostEvents = 60_000) {
    this.#mostEvents = mostEvents;
  }

  /** Plans `run` for in `ms` milliseconds. */
  at(ms: number, run: () => void): void {
    this.#plan({ at: this.now + Math.max(0, ms), run });
  }

  /** Goes from event to event until `done`. @throws if nothing is left to happen, or it never ends. */
  async run(done: () => boolean): Promise<void> {
    await drained();
    while (!done()) {
      const next = this.#events.pop();
      if (!next) throw new Error("nothing is left to happen, and not all is done");
      if (++this.#happened > this.#mostEvents) throw new Error("the history never ends");
      this.now = next.at;
      next.run();
      await drained();
    }
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.at(ms, () => (isOver = true));
    await this.run(() => isOver);
  }

  /** Events are kept latest first. Of two at the same moment, the one planned first happens first. */
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

/** Resolves once nothing is ready to run any more: promises settle before the next macrotask begins. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
