/**
 * The stamp `__run` in an instance's outputs: the session that created or imported it. The engine also
 * carries ids that no state holds (a previewed import, a `.get()`); only outputs with the stamp of
 * another session prove that a state held them.
 */
import { propertyMap, reveal, type PropertyMap } from "./propertyValue";

const stampKey = "__run";

/** For the outputs of Create, and of Read without inputs. `session` is `Session.id`. */
export function stamped(outputs: PropertyMap, session: string): PropertyMap {
  return propertyMap({ ...outputs, [stampKey]: session });
}

/** The session that stamped these outputs; undefined: none did, as with a `.get()`. */
export function stampOf(outputs: PropertyMap | undefined): string | undefined {
  const stamp = reveal(outputs?.[stampKey] ?? null);
  return typeof stamp === "string" && stamp !== "" ? stamp : undefined;
}

/** Whether a state held these outputs: the stamp of `session` itself may not have been saved yet. */
export function wasInState(outputs: PropertyMap, session: string): boolean {
  const stamp = stampOf(outputs);
  return stamp !== undefined && stamp !== session;
}
