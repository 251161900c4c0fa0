/**
 * Defines the error class that swc's code for `await using` refers to but does not define. Without it, if both the body
 * and the disposal of a test fail, the remaining resources are not disposed of, and Jest never ends. Jest prints the
 * errors of an AggregateError, but of a SuppressedError neither.
 */
class TestAndCleanupFailed extends AggregateError {
  override readonly name = "TestAndCleanupFailed";

  /** The parameters are those of a SuppressedError: the later error comes first. */
  constructor(error: unknown, suppressed: unknown) {
    super([...errorsIn(suppressed), ...errorsIn(error)], "several errors, the first one first");
  }
}

function errorsIn(error: unknown): unknown[] {
  if (error instanceof TestAndCleanupFailed) return error.errors as unknown[];
  if (!(error instanceof SuppressedError)) return [error];
  return [...errorsIn(error.suppressed), ...errorsIn(error.error)];
}

Object.assign(globalThis, { _SuppressedError: TestAndCleanupFailed });
