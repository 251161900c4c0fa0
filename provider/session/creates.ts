/**
 * The creates of this process: one of a name at a time (G2), and the instances that came of them. What
 * was made here is no candidate for another create, and what was taken over is not destroyed.
 */
import type { Settings } from "../config/settings";
import type { Journal } from "../journal/journal";
import type { Listings } from "../listing/listings";
import { KeyedLocks } from "../locks";

export class Creates {
  readonly #names = new KeyedLocks();
  /** Where in the order of listings the last POST of a name was settled. */
  readonly #settled = new Map<string, number>();
  readonly #made = new Set<string>();
  readonly #takenOver = new Set<string>();

  constructor(
    private readonly listings: Listings,
    private readonly journal: Journal,
    private readonly settings: Settings,
  ) {}

  /** Runs `create` once no other create of this name is under way. */
  inTurn<T>(name: string, signal: AbortSignal, create: () => Promise<T>): Promise<T> {
    return this.#names.run(name, signal, create);
  }

  /** The POST of this name is settled: the next takes a baseline begun after that. */
  noteSettled(name: string): void {
    const newest = this.listings.latest?.begun ?? 0;
    // What the newest listing was begun after holds for each to come.
    for (const [other, mark] of this.#settled) if (mark < newest) this.#settled.delete(other);
    this.#settled.set(name, this.listings.markWrite());
  }

  settledAt(name: string): number {
    return this.#settled.get(name) ?? 0;
  }

  noteMade(id: string): void {
    this.#made.add(id);
  }

  noteTakenOver(id: string): void {
    this.#made.add(id);
    this.#takenOver.add(id);
  }

  /** Whether it was made or taken over here. */
  has(id: string): boolean {
    return this.#made.has(id);
  }

  hasTakenOver(id: string): boolean {
    return this.#takenOver.has(id);
  }

  /** The engine goes, and every call was answered: it has the ids of all that was made (G1). */
  noteAnswered(): void {
    for (const id of this.#made) this.journal.answered(this.settings, id);
  }
}
