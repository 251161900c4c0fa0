/**
 * The emulator's time. The emulator sets no timers: what time does to an instance (end of provisioning, of a
 * sandbox lifetime, of a destroy) is computed from stored timestamps at each read. So a virtual clock can drive it,
 * and a restart loses nothing.
 */

/** Tells the emulator the time. */
export interface EmulatorClock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

/** The clock of this machine. */
export const wallClock: EmulatorClock = { now: () => Date.now() };

/** A clock that stands still until a test advances it. */
export class VirtualClock implements EmulatorClock {
  #timeMs = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#timeMs;
  }

  /** A negative number of seconds sets the clock back. */
  advance(seconds: number): void {
    this.#timeMs += seconds * 1000;
  }
}
