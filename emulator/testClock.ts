/** The clock of the emulator in tests. */
import type { EmulatorClock } from "./clock";

/** A clock that stands still until a test advances it. */
export class TestClock implements EmulatorClock {
  #timeMs = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#timeMs;
  }

  /** Advances the clock. A negative number of seconds sets it back. */
  advance(seconds: number): void {
    this.#timeMs += seconds * 1000;
  }
}
