/**
 * Virtual time. What happens in a history happens one event after another; between two events everything
 * that is ready to run has run. No real time passes, so the same seed gives the same history however busy
 * the machine is.
 */

interface Event {
  at: number;
  /** Of two events at the same moment, the one that was planned first comes first. */
  order: number;
  run: () => void;
}

export class Timeline {
  /** Milliseconds since the beginning of the history. */
  now = 0;
  events = 0;
  #planned = 0;
  readonly #heap: Event[] = [];

  /** No history takes more events; one that does never ends. */
  constructor(private readonly mostEvents = 60_000) {}

  /** Runs `run` in so many milliseconds. */
  at(ms: number, run: () => void): void {
    this.#push({ at: this.now + Math.max(0, ms), order: this.#planned++, run });
  }

  /** Goes from event to event until `done`. @throws if nothing is left to happen, or it never ends. */
  async run(done: () => boolean): Promise<void> {
    await drained();
    while (!done()) {
      const next = this.#pop();
      if (!next) throw new Error("nothing is left to happen, and not all is done");
      if (++this.events > this.mostEvents) throw new Error("the history never ends");
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

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (!isBefore(event, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as Event)) child++;
      const below = heap[child] as Event;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Resolves once nothing is ready to run any more: promises settle before the next macrotask begins. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
