/**
 * The creates of this session: one of a name at a time, and the instances that came of them. An instance
 * that was made or taken over here is adopted by no other create; one that was taken over is not destroyed.
 */
import type { ListingSource } from "../listing/listing";
import { KeyedLocks } from "../locks";
import type { PropertyMap } from "../propertyValue";

/** An instance whose create was answered with `InstanceUnfinished`. */
export interface Unfinished {
  key: string;
  id: string;
  outputs: PropertyMap;
  after: number;
}

export class Creates {
  readonly #names = new KeyedLocks();
  /** By name: the mark in the order of listings at which the outcome of its last POST was decided. */
  readonly #settled = new Map<string, number>();
  readonly #made = new Set<string>();
  readonly #takenOver = new Set<string>();
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(private readonly listings: ListingSource) {}

  /** Runs `create` once no other create of this name is under way. */
  inTurn<T>(name: string, signal: AbortSignal, create: () => Promise<T>): Promise<T> {
    return this.#names.run(name, signal, create);
  }

  /** The outcome of this name's POST is decided: the next create of it takes a baseline begun after that. */
  noteSettled(name: string): void {
    const newest = this.listings.latest?.begun ?? 0;
    // Marks before the newest listing's ask nothing of any listing to come.
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

  /** An error hook may have the engine ask again: then this instance is waited for, whatever else happens. */
  noteUnfinished(urn: string, unfinished: Unfinished): void {
    this.#unfinished.set(urn, unfinished);
  }

  unfinished(urn: string): Unfinished | undefined {
    return this.#unfinished.get(urn);
  }
}
