/**
 * Defines the error class that swc's code for `await using` refers to but does not define. Without it, if both the body
 * and the disposal of a test fail, the remaining resources are not disposed of, and Jest never ends.
 */
Object.assign(globalThis, { _SuppressedError: SuppressedError });
