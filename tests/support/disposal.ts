/**
 * What swc makes of `await using` names an error that it does not define. Without it, a test whose
 * disposal fails as well as its body leaves the rest undisposed, and Jest never ends.
 */
Object.assign(globalThis, { _SuppressedError: SuppressedError });
