/**
 * The clocks of the emulator, which sets no timers: it computes at each read from stored timestamps whether an
 * instance's provisioning, lifetime or destroy has ended. So a clock can be virtual, and a restart loses nothing.
 */

/** The time as the emulator reads it. */
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

  /** Advances the clock. A negative number of seconds sets it back. */
  advance(seconds: number): void {
    this.#timeMs += seconds * 1000;
  }
}
