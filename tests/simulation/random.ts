/** Random numbers from a seed, for the simulation. */
import { seeded } from "../../emulator/random";

export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }
  oneIn(times: number): boolean {
    return this.next() * times < 1;
  }
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => Math.floor(this.next() * 256));
  }
}
