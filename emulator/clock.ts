/**
 * The emulator's time. Nothing in it runs on timers: what time does to an instance (done
 * provisioning, sandbox lifetime over, gone after destroy) is computed from stored timestamps when
 * it is read, so a virtual clock drives it and a restart loses nothing.
 */
export interface EmulatorClock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const wallClock: EmulatorClock = { now: () => Date.now() };

/** A clock that stands still until it is told to go on. */
export class VirtualClock implements EmulatorClock {
  constructor(private time = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.time;
  }

  /** May be negative: clocks jump. */
  advance(seconds: number): void {
    this.time += seconds * 1000;
  }
}
