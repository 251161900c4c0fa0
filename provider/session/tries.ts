/** The calls that an error hook of the program makes the engine repeat. */

/**
 * After so many failures of one call, the engine asks no hook any more (`maxErrorHookRetries` in Pulumi's `deploy/retries.go`). If
 * one of the failures had an id, it then saves the resource, but without the id (Create) or without the outputs (Update).
 */
const maxFailures = 100;

/** Counts the Create and Update calls of each resource. The engine makes calls of one kind only for a URN in one run. */
export class Tries {
  readonly #calls = new Map<string, number>();
  readonly #unfinished = new Set<string>();

  /** Counts a call, at its beginning. */
  count(urn: string): void {
    this.#calls.set(urn, (this.#calls.get(urn) ?? 0) + 1);
  }

  /** Notes that a call is answered with the error of an instance that is not ready. */
  noteUnfinished(urn: string): void {
    this.#unfinished.add(urn);
  }

  wasUnfinished(urn: string): boolean {
    return this.#unfinished.has(urn);
  }

  /**
   * Whether the engine has to be told that the call under way succeeded, although its instance is not ready. The hook may ask
   * again for ever, and after Ctrl-C each further call ends at once. The last call but one is soon enough to count: the provider
   * may have missed one that it could not read.
   */
  isOver(urn: string, isCanceled: boolean): boolean {
    if (isCanceled && this.wasUnfinished(urn)) return true;
    return (this.#calls.get(urn) ?? 0) >= maxFailures - 1;
  }
}
