/**
 * Virtual time. Before each event, everything that is ready to run has run. Nothing waits for real time, so one seed
 * makes one history, however busy the machine is.
 */
import type { Clock } from "../../provider/clock";

interface Event {
  /** Milliseconds since the beginning. */
  at: number;
  run: () => void;
}

/** The time is that of the last event that has run. */
export class Timeline {
  readonly #maxEvents: number;
  /** Milliseconds since the beginning. */
  now = 0;
  /** How many sleeps of the clocks (`clockOf`) have neither ended nor been aborted. */
  sleeping = 0;
  #happened = 0;
  readonly #events: Event[] = [];

  constructor(maxEvents = 60_000) {
    this.#maxEvents = maxEvents;
  }

  after(ms: number, run: () => void): void {
    this.#plan({ at: this.now + Math.max(0, ms), run });
  }

  /** Runs events until `done` returns true. @throws if none is left, or after more than `maxEvents` */
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

  pass(ms: number): Promise<void> {
    return this.untilEnd(new Promise((resolve) => this.after(ms, resolve)));
  }

  /** Lets time pass until the operation has ended, and returns its result. */
  async untilEnd<T>(operation: Promise<T>): Promise<T> {
    let isOver = false;
    const onEnd = () => void (isOver = true);
    operation.then(onEnd, onEnd);
    await this.run(() => isOver);
    return operation;
  }

  /** The latest event is first in the list. Of two at one moment, the one planned first runs first. */
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

/** A clock that shows this time. `runIfAlive` ends a sleep, unless the sleeper is dead by then. */
export function clockOf(
  timeline: Timeline,
  date: () => Date,
  runIfAlive = (run: () => void) => run(),
): Clock {
  return {
    now: () => timeline.now,
    date,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = () => {
          timeline.sleeping--;
          reject(signal?.reason as Error);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        timeline.sleeping++;
        timeline.after(ms, () => {
          if (signal?.aborted) return;
          timeline.sleeping--;
          runIfAlive(() => {
            signal?.removeEventListener("abort", onAbort);
            resolve();
          });
        });
      }),
  };
}

let drains = 0;

/**
 * Every callback of a settled promise runs before that of `process.nextTick`, which takes less time than `setImmediate`. But
 * Node sees a rejection that nobody handles, and messages to the process, only before the callback of `setImmediate`.
 */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    if (++drains % 100 === 0) setImmediate(resolve);
    else process.nextTick(resolve);
  });
}
