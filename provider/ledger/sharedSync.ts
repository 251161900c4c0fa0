/** One sync of a file for all who wait for one: much quicker than one each. */
export class SharedSync {
  #running: Promise<void> = Promise.resolve();
  /** Not begun yet, so that it covers all that was written by now. */
  #next: Promise<void> | undefined;

  constructor(private readonly sync: () => Promise<void>) {}

  /** Resolves once a sync has ended that was begun after this call; rejects as that does. */
  wait(): Promise<void> {
    return (this.#next ??= this.#idle().then(() => {
      this.#next = undefined;
      return (this.#running = this.sync());
    }));
  }

  /** Resolves once all who wait have been answered. */
  done(): Promise<void> {
    return this.#next?.catch(() => undefined) ?? this.#idle();
  }

  #idle(): Promise<void> {
    return this.#running.catch(() => undefined);
  }
}
