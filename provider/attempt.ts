/** Returns the result of the action. Undefined if it fails: the caller then does without it. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
