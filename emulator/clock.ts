/**
 * The clock of the emulator, which sets no timers: it computes at each read from stored timestamps whether an
 * instance's provisioning, lifetime or destroy has ended. So a clock can be virtual, and a restart loses nothing.
 */

/** The time as the emulator reads it. */
export interface EmulatorClock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

/** The clock of this machine. */
export const wallClock: EmulatorClock = { now: () => Date.now() };
