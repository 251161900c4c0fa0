/**
 * Where an instance comes from, as the state keeps it: `__origin` is the service and the token, `__run` the
 * session. A state is never judged by the listing of another service, tenant or token kind (G3).
 */
import * as z from "zod";
import type { Settings } from "./config/settings";
import { keyedFingerprint } from "./fingerprint";
import { propertyMap, reveal, type PropertyMap } from "./propertyValue";

/** Reads an `Origin`. */
export const originSchema = z.object({
  baseUrl: z.string(),
  tokenKind: z.string(),
  tokenHash: z.string(),
  account: z.string().optional(),
});
/** The service, the token and, where the service tells it, the account of an instance. */
export type Origin = z.infer<typeof originSchema>;

/** A service, and which of its two kinds of token. */
export type Place = Pick<Origin, "baseUrl" | "tokenKind">;

/** Whether both are of the same service and token kind. */
export function isSamePlace(one: Place, other: Place): boolean {
  return one.baseUrl === other.baseUrl && one.tokenKind === other.tokenKind;
}

/** A hash that tells two tokens apart, and does not give the token away. */
export function tokenHash({ apiToken, baseUrl }: Pick<Settings, "apiToken" | "baseUrl">): string {
  return keyedFingerprint(apiToken, baseUrl, 12);
}

/** The key of the origin in the outputs. */
export const originKey = "__origin";

/** The origin as the outputs keep it, under `originKey`. */
export function originToState(origin: Origin): PropertyMap {
  return propertyMap(origin);
}

/** The origin in these outputs; undefined where this provider did not write them, as in an import. */
export function originFromState(outputs: PropertyMap | undefined): Origin | undefined {
  const parsed = originSchema.safeParse(outputs && reveal(outputs[originKey] ?? null));
  return parsed.success ? parsed.data : undefined;
}

/** How the origin in the state differs from the one configured now; undefined where it does not. */
export function originDifference(state: Origin, now: Origin): string | undefined {
  if (state.baseUrl !== now.baseUrl) {
    return `it lives at ${state.baseUrl}, but compute:baseUrl is ${now.baseUrl}`;
  }
  if (state.tokenKind !== now.tokenKind) {
    return `it was made with a ${state.tokenKind} token, but the token given now is a ${now.tokenKind} one`;
  }
  if (state.account !== undefined && now.account !== undefined && state.account !== now.account) {
    return `it belongs to account ${state.account}, but the token given now is of account ${now.account} (where these are users of one tenant, set compute:validateCredentials to false: accounts are then not compared)`;
  }
  return undefined;
}

const stampKey = "__run";

/** Outputs of a Create, or of a Read without inputs, with the stamp of the session. */
export function stamped(outputs: PropertyMap, sessionId: string): PropertyMap {
  return propertyMap({ ...outputs, [stampKey]: sessionId });
}

/** The id of the session that stamped these outputs; undefined where none did, as in a `.get()`. */
export function stampOf(outputs: PropertyMap | undefined): string | undefined {
  const stamp = reveal(outputs?.[stampKey] ?? null);
  return typeof stamp === "string" && stamp !== "" ? stamp : undefined;
}

/**
 * Whether it is proven that a state held these outputs. Only the stamp of another session proves that: the
 * engine also sends ids that no state holds (a previewed import, a `.get()`), and outputs with this
 * session's own stamp may not have been saved yet.
 */
export function wasInState(outputs: PropertyMap, sessionId: string): boolean {
  const stamp = stampOf(outputs);
  return stamp !== undefined && stamp !== sessionId;
}
